import { HI, LO, MAX_DECIMAL, writeDecimal, writeDecimal32, writeHex } from '../../bytes/u64.js'
import { Sink } from '../../bytes/sink.js'
import { U64Column } from '../../event/batch.js'
import { encodeText, type StringTable } from '../../event/strings.js'
import type { TableColumn, TableRows, TableWriter } from '../../event/table.js'

const LINE_FEED = 10
const COMMA = 44

/** The form of a row as a line. */
interface Dialect {
  /** The text before all rows. */
  readonly head: Uint8Array
  readonly begin: Uint8Array
  readonly end: Uint8Array
  /** The text before the value of each column. */
  readonly keys: readonly Uint8Array[]
  /** Columns without a value are left out. */
  readonly skips: boolean
  /** The text around an address. */
  readonly quote: Uint8Array
  string(bytes: Uint8Array, text: () => string): Uint8Array
  list(items: readonly Uint8Array[], texts: () => string[]): Uint8Array
}

/** Writes a table as lines of text. */
class TextTableWriter implements TableWriter {
  private readonly sink = new Sink()
  /** The strings of codes, by column. */
  private readonly codes: readonly (readonly Uint8Array[])[]
  /** The written form of the strings of the current rows, by their ids; and the lists. */
  private table: StringTable | undefined
  private strings: Uint8Array[] = []
  private lists: Uint8Array[] = []

  constructor(
    private readonly columns: readonly TableColumn[],
    private readonly dialect: Dialect,
  ) {
    this.codes = columns.map(({ names = [] }) => names.map((name) => dialect.string(encodeText(name), () => name)))
    this.sink.append(dialect.head)
  }

  add(rows: TableRows): void {
    if (rows.strings !== this.table) {
      this.table = rows.strings
      this.strings = []
      this.lists = []
    }
    const { columns, dialect, sink } = this
    const { count, mask } = rows
    const values = columns.map((column) => rows.values(column))
    for (let i = 0; i < count; i++) {
      sink.append(dialect.begin)
      const fields = mask[i]
      let isFirst = true
      for (let c = 0; c < columns.length; c++) {
        const column = columns[c]
        const has = column.f < 0 || ((fields >>> column.f) & 1) !== 0
        if (!has && dialect.skips) continue
        const key = dialect.keys[c]
        sink.reserve(MAX_DECIMAL + 8)
        if (!isFirst) sink.bytes[sink.pos++] = COMMA
        isFirst = false
        sink.append(key)
        if (has) this.write(column, c, values[c], i)
      }
      sink.append(dialect.end)
      sink.reserve(1)
      sink.bytes[sink.pos++] = LINE_FEED
    }
  }

  next(): Uint8Array | null {
    return this.sink.pos > 0 ? this.sink.handOver() : null
  }

  end(): void {
    // Every line is complete.
  }

  private write(column: TableColumn, c: number, values: ReturnType<TableRows['values']>, i: number): void {
    const { sink, dialect } = this
    if (values instanceof U64Column) {
      const { words } = values
      const lo = words[2 * i + LO]
      const hi = words[2 * i + HI]
      if (column.isAddress !== true) {
        sink.reserve(MAX_DECIMAL)
        sink.pos = writeDecimal(sink.bytes, sink.pos, lo, hi)
        return
      }
      sink.append(dialect.quote)
      sink.append(HEX)
      sink.reserve(16)
      sink.pos = writeHex(sink.bytes, sink.pos, lo, hi)
      return sink.append(dialect.quote)
    }
    const value = values[i]
    switch (column.type) {
      case 'code':
        return sink.append(this.codes[c][value])
      case 'name':
        return sink.append(this.string(value))
      case 'names':
        return sink.append(this.list(value))
      default:
        sink.reserve(MAX_DECIMAL)
        sink.pos = writeDecimal32(sink.bytes, sink.pos, value)
    }
  }

  private string(id: number): Uint8Array {
    const table = this.table as StringTable
    return (this.strings[id] ??= this.dialect.string(table.view(id), () => table.text(id)))
  }

  private list(id: number): Uint8Array {
    const table = this.table as StringTable
    return (this.lists[id] ??= this.dialect.list(
      table.list(id).map((name) => table.view(name)),
      () => table.list(id).map((name) => table.text(name)),
    ))
  }
}

const HEX = encodeText('0x')
const NOTHING = new Uint8Array(0)

/** A table as lines of JSON: an object for each row, without the columns that have no value. */
export function ndjsonTable(columns: readonly TableColumn[]): TableWriter {
  return new TextTableWriter(columns, {
    head: NOTHING,
    begin: encodeText('{'),
    end: encodeText('}'),
    keys: columns.map(({ name }) => encodeText(`${JSON.stringify(name)}:`)),
    skips: true,
    quote: encodeText('"'),
    string: (_, text) => encodeText(JSON.stringify(text())),
    list: (_, texts) => encodeText(JSON.stringify(texts())),
  })
}

/** A table as CSV (RFC 4180, with line feeds), after a header row. Frames of a stack are joined by ` < `. */
export function csvTable(columns: readonly TableColumn[]): TableWriter {
  return new TextTableWriter(columns, {
    head: encodeText(`${columns.map(({ name }) => name).join(',')}\n`),
    begin: NOTHING,
    end: NOTHING,
    keys: columns.map(() => NOTHING),
    skips: false,
    quote: NOTHING,
    string: csvField,
    list: (items) =>
      csvField(new Uint8Array(Buffer.concat(items.flatMap((item, i) => (i > 0 ? [CALLED_BY, item] : [item]))))),
  })
}

const CALLED_BY = encodeText(' < ')
const QUOTE = 34
const SPECIAL = [QUOTE, COMMA, LINE_FEED, 13]

/** A field of CSV, in quotes if it needs them. */
function csvField(bytes: Uint8Array): Uint8Array {
  if (bytes.length > 0 && !SPECIAL.some((char) => bytes.includes(char))) return bytes.slice()
  const out: number[] = [QUOTE]
  for (const byte of bytes) out.push(...(byte === QUOTE ? [QUOTE, QUOTE] : [byte]))
  return Uint8Array.from([...out, QUOTE])
}
