import { crc32 } from 'node:zlib'
import { ColumnWriter, physicalType, type ColumnPages } from './column-writer.js'
import { compressorOf } from './codecs.js'
import * as Layout from './layout.js'
import type { TableColumn, TableRows, TableWriter } from '../../event/table.js'
import { binary, i32, i64, list, struct, text, thrift, written, type ThriftNode } from './thrift.js'

/** A row group that was written: where it begins, and the metadata of its columns so far. */
interface RowGroup {
  readonly at: number
  readonly rows: number
  columns: number
  chunks: Uint8Array
  /** The length of its columns before compression, and as they are. */
  total: number
  length: number
}

/**
 * Writes a table as Parquet, in row groups. It holds one row group, and some 3 KB of metadata for each that was
 * written.
 */
export class ParquetWriter implements TableWriter {
  private columns: readonly TableColumn[]
  private writers: readonly ColumnWriter[]
  private readonly compress: (bytes: Uint8Array) => Uint8Array
  /** Pieces of the file that have not been delivered. */
  private pieces: Uint8Array[] = [Layout.MAGIC.slice()]
  /** The length of the file so far. */
  private length = Layout.MAGIC.length
  private rows = 0
  private groupRows = 0
  private readonly groups: RowGroup[] = []

  /** @throws RangeError when this machine lacks the codec */
  constructor(
    columns: readonly TableColumn[],
    private readonly codec: Layout.CodecName,
  ) {
    this.columns = columns
    this.writers = columns.map((column) => new ColumnWriter(column))
    this.compress = compressorOf(codec)
  }

  /** The number of rows that were added. */
  get count(): number {
    return this.rows + this.groupRows
  }

  /** Adds columns, which no row so far has. Row groups that were written get theirs at the end. */
  addColumns(columns: readonly TableColumn[]): void {
    const writers = columns.map((column) => new ColumnWriter(column))
    for (const writer of writers) writer.addAbsent(this.groupRows)
    this.columns = [...this.columns, ...columns]
    this.writers = [...this.writers, ...writers]
  }

  add(rows: TableRows): void {
    const { count, mask, groupMask } = rows
    let some = 0
    let grouped = 0
    for (let i = 0; i < count; i++) some |= mask[i]
    if (groupMask !== undefined) for (let i = 0; i < count; i++) grouped |= groupMask[i]
    for (const writer of this.writers) writer.add(rows, some, grouped)
    this.groupRows += rows.count
    const memory = this.writers.reduce((sum, writer) => sum + writer.memory, 0)
    if (this.groupRows >= Layout.GROUP_ROWS || memory >= Layout.GROUP_BYTES) this.endGroup()
  }

  /** The next piece of the file, if any. */
  next(): Uint8Array | null {
    return this.pieces.shift() ?? null
  }

  /** Writes the rest. @param metadata texts for the file, by their names */
  end(metadata: Readonly<Record<string, string>> = {}): void {
    if (this.groupRows > 0) this.endGroup()
    const groups = this.groups.map((group) => this.describe(group))
    const footer = thrift(
      struct({
        1: i32(2),
        2: list(schemaOf(this.columns)),
        3: i64(this.rows),
        4: written(groups),
        5: list(Object.entries(metadata).map(([key, value]) => struct({ 1: text(key), 2: text(value) }))),
        6: text('heapflow'),
        // All columns are in the order of their types.
        7: list(this.columns.map(() => struct({ 1: struct({}) }))),
      }),
    )
    const length = new Uint8Array(4)
    new DataView(length.buffer).setUint32(0, footer.length, true)
    this.write(footer, length, Layout.MAGIC.slice())
  }

  /** Writes the rest: without its index no reader would open the file. */
  endTruncated(): void {
    this.end({ [Layout.TRUNCATED_KEY]: 'true' })
  }

  private write(...pieces: Uint8Array[]): void {
    for (const piece of pieces) {
      this.pieces.push(piece)
      this.length += piece.length
    }
  }

  private endGroup(): void {
    const group: RowGroup = {
      at: this.length,
      rows: this.groupRows,
      columns: 0,
      chunks: new Uint8Array(0),
      total: 0,
      length: 0,
    }
    this.groups.push(group)
    this.writeColumns(
      group,
      this.writers.map((writer) => writer.take(this.groupRows)),
    )
    this.rows += this.groupRows
    this.groupRows = 0
  }

  /** Writes the next columns of a row group. */
  private writeColumns(group: RowGroup, columns: readonly ColumnPages[]): void {
    const before = this.length
    const chunks = columns.map((pages) => {
      const [node, bytes] = this.writeColumn(this.columns[group.columns++], pages)
      group.total += bytes
      return thrift(node)
    })
    group.chunks = Buffer.concat([group.chunks, ...chunks])
    group.length += this.length - before
  }

  /** The metadata of a row group. Columns that were added after it are written now, without values. */
  private describe(group: RowGroup): Uint8Array {
    const { at, rows } = group
    const missing = this.columns.slice(group.columns).map((column) => {
      const writer = new ColumnWriter(column)
      writer.addAbsent(rows)
      return writer.take(rows)
    })
    if (missing.length > 0) this.writeColumns(group, missing)
    const { chunks, columns, total, length } = group
    return thrift(struct({ 1: written([chunks], columns), 2: i64(total), 3: i64(rows), 5: i64(at), 6: i64(length) }))
  }

  /** @returns the column's metadata in the row group, and its length before compression */
  private writeColumn(column: TableColumn, pages: ColumnPages): [ThriftNode, number] {
    const before = this.length
    const { dictionary, data, encoding, count, nulls, range } = pages
    let total = 0
    if (dictionary !== undefined) {
      const head = struct({ 1: i32(dictionary.count), 2: i32(Layout.Encoding.plain) })
      total += this.writePage(Layout.PageKind.dictionary, { 7: head }, dictionary.bytes)
    }
    const dataAt = this.length
    const head = struct({ 1: i32(count), 2: i32(encoding), 3: i32(Layout.Encoding.rle), 4: i32(Layout.Encoding.rle) })
    total += this.writePage(Layout.PageKind.data, { 5: head }, data)
    const isList = column.type === 'names'
    const metadata = struct({
      1: i32(physicalType(column)),
      2: list([Layout.Encoding.plain, Layout.Encoding.rle, Layout.Encoding.rleDictionary].map(i32)),
      3: list((isList ? [column.name, 'list', 'element'] : [column.name]).map(text)),
      4: i32(Layout.Codec[this.codec]),
      5: i64(count),
      6: i64(total),
      7: i64(this.length - before),
      9: i64(dataAt),
      11: dictionary && i64(before),
      12: struct({
        3: i64(nulls),
        5: range && binary(range[1]),
        6: range && binary(range[0]),
      }),
    })
    return [struct({ 2: i64(before), 3: metadata }), total]
  }

  /** @returns the length before compression */
  private writePage(kind: number, heads: Readonly<Record<number, ThriftNode>>, bytes: Uint8Array): number {
    const compressed = this.compress(bytes)
    const crc = i32(crc32(compressed) | 0)
    const head = thrift(struct({ 1: i32(kind), 2: i32(bytes.length), 3: i32(compressed.length), 4: crc, ...heads }))
    this.write(head, compressed)
    return head.length + bytes.length
  }
}

/** The elements of the schema: the root, and then each column. */
function schemaOf(columns: readonly TableColumn[]): ThriftNode[] {
  return [struct({ 4: text('schema'), 5: i32(columns.length) }), ...columns.flatMap(elementsOf)]
}

function elementsOf(column: TableColumn): ThriftNode[] {
  const { name, type, f } = column
  const repetition = i32(f < 0 ? Layout.Repetition.required : Layout.Repetition.optional)
  if (type === 'names') {
    return [
      struct({ 3: repetition, 4: text(name), 5: i32(1), 6: i32(Layout.Converted.list) }),
      struct({ 3: i32(Layout.Repetition.repeated), 4: text('list'), 5: i32(1) }),
      struct({
        1: i32(Layout.Physical.byteArray),
        3: i32(Layout.Repetition.required),
        4: text('element'),
        6: i32(Layout.Converted.utf8),
      }),
    ]
  }
  const converted = CONVERTED[type]
  return [
    struct({
      1: i32(physicalType(column)),
      3: repetition,
      4: text(name),
      6: converted === undefined ? undefined : i32(converted),
    }),
  ]
}

const CONVERTED: Readonly<Partial<Record<TableColumn['type'], number>>> = {
  u64: Layout.Converted.uint64,
  u32: Layout.Converted.uint32,
  i32: Layout.Converted.int32,
  code: Layout.Converted.utf8,
  name: Layout.Converted.utf8,
}
