import type { StringTable } from '../../event/strings.js'
import type { TableColumn } from '../../event/table.js'
import { AHEAD, ColumnReader, type DataPage, type Held } from './column-reader.js'
import { ParquetFault, ParquetLimit } from './fault.js'
import { Growing } from './growing.js'
import { MAX_FRAMES } from './layout.js'
import type { ColumnShape } from './schema-read.js'
import { TextPages } from './text-pages.js'

/** Items of lists that are read ahead, or given to a batch, before there are enough. */
const MANY_ITEMS = 262_144

/** Reads a column of lists of strings. A list may continue in the next page. */
export class ListColumn extends ColumnReader {
  private readonly texts = new TextPages(this.column)
  private readonly ids = new Growing(new Uint32Array(0))
  /** The start of the items of each row. The items of the open row follow the last row's. */
  private readonly starts = new Uint32Array(AHEAD + 1)
  /** The lists of the rows in the table of the batch. */
  private readonly own = new Uint32Array(AHEAD)
  /** The number of rows that are complete, which `tail` is until the rows are taken. */
  private closed = 0
  private isOpen = false
  private isPresent = 0
  /** Levels, and ids of the items, that were read and not used yet: from `next` to `end`, and from `nextItem`. */
  private readonly repetition = new Uint8Array(AHEAD)
  private readonly definition = new Uint8Array(AHEAD)
  private readonly items = new Uint32Array(AHEAD)
  private late: ParquetFault | undefined
  /** That fault is in the first item of a row, so the row before it is complete. */
  private isLateRow = false
  private next = 0
  private end = 0
  private nextItem = 0

  /** @param must the fault of an item, if the items are no strings: then all lists are null or empty */
  constructor(
    column: TableColumn,
    shape: ColumnShape,
    held: Held,
    private readonly must?: string,
  ) {
    super(column, shape, held)
  }

  prepare(table: StringTable, rows: number): number {
    const { head, has, ids, starts, own, texts } = this
    const { items: words } = ids
    let items = 0
    for (let i = 0; i < rows; i++) {
      own[i] = 0
      if (has[head + i] === 0) continue
      const list = words.slice(starts[head + i], starts[head + i + 1])
      for (let j = 0; j < list.length; j++) list[j] = texts.store.idIn(table, list[j])
      own[i] = table.addList(list)
      items += list.length
      if (items > MANY_ITEMS || texts.isFull(table)) return i + 1
    }
    return rows
  }

  copy(target: Uint8Array | Uint32Array | Int32Array, rows: number): void {
    target.set(this.own.subarray(0, rows))
  }

  protected get memory(): number {
    return this.texts.store.memory + 4 * this.ids.items.length
  }

  protected override get hasOpenRow(): boolean {
    return this.isOpen
  }

  protected override get isFull(): boolean {
    const isLong = this.starts[this.tail] > MANY_ITEMS || (this.left === 0 && this.texts.isLong)
    return this.tail === AHEAD || (this.rows === 0 && !this.isOpen) || (this.tail > 0 && isLong)
  }

  protected setDictionary(bytes: Uint8Array | undefined, count: number): void {
    if (this.must === undefined) this.texts.setDictionary(bytes, count)
  }

  protected beginPage({ head, values }: DataPage): void {
    if (this.must === undefined) this.texts.begin(values, head.encoding, head.values)
    this.next = this.end = 0
  }

  protected override drop(): void {
    const { ids, starts } = this
    // The items of the open row remain.
    const from = starts[this.closed]
    ids.items.copyWithin(0, from, ids.length)
    ids.length -= from
    starts[0] = 0
    this.closed = 0
    if (this.left === 0 && this.texts.isLong) this.texts.keep(ids.used)
  }

  protected override endGroup(): void {
    if (this.isOpen) this.close()
    if (this.rows > 0) super.endGroup()
  }

  protected decode(): void {
    if (this.next === this.end) {
      if (this.late !== undefined) {
        if (this.isOpen && this.isLateRow) this.close()
        throw this.late
      }
      this.readLevels()
    }
    const { repetition, definition, items, ids, shape } = this
    for (; this.next < this.end; this.next++) {
      const level = definition[this.next]
      if (repetition[this.next] === 0) {
        if (this.isOpen) this.close()
        if (this.tail === AHEAD) return
        if (this.rows === 0) throw new ParquetFault('more rows than its row group')
        this.rows--
        this.isOpen = true
        this.isPresent = level >= shape.present ? 1 : 0
      } else if (!this.isOpen) throw new ParquetFault('a list that begins with its second item')
      this.left--
      if (level < shape.item) continue
      if (level < shape.definition) throw new ParquetFault('a frame that is null')
      const at = ids.extend(1)
      if (at - this.starts[this.tail] >= MAX_FRAMES) throw new ParquetLimit(`a stack of more than ${MAX_FRAMES} frames`)
      ids.items[at] = items[this.nextItem++]
    }
  }

  /** Reads levels, and the ids of their items. */
  private readLevels(): void {
    const page = this.page as DataPage
    const count = Math.min(AHEAD, this.left)
    const { repetition, definition, shape } = this
    const begun = this.before(count, () => page.repetition.read(repetition, 0, count))
    let end = this.before(begun, () => page.definition.read(definition, 0, begun))
    let found = 0
    for (let i = 0; i < end; i++) {
      if (definition[i] > shape.definition) throw new ParquetFault('a level that its column does not have')
      if (definition[i] === shape.definition) found++
    }
    const read = this.before(found, () => this.readItems(found))
    // The level of the first item that is not there.
    while (read < found) if (definition[--end] === shape.definition) found--
    this.next = this.nextItem = 0
    this.end = end
    this.isLateRow = end < begun && repetition[end] === 0
  }

  private readItems(count: number): void {
    if (this.must === undefined) this.texts.read(this.items, 0, count)
    else if (count > 0) throw new ParquetFault(this.must)
  }

  /** Notes a fault, which follows the values before it. @returns the number of these */
  private before(count: number, read: () => void): number {
    try {
      read()
      return count
    } catch (error) {
      if (!(error instanceof ParquetFault)) throw error
      this.late = error
      return error.good
    }
  }

  private close(): void {
    this.has[this.tail] = this.isPresent
    this.starts[++this.tail] = this.ids.length
    this.closed = this.tail
    this.isOpen = false
  }
}
