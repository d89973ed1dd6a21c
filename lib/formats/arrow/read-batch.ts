import type { U64Column } from '../../event/batch.js'
import { showValue } from '../../event/message-text.js'
import { StringTable, type FlatStrings } from '../../event/strings.js'
import { eventColumn, noEvents } from '../../codec/event-rows.js'
import { GROUPED, type TableColumn } from '../../event/table.js'
import type { Dictionaries } from './dictionaries.js'
import type { Strings } from './escape.js'
import { ArrowFault, ArrowLimit } from './fault.js'
import { checkJson } from './json-column.js'
import { KIND, MAX_BODY, Type } from './layout.js'
import { masksOf, type Presence } from './masks.js'
import { NameTable } from './name-table.js'
import { extentOf, type Extent, type Parts } from './parts.js'
import type { Column } from './schema.js'
import { hasTexts, readBytes, readNames } from './texts.js'
import { typeName } from './type-names.js'
import { codes, indices, narrowed, offsets, wideColumn } from './values.js'

/** The columns of all events of a record batch. */
export interface Rows {
  readonly count: number
  readonly mask: Uint32Array<ArrayBuffer>
  /** Empty if no event has fields of groups. */
  readonly groupMask: Uint32Array<ArrayBuffer>
  readonly kind: Uint8Array
  /** The columns that some event has, by the positions of their fields; from `GROUPED` on, the columns of groups. */
  readonly columns: ReadonlyMap<number, U64Column | Uint32Array | Int32Array | Uint8Array>
  readonly strings: StringTable
  /** Whether the body also contains the string table, so that it must not be recycled. */
  readonly sharesBody: boolean
  /** The fault of the next row. */
  readonly fault?: ArrowFault | undefined
}

/** A column that was read: which rows have a value, and the number of rows. */
interface Reading {
  readonly parts: Parts
  readonly column: Column
  readonly rows: number
  has(row: number): boolean
}

/** The code for an unknown name. */
const UNKNOWN = 0xff

/** A column of the stream, and of events if it is one. */
interface PlannedColumn {
  readonly column: Column
  readonly target: TableColumn | undefined
  readonly extent: Extent | undefined
}

/** Reads the record batches of a stream. */
export class BatchReader {
  private readonly names = new NameTable()
  /** The codes of the names in dictionaries of kinds and other enumerations. */
  private readonly codesOf = new WeakMap<Strings, Uint8Array>()
  private readonly plan: readonly PlannedColumn[]
  /** The stacks of the record batch that is read. */
  private lists: Pick<FlatStrings, 'lists' | 'listed'> | undefined

  /** @throws ArrowFault when these are not columns of events */
  constructor(
    columns: readonly Column[],
    private readonly dictionaries: Dictionaries,
  ) {
    this.plan = columns.map((column) => ({ column, target: eventColumn(column.name), extent: extentOf(column) }))
    const known = this.plan.flatMap(({ target }) => (target === undefined ? [] : [target.name]))
    if (!known.includes(KIND)) throw new ArrowFault(noEvents(columns.map(({ name }) => name)))
    const twice = known.find((name, i) => known.indexOf(name) < i)
    if (twice !== undefined) throw new ArrowFault(`there are two columns "${twice}"`)
  }

  /** The names of columns that are not fields of events. */
  get unknown(): readonly string[] {
    return this.plan.flatMap(({ column, target }) => (target === undefined ? [column.name] : []))
  }

  /**
   * Reads a record batch, up to the first row with a fault.
   * @param parts gives the parts of the batch, from the first on
   * @throws ArrowFault, ArrowLimit if there is no row before it
   */
  read(parts: () => Parts): Rows {
    const all = parts()
    let count = all.rows
    let fault: ArrowFault | undefined
    for (let given = all; ; given = parts()) {
      try {
        return { ...this.readRows(given, count), fault }
      } catch (error) {
        // Another column may have a fault in an earlier row.
        if (!(error instanceof ArrowFault) || error.row === 0 || error.row >= count) throw error
        fault = error
        count = error.row
      }
    }
  }

  /** Reads the first rows of a record batch. */
  private readRows(parts: Parts, rows: number): Rows {
    this.names.begin()
    this.lists = undefined
    const present: Presence[] = []
    const grouped: Presence[] = []
    let sharesBody = false
    const columns = new Map<number, U64Column | Uint32Array | Int32Array | Uint8Array>()
    let kind: Uint8Array | undefined
    let held = 0
    for (const { column, target, extent } of this.plan) {
      if (extent !== undefined && parts.passEmpty(extent)) continue
      if (target === undefined) {
        parts.skip(column)
        continue
      }
      try {
        const node = parts.nextNode()
        if (node.rows !== parts.rows) throw new ArrowFault('it has another number of rows than its batch')
        if (node.nulls === parts.rows || column.type === Type.null) {
          parts.skipBuffers(column)
          continue
        }
        const validity = parts.nextBuffer()
        const bitmap = node.nulls === 0 ? undefined : validity
        if (bitmap !== undefined && bitmap.length < rows / 8) throw new ArrowFault('its bitmap is too short')
        // Few bytes of a column of narrow integers, or of a dictionary, may become very many.
        held += rows * (target.type === 'u64' ? 8 : target.type === 'code' ? 1 : 4)
        if (held > MAX_BODY) throw new ArrowLimit(`columns of more than ${MAX_BODY} bytes`)
        const has = (row: number) => bitmap === undefined || ((bitmap[row >> 3] >> (row & 7)) & 1) !== 0
        const values = this.values({ parts, column, rows, has }, target)
        if (target.f >= 0) {
          columns.set(target.f, values)
          if (target.f < GROUPED) present.push({ f: target.f, bitmap })
          else grouped.push({ f: target.f - GROUPED, bitmap })
          if (target.f < GROUPED && (target.type === 'names' || target.type === 'bytes')) sharesBody = true
        } else {
          const without = bitmap === undefined ? -1 : firstNull(bitmap, 0, rows)
          if (without >= 0) throw new ArrowFault('an event without a kind', {}, without)
          kind = values as Uint8Array
        }
      } catch (error) {
        if (error instanceof ArrowFault)
          throw new ArrowFault(`the column "${column.name}": ${error.message}`, { cause: error }, error.row)
        throw error
      }
    }
    if (kind === undefined && rows > 0) throw new ArrowFault('events without a kind')
    return {
      count: rows,
      mask: masksOf(present, rows),
      groupMask: grouped.length === 0 ? NO_U32 : masksOf(grouped, rows),
      kind: kind ?? new Uint8Array(0),
      columns,
      strings: this.names.table(this.lists),
      sharesBody,
    }
  }

  private values(reading: Reading, target: TableColumn): U64Column | Uint32Array | Int32Array | Uint8Array {
    const { parts, column, rows, has } = reading
    switch (target.type) {
      case 'u64':
        return wideColumn(parts.nextBuffer(), integer(column), rows)
      case 'u32':
        return narrowed(parts.nextBuffer(), integer(column), rows, NO_U32, has)
      case 'i32':
        return narrowed(parts.nextBuffer(), integer(column), rows, NO_I32, has)
      case 'code':
        return this.codes(reading, target.names as readonly string[])
      case 'name': {
        const ids = this.ids(reading)
        return target.name === 'fields' ? this.json(ids, reading) : ids
      }
      case 'names':
        return this.stacks(reading)
      case 'bytes': {
        if (column.dictionary !== undefined || !hasTexts(column)) throw notOf('bytes', column)
        const base = this.names.add(readBytes(parts, column, rows))
        return rowNumbers(rows, base)
      }
    }
  }

  /** Codes of an enumeration, such as kinds, from a dictionary of their names or from the names themselves. */
  private codes({ parts, column, rows, has }: Reading, names: readonly string[]): Uint8Array {
    const { dictionary } = column
    let found: Uint8Array | Uint32Array
    let strings: Strings
    if (dictionary === undefined) [found, strings] = interned(parts, textColumn(column), rows, has)
    else {
      strings = this.dictionaries.get(textColumn(column).dictionary?.id as number)
      found = codes(parts.nextBuffer(), dictionary.index, rows)
    }
    const map = this.codeMap(strings, names)
    checkIds(found, map.length, has)
    const isSame = found instanceof Uint8Array && map.every((code, i) => code === i)
    if (isSame) return found as Uint8Array
    const translated = new Uint8Array(rows)
    for (let i = 0; i < rows; i++) {
      if (!has(i)) continue
      const id = found[i]
      const code = map[id]
      if (code === UNKNOWN) {
        const text = Buffer.from(strings.bytes.subarray(strings.starts[id], strings.starts[id + 1])).toString()
        throw new ArrowFault(`unknown name ${showValue(text)}`, {}, i)
      }
      translated[i] = code
    }
    return translated
  }

  private codeMap(strings: Strings, names: readonly string[]): Uint8Array {
    let map = this.codesOf.get(strings)
    if (map === undefined) {
      const { bytes, starts } = strings
      map = Uint8Array.from({ length: starts.length - 1 }, (_, i) => {
        const code = names.indexOf(Buffer.from(bytes.subarray(starts[i], starts[i + 1])).toString())
        return code < 0 ? UNKNOWN : code
      })
      this.codesOf.set(strings, map)
    }
    return map
  }

  /** The ids of names, in the table of the batch. */
  private ids({ parts, column, rows, has }: Reading): Uint32Array {
    const { dictionary } = textColumn(column)
    if (dictionary === undefined) {
      const [ids, strings] = interned(parts, column, rows, has)
      return shifted(ids, this.names.add(strings))
    }
    const strings = this.dictionaries.get(dictionary.id)
    const ids = indices(parts.nextBuffer(), dictionary.index, rows)
    checkIds(ids, strings.starts.length - 1, has)
    return shifted(ids, this.names.add(strings))
  }

  private json(ids: Uint32Array, { has }: Reading): Uint32Array {
    const changed = checkJson(ids, has, (id) => this.names.bytes(id))
    return changed === undefined ? ids : shifted(changed.column, this.names.add(changed.strings))
  }

  private stacks({ parts, column, rows }: Reading): Uint32Array {
    const [child] = column.children
    if (child === undefined || (column.type !== Type.list && column.type !== Type.largeList))
      throw notOf('lists of strings', column)
    const lists = offsets(parts.nextBuffer(), rows, column.type === Type.largeList)
    const items = parts.nextNode()
    if (lists[rows] > items.rows) throw new ArrowFault('a list is longer than its items', {}, rowOf(lists, items.rows))
    const used = lists[rows]
    const isNull = child.type === Type.null
    if (isNull) parts.skipBuffers(child)
    const bitmap = isNull ? undefined : parts.nextBuffer()
    if (isNull || items.nulls > 0) {
      const at = bitmap === undefined ? (lists[0] < used ? lists[0] : -1) : firstNull(bitmap, lists[0], used)
      if (at >= 0) throw new ArrowFault('a frame that is null', {}, rowOf(lists, at))
    }
    const listed = isNull
      ? new Uint32Array(used)
      : this.items({ parts, column: child, rows: used, has: () => true }, lists)
    this.lists = { lists, listed: listed as Uint32Array<ArrayBuffer> }
    return rowNumbers(rows, 0)
  }

  /** The ids of the items of lists. */
  private items(reading: Reading, lists: Uint32Array): Uint32Array {
    try {
      return this.ids(reading)
    } catch (error) {
      throw error instanceof ArrowFault && error.row > 0 ? error.in(rowOf(lists, error.row)) : error
    }
  }
}

/** The row of an item of lists: the first whose list ends after it. */
function rowOf(lists: Uint32Array, item: number): number {
  return Math.max(0, lists.findIndex((end) => end > item) - 1)
}

/** The first row from `from` to `to` that has no bit in a bitmap, or -1. @throws ArrowFault if that is too short */
function firstNull(bitmap: Uint8Array, from: number, to: number): number {
  if (bitmap.length < to / 8) throw new ArrowFault('its bitmap is too short')
  for (let i = from; i < to; i++) if (((bitmap[i >> 3] >> (i & 7)) & 1) === 0) return i
  return -1
}

const NO_U32 = new Uint32Array(0)
const NO_I32 = new Int32Array(0)

function integer(column: Column) {
  if (column.int === undefined || column.dictionary !== undefined) throw notOf('integers', column)
  return column.int
}

function textColumn(column: Column): Column {
  if (!hasTexts(column)) throw notOf('strings', column)
  return column
}

function notOf(what: string, column: Column): ArrowFault {
  return new ArrowFault(`it must have ${what}, not ${typeName(column)}`)
}

/** The distinct texts of a column, and the ids of the rows. */
function interned(parts: Parts, column: Column, rows: number, has: (row: number) => boolean): [Uint32Array, Strings] {
  const { bytes, starts } = readNames(parts, column, rows)
  const table = new StringTable()
  const ids = new Uint32Array(rows)
  for (let i = 0; i < rows; i++) if (has(i)) ids[i] = table.intern(bytes, starts[i], starts[i + 1])
  return [ids, table.flat()]
}

/** @throws ArrowFault when an event has an id that is not below `size` */
function checkIds(ids: Uint32Array | Uint8Array, size: number, has: (row: number) => boolean): void {
  const isBelow = ids instanceof Uint8Array ? allBelow(ids, size) : allWordsBelow(ids, size)
  if (isBelow) return
  // Only events without a name may have any number.
  for (let i = 0; i < ids.length; i++)
    if (ids[i] >= size && has(i)) throw new ArrowFault('an index that its dictionary does not have', {}, i)
}

/*
 * There are two functions, so that V8 knows the types of their inputs. Differences and numbers from 2^31 on are
 * negative, and no size reaches that; so one branch after the loop suffices.
 */

function allBelow(ids: Uint8Array, size: number): boolean {
  let signs = 0
  for (let i = 0; i < ids.length; i++) signs |= size - 1 - ids[i]
  return signs >= 0
}

function allWordsBelow(ids: Uint32Array, size: number): boolean {
  const last = size - 1
  let signs = 0
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] | 0
    signs |= id | (last - id)
  }
  return signs >= 0
}

function shifted(ids: Uint32Array, base: number): Uint32Array {
  return base === 0 ? ids : ids.map((id) => id + base)
}

function rowNumbers(rows: number, base: number): Uint32Array {
  const numbers = new Uint32Array(rows)
  for (let i = 0; i < rows; i++) numbers[i] = base + i
  return numbers
}
