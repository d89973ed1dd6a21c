import { U64Column } from '../../event/batch.js'
import type { TraceHeader } from '../../event/header.js'
import { GROUPED, masksOf, type TableRows } from '../../event/table.js'
import { partsOf, type WrittenColumn, type WrittenTable } from './columns.js'
import type { Names } from './names.js'
import { Presences, type Presence } from './presence.js'
import { aligned, BatchMetadata } from './write-messages.js'

/** The bytes of a row in the main buffer of a column; lists and bytes have offsets there. */
const WIDTH = { u64: 8, u32: 4, i32: 4, code: 1, name: 4, names: 4, bytes: 4 } as const

const NO_MASKS = new Uint32Array(0)

/** The rows of a batch that have a column. */
const IN_NONE = 0
const IN_SOME = 1
const IN_ALL = 2

/** A column of the table, and the positions of its parts in the current batch. A missing part has 0 bytes. */
interface PlacedColumn extends WrittenColumn {
  /** The first of its nodes and of its buffers. */
  readonly node: number
  readonly buffer: number
  /** The bytes of a row in its main buffer. */
  readonly width: number
  /** Whether the main buffer has offsets, of which there is one more than rows. */
  readonly hasOffsets: boolean
  /** One of `IN_NONE`, `IN_SOME` and `IN_ALL`. */
  state: number
  /** The rows that have it, if some have it. */
  presence: Presence | undefined
  validity: number
  data: number
  /** The position of ids in lists, or of bytes, and their size in bytes. */
  items: number
  itemBytes: number
}

/**
 * Writes record batches. A column that no event of a batch has points to zeros that all such columns share, so it takes
 * almost no memory.
 */
export class BatchWriter {
  private readonly metadata: BatchMetadata
  private readonly columns: readonly PlacedColumn[]
  /** The columns that some row of the current batch has. */
  private there: readonly PlacedColumn[] = []
  /** The fields in some rows, in all rows, and of groups, from which `there` was computed. */
  private fields = [-1, -1, -1, -1]
  private readonly presences = new Presences()
  private readonly groupPresences = new Presences()

  /** @param names the dictionary of names, which may grow */
  constructor(
    private readonly table: WrittenTable,
    private readonly names: Names,
  ) {
    this.metadata = new BatchMetadata(table.nodes, table.buffers)
    this.columns = placed(table.columns)
  }

  /**
   * The message with some rows.
   * @param header of the trace that begins here, if it must be written
   */
  write(batch: TableRows, header?: TraceHeader): Uint8Array {
    const metadata =
      header === undefined ? this.metadata : new BatchMetadata(this.table.nodes, this.table.buffers, header)
    const rows = batch.count
    this.presences.read(batch.mask.subarray(0, rows))
    this.groupPresences.read(batch.groupMask?.subarray(0, rows) ?? NO_MASKS)
    this.select()
    const zeros = this.place(batch)
    metadata.rows(rows)
    const length = aligned(zeros + describe(this.columns, metadata, rows, zeros))
    const chunk = metadata.chunk(length)
    const body = chunk.subarray(metadata.length)
    this.names.use(batch.strings)
    // Padding must not contain earlier contents of the memory.
    body.fill(0, zeros)
    const { there } = this
    for (let c = 0; c < there.length; c++) this.fill(body, batch, there[c])
    return chunk
  }

  /** Finds the columns that some rows have. Most batches have the same ones as the batch before. */
  private select(): void {
    const { presences, groupPresences, fields } = this
    const { some, all } = presences
    const isSame =
      fields[0] === some && fields[1] === all && fields[2] === groupPresences.some && fields[3] === groupPresences.all
    if (isSame) return
    this.fields = [some, all, groupPresences.some, groupPresences.all]
    for (const column of this.columns) {
      const { f } = column
      const of = f < GROUPED ? presences : groupPresences
      const bit = 1 << (f & (GROUPED - 1))
      column.presence = undefined
      if (f < 0 || (of.all & bit) !== 0) column.state = IN_ALL
      else column.state = (of.some & bit) === 0 ? IN_NONE : IN_SOME
      column.itemBytes = 0
    }
    this.there = this.columns.filter(({ state }) => state !== IN_NONE)
  }

  /** Assigns the positions of all parts. @returns the place of the shared zeros after them */
  private place(batch: TableRows): number {
    const rows = batch.count
    const { there } = this
    const bitmap = Math.ceil(rows / 8)
    let at = 0
    for (let c = 0; c < there.length; c++) {
      const column = there[c]
      const { f, hasOffsets } = column
      column.validity = at
      if (column.state === IN_SOME) {
        column.presence = f < GROUPED ? this.presences.of(f) : this.groupPresences.of(f - GROUPED)
        at = aligned(at + bitmap)
      }
      column.data = at
      at = aligned(at + column.width * (hasOffsets ? rows + 1 : rows))
      column.items = at
      if (!hasOffsets) continue
      column.itemBytes = itemBytes(batch, column)
      at = aligned(at + column.itemBytes)
    }
    return at
  }

  private fill(body: Uint8Array<ArrayBuffer>, batch: TableRows, column: PlacedColumn): void {
    const { type, validity, data, items, itemBytes: length, presence } = column
    const rows = batch.count
    const { buffer, byteOffset } = body
    // Null if all rows have the column.
    const bits = column.state === IN_ALL ? null : (presence as Presence).words
    if (bits !== null) {
      // The bits end within the padding, which is cleared from the last byte with bits on.
      new Uint32Array(buffer, byteOffset + validity, bits.length).set(bits)
      pad(body, validity + Math.ceil(rows / 8))
    }
    const source = batch.values(column)
    if (source instanceof U64Column) {
      const target = new Uint32Array(buffer, byteOffset + data, 2 * rows)
      target.set(source.words.subarray(0, 2 * rows))
      if (bits !== null) clearAbsentPairs(target, bits, rows)
      pad(body, data + 8 * rows)
      return
    }
    switch (type) {
      case 'code': {
        const target = body.subarray(data, data + rows)
        target.set(source.subarray(0, rows))
        if (bits !== null) clearAbsent(target, bits, rows)
        pad(body, data + rows)
        return
      }
      case 'name': {
        const target = new Uint32Array(buffer, byteOffset + data, rows)
        if (this.names.isSame) {
          target.set(source.subarray(0, rows))
          if (bits !== null) clearAbsent(target, bits, rows)
        } else this.names.translate(target, source as Uint32Array, masksOf(batch, column), column.f % GROUPED)
        pad(body, data + 4 * rows)
        return
      }
      case 'names': {
        const ids = new Uint32Array(buffer, byteOffset + items, length / 4)
        this.writeLists(new Uint32Array(buffer, byteOffset + data, rows + 1), ids, batch, column)
        break
      }
      case 'bytes': {
        const offsets = new Uint32Array(buffer, byteOffset + data, rows + 1)
        writeBytes(offsets, body.subarray(items, items + length), batch, column)
        break
      }
      default: {
        const target = new Uint32Array(buffer, byteOffset + data, rows)
        target.set((source as Uint32Array).subarray(0, rows))
        if (bits !== null) clearAbsent(target, bits, rows)
        pad(body, data + 4 * rows)
        return
      }
    }
    pad(body, data + 4 * (rows + 1))
    pad(body, items + length)
  }

  private writeLists(offsets: Uint32Array, ids: Uint32Array, batch: TableRows, column: WrittenColumn): void {
    const { mask, strings } = batch
    const { lists, listed } = strings.flat()
    const values = batch.values(column) as Uint32Array
    const bit = 1 << column.f
    let end = 0
    offsets[0] = 0
    for (let i = 1; i < offsets.length; i++) {
      if ((mask[i - 1] & bit) !== 0) {
        const list = values[i - 1]
        const names = listed.subarray(lists[list], lists[list + 1])
        this.names.translateAll(ids, end, names)
        end += names.length
      }
      offsets[i] = end
    }
  }
}

/** The columns of a table, before they have positions. */
function placed(columns: readonly WrittenColumn[]): PlacedColumn[] {
  let nodes = 0
  let buffers = 0
  return columns.map((column) => {
    const { type } = column
    const node = nodes
    const buffer = buffers
    nodes += partsOf(column).nodes
    buffers += partsOf(column).buffers
    const hasOffsets = type === 'names' || type === 'bytes'
    const nothing = { state: IN_NONE, presence: undefined, validity: 0, data: 0, items: 0, itemBytes: 0 }
    return { ...column, node, buffer, width: WIDTH[type], hasOffsets, ...nothing }
  })
}

/**
 * Writes the nodes and buffers of all columns. @param zeros the position of the zeros of columns that no row has
 * @returns the number of zeros that these need
 */
function describe(columns: readonly PlacedColumn[], metadata: BatchMetadata, rows: number, zeros: number): number {
  const bitmap = Math.ceil(rows / 8)
  let needed = 0
  for (let c = 0; c < columns.length; c++) {
    const column = columns[c]
    const { node, buffer, state, hasOffsets } = column
    const bytes = column.width * (hasOffsets ? rows + 1 : rows)
    let items = zeros
    if (state === IN_NONE) {
      if (bytes > needed) needed = bytes
      metadata.node(node, rows, rows)
      metadata.buffer(buffer, zeros, bitmap)
      metadata.buffer(buffer + 1, zeros, bytes)
    } else {
      const isWhole = state === IN_ALL
      items = column.items
      metadata.node(node, rows, isWhole ? 0 : rows - (column.presence as Presence).count)
      metadata.buffer(buffer, column.validity, isWhole ? 0 : bitmap)
      metadata.buffer(buffer + 1, column.data, bytes)
    }
    if (!hasOffsets) continue
    const { itemBytes } = column
    if (column.type === 'names') {
      metadata.node(node + 1, itemBytes / 4, 0)
      metadata.buffer(buffer + 2, items, 0)
      metadata.buffer(buffer + 3, items, itemBytes)
    } else metadata.buffer(buffer + 2, items, itemBytes)
  }
  return needed
}

/** Clears the bytes between a part and the next one. */
function pad(body: Uint8Array, end: number): void {
  const to = aligned(end)
  for (let i = end; i < to; i++) body[i] = 0
}

/** Clears the values of events that do not have the field: a column may hold anything there. */
function clearAbsent(target: Uint32Array | Uint8Array, present: Uint32Array, rows: number): void {
  for (let first = 0, w = 0; first < rows; first += 32, w++) {
    for (let absent = absentOf(present, w, rows - first); absent !== 0; absent &= absent - 1)
      target[first + 31 - Math.clz32(absent & -absent)] = 0
  }
}

/** The same for values of two words. */
function clearAbsentPairs(target: Uint32Array, present: Uint32Array, rows: number): void {
  for (let first = 0, w = 0; first < rows; first += 32, w++) {
    for (let absent = absentOf(present, w, rows - first); absent !== 0; absent &= absent - 1) {
      const i = 2 * (first + 31 - Math.clz32(absent & -absent))
      target[i] = 0
      target[i + 1] = 0
    }
  }
}

/** The zero bits of a word, of the first `left` rows. */
function absentOf(present: Uint32Array, w: number, left: number): number {
  const absent = ~present[w]
  return left < 32 ? absent & ((1 << left) - 1) : absent
}

function writeBytes(offsets: Uint32Array, target: Uint8Array, batch: TableRows, column: WrittenColumn): void {
  const { mask, strings } = batch
  const values = batch.values(column) as Uint32Array
  const bit = 1 << column.f
  let end = 0
  offsets[0] = 0
  for (let i = 1; i < offsets.length; i++) {
    if ((mask[i - 1] & bit) !== 0) {
      const bytes = strings.view(values[i - 1])
      target.set(bytes, end)
      end += bytes.length
    }
    offsets[i] = end
  }
}

/** The size in bytes of the items of lists, or of the bytes of a column. */
function itemBytes(batch: TableRows, column: WrittenColumn): number {
  const { mask, strings, count: rows } = batch
  const isList = column.type === 'names'
  const values = batch.values(column) as Uint32Array
  const starts = isList ? strings.flat().lists : strings.flat().starts
  const bit = 1 << column.f
  let count = 0
  for (let i = 0; i < rows; i++) {
    if ((mask[i] & bit) === 0) continue
    const id = values[i]
    count += starts[id + 1] - starts[id]
  }
  return isList ? 4 * count : count
}
