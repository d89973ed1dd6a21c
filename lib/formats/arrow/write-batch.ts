import { U64Column } from '../../event/batch.js'
import type { TraceHeader } from '../../event/header.js'
import { GROUPED, masksOf, type TableColumn, type TableRows } from '../../event/table.js'
import type { WrittenColumn, WrittenTable } from './columns.js'
import type { Names } from './names.js'
import { Presences, type Presence } from './presence.js'
import { aligned, BatchMetadata } from './write-messages.js'

/** The bytes of a row in the main buffer of a column; lists and bytes have offsets there. */
const WIDTH = { u64: 8, u32: 4, i32: 4, code: 1, name: 4, names: 4, bytes: 4 } as const

const NO_MASKS = new Uint32Array(0)

/** The positions of a column's parts in the body; missing parts have 0 bytes. */
interface Layout {
  validity: number
  data: number
  /** Ids in lists, or bytes. */
  items: number
  itemBytes: number
}

/**
 * Writes record batches. A column that no event of a batch has points to zeros that all such columns share, so it takes
 * almost no memory.
 */
export class BatchWriter {
  private readonly metadata: BatchMetadata
  private readonly layouts: readonly Layout[]
  private readonly presences = new Presences()
  private readonly groupPresences = new Presences()

  /** @param names the dictionary of names, which may grow */
  constructor(
    private readonly table: WrittenTable,
    private readonly names: Names,
  ) {
    this.metadata = new BatchMetadata(table.nodes, table.buffers)
    this.layouts = table.columns.map(() => ({ validity: 0, data: 0, items: 0, itemBytes: 0 }))
  }

  /**
   * The message with rows `from` to `to`.
   * @param header of the trace that begins here, if it must be written
   */
  write(batch: TableRows, from: number, to: number, header?: TraceHeader): Uint8Array {
    const metadata =
      header === undefined ? this.metadata : new BatchMetadata(this.table.nodes, this.table.buffers, header)
    const rows = to - from
    this.presences.read(batch.mask.subarray(from, to))
    this.groupPresences.read(batch.groupMask?.subarray(from, to) ?? NO_MASKS)
    const { zeros, length } = this.place(batch, from, to)
    metadata.rows(rows)
    this.describe(metadata, rows, zeros)
    const chunk = metadata.chunk(length)
    const body = chunk.subarray(metadata.length)
    this.names.use(batch.strings)
    // Padding must not contain earlier contents of the memory.
    body.fill(0, zeros)
    this.table.columns.forEach((column, c) => {
      if (this.isThere(column)) this.fill(body, batch, column, c, from, to)
    })
    return chunk
  }

  /** Which rows have a column. */
  private presence({ f }: TableColumn): Presence {
    return f < GROUPED ? this.presences.of(f) : this.groupPresences.of(f - GROUPED)
  }

  /** Whether some row has a column. */
  private isThere({ f }: TableColumn): boolean {
    if (f < 0) return true
    return f < GROUPED ? ((this.presences.some >>> f) & 1) !== 0 : ((this.groupPresences.some >>> f) & 1) !== 0
  }

  /** Whether all rows have a column. */
  private isWhole({ f }: TableColumn): boolean {
    if (f < 0) return true
    return f < GROUPED ? ((this.presences.all >>> f) & 1) !== 0 : ((this.groupPresences.all >>> f) & 1) !== 0
  }

  /** Assigns all positions. @returns the place of the shared zeros, and the length of the body */
  private place(batch: TableRows, from: number, to: number) {
    const rows = to - from
    let at = 0
    let zeros = 0
    this.table.columns.forEach((column, c) => {
      const layout = this.layouts[c]
      const { type } = column
      const hasOffsets = type === 'names' || type === 'bytes'
      const bytes = WIDTH[type] * (hasOffsets ? rows + 1 : rows)
      layout.itemBytes = 0
      if (!this.isThere(column)) {
        zeros = Math.max(zeros, bytes)
        return
      }
      layout.validity = at
      if (!this.isWhole(column)) at = aligned(at + Math.ceil(rows / 8))
      layout.data = at
      at = aligned(at + bytes)
      layout.items = at
      if (hasOffsets) layout.itemBytes = itemBytes(batch, column, from, to)
      at = aligned(at + layout.itemBytes)
    })
    return { zeros: at, length: aligned(at + zeros) }
  }

  private describe(metadata: BatchMetadata, rows: number, zeros: number): void {
    const bitmap = Math.ceil(rows / 8)
    let node = 0
    let buffer = 0
    this.table.columns.forEach((column, c) => {
      const { type } = column
      const { validity, data, items, itemBytes: length } = this.layouts[c]
      const isThere = this.isThere(column)
      const isWhole = this.isWhole(column)
      const bytes = WIDTH[type] * (type === 'names' || type === 'bytes' ? rows + 1 : rows)
      metadata.node(node++, rows, isWhole ? 0 : isThere ? rows - this.presence(column).count : rows)
      metadata.buffer(buffer++, isThere ? validity : zeros, isWhole ? 0 : bitmap)
      metadata.buffer(buffer++, isThere ? data : zeros, bytes)
      if (type === 'bytes') metadata.buffer(buffer++, isThere ? items : zeros, length)
      if (type === 'names') {
        metadata.node(node++, length / 4, 0)
        metadata.buffer(buffer++, isThere ? items : zeros, 0)
        metadata.buffer(buffer++, isThere ? items : zeros, length)
      }
    })
  }

  private fill(
    body: Uint8Array<ArrayBuffer>,
    batch: TableRows,
    column: WrittenColumn,
    c: number,
    from: number,
    to: number,
  ): void {
    const { type } = column
    const rows = to - from
    const { validity, data, items, itemBytes: length } = this.layouts[c]
    const words = (at: number, count: number) => new Uint32Array(body.buffer, body.byteOffset + at, count)
    const pad = (end: number) => body.fill(0, end, aligned(end))
    const isWhole = this.isWhole(column)
    if (!isWhole) {
      // These end within the padding: it is cleared from the last byte with bits on.
      const { words: bits } = this.presence(column)
      words(validity, bits.length).set(bits)
      pad(validity + Math.ceil(rows / 8))
    }
    const source = batch.values(column)
    if (source instanceof U64Column) {
      const target = words(data, 2 * rows)
      target.set(source.words.subarray(2 * from, 2 * to))
      if (!isWhole) this.clearAbsent(target, column, rows, 2)
      return void pad(data + 8 * rows)
    }
    switch (type) {
      case 'code': {
        const target = body.subarray(data, data + rows)
        target.set(source.subarray(from, to))
        if (!isWhole) this.clearAbsent(target, column, rows, 1)
        return void pad(data + rows)
      }
      case 'name':
        this.writeNames(words(data, rows), batch, source as Uint32Array, column, from, isWhole)
        return void pad(data + 4 * rows)
      case 'names':
        this.writeLists(words(data, rows + 1), words(items, length / 4), batch, column, from)
        break
      case 'bytes':
        writeBytes(words(data, rows + 1), body.subarray(items, items + length), batch, column, from)
        break
      default: {
        const target = words(data, rows)
        target.set((source as Uint32Array).subarray(from, to))
        if (!isWhole) this.clearAbsent(target, column, rows, 1)
        return void pad(data + 4 * rows)
      }
    }
    pad(data + 4 * (rows + 1))
    pad(items + length)
  }

  private writeNames(
    target: Uint32Array,
    batch: TableRows,
    source: Uint32Array,
    column: WrittenColumn,
    from: number,
    isWhole: boolean,
  ): void {
    if (!this.names.isSame) {
      this.names.translate(target, source, masksOf(batch, column), column.f % GROUPED, from)
      return
    }
    target.set(source.subarray(from, from + target.length))
    if (!isWhole) this.clearAbsent(target, column, target.length, 1)
  }

  /** Clears the values of events that do not have the field: a column may hold anything there. */
  private clearAbsent(target: Uint32Array | Uint8Array, column: TableColumn, rows: number, words: 1 | 2): void {
    const { words: present } = this.presence(column)
    for (let first = 0, w = 0; first < rows; first += 32, w++) {
      const left = rows - first
      let absent = ~present[w]
      if (left < 32) absent &= (1 << left) - 1
      for (; absent !== 0; absent &= absent - 1) {
        const i = first + 31 - Math.clz32(absent & -absent)
        target[words * i] = 0
        if (words === 2) target[2 * i + 1] = 0
      }
    }
  }

  private writeLists(
    offsets: Uint32Array,
    ids: Uint32Array,
    batch: TableRows,
    column: WrittenColumn,
    from: number,
  ): void {
    const { mask, strings } = batch
    const { lists, listed } = strings.flat()
    const values = batch.values(column) as Uint32Array
    const bit = 1 << column.f
    let end = 0
    offsets[0] = 0
    for (let i = 1; i < offsets.length; i++) {
      const row = from + i - 1
      if ((mask[row] & bit) !== 0) {
        const list = values[row]
        const names = listed.subarray(lists[list], lists[list + 1])
        this.names.translateAll(ids, end, names)
        end += names.length
      }
      offsets[i] = end
    }
  }
}

function writeBytes(
  offsets: Uint32Array,
  target: Uint8Array,
  batch: TableRows,
  column: WrittenColumn,
  from: number,
): void {
  const { mask, strings } = batch
  const values = batch.values(column) as Uint32Array
  const bit = 1 << column.f
  let end = 0
  offsets[0] = 0
  for (let i = 1; i < offsets.length; i++) {
    const row = from + i - 1
    if ((mask[row] & bit) !== 0) {
      const bytes = strings.view(values[row])
      target.set(bytes, end)
      end += bytes.length
    }
    offsets[i] = end
  }
}

/** How many bytes the items of lists, or the bytes of a column, take. */
function itemBytes(batch: TableRows, column: WrittenColumn, from: number, to: number): number {
  const { mask, strings } = batch
  const isList = column.type === 'names'
  const values = batch.values(column) as Uint32Array
  const starts = isList ? strings.flat().lists : strings.flat().starts
  const bit = 1 << column.f
  let count = 0
  for (let i = from; i < to; i++) {
    if ((mask[i] & bit) === 0) continue
    const id = values[i]
    count += starts[id + 1] - starts[id]
  }
  return isList ? 4 * count : count
}
