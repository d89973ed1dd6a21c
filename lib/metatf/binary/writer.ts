import { columnOf, type EventBatch } from '../../event/batch.js'
import { FIELDS } from '../../event/fields.js'
import type { Losses } from '../../kernel/losses.js'
import type { Chooser } from '../record-choice.js'
import { EventWriter, Origin, Unwritable } from '../event-writer.js'
import { isOptional } from '../generate/code.js'
import type { Layout, Layouts, SectionLayouts } from '../layout.js'
import type { RecordMapping } from '../mapping.js'
import { setPair, writeNumber } from '../pairs.js'
import { MAX_BYTES, MAX_VALUES } from './header.js'
import { MAX_CHANGES, Packer, SECTION_TAG, type TableWriter } from './packer.js'

/**
 * The maximum number of records that wait if there are tables, and the maximum size of these records and of the tables.
 */
export const WINDOW = 4096
const WINDOW_BYTES = 65_536

const NO_BYTES = new Uint8Array(0)

/** The object that generated code for writing binary records works on. */
export class BinaryWriter extends EventWriter {
  /** The number of data records that were written. */
  records = 0
  /** The sections in which records were written. */
  readonly used = new Set<number>()
  readonly packer: Packer
  protected readonly maxValues = MAX_VALUES
  private waiting = 0
  /** The state before the section was entered for the event in that row. */
  private entered: { row: number; section: SectionLayouts; pos: number; used: number } | undefined
  private latestView = new DataView(new ArrayBuffer(0))

  /**
   * @param waits whether records wait until a window of them is full
   * @param window the maximum number of records in a window
   */
  constructor(
    mappings: readonly RecordMapping[],
    chooser: Chooser,
    losses: Losses,
    private readonly layouts: Layouts,
    readonly little: boolean,
    readonly tables: TableWriter,
    readonly waits: boolean,
    private readonly window: number,
  ) {
    super(mappings, chooser, losses)
    this.packer = new Packer(layouts.of(0), this.sink, little, tables)
  }

  get section(): SectionLayouts {
    return this.packer.section
  }

  set section(section: SectionLayouts) {
    this.packer.section = section
  }

  /** A view of the sink's current bytes. */
  view(): DataView {
    const { bytes } = this.sink
    if (this.latestView.buffer !== bytes.buffer || this.latestView.byteLength !== bytes.length)
      this.latestView = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return this.latestView
  }

  tag(at: number, width: number, tag: number): number {
    setPair(this.pair, 0, BigInt(tag))
    writeNumber(this.sink.bytes, at, width, this.little, this.pair, 0)
    return at + width
  }

  /** Enters a section with the record of the current event, and returns the record's layout there. */
  enter(position: number): Layout {
    const { record } = this.mappings[position]
    const { section, sink, used } = this
    const tag = record.tag as number
    const before = { row: this.row, section, pos: sink.pos, used: used.size }
    if (section.of(tag)?.record !== record) this.switchTo(record.section)
    used.add(this.section.section.id)
    this.entered = before
    return this.section.of(tag) as Layout
  }

  /** Writes the record that names the section that follows. */
  switchTo(id: number): void {
    if (this.section.section.id === id) return
    const layout = this.section.of(SECTION_TAG)
    if (layout !== undefined) this.packer.record(layout, [BigInt(SECTION_TAG), BigInt(id)])
    this.section = this.layouts.of(id)
  }

  override put(layout: Layout, p: number, at: number, lo: number, hi: number, origin: number = Origin.given): number {
    return this.packer.put(layout, p, at, lo, hi, origin)
  }

  data(layout: Layout, p: number, at: number, data: Uint8Array): number {
    return this.packer.data(layout, p, at, data)
  }

  protected override absent(layout: Layout, p: number, at: number): number {
    const { field, silent, leaf } = (layout.mapping as RecordMapping).leaves[p]
    const isNothing = leaf.width?.kind === 'constant' && leaf.width.bytes === 0
    if (silent && layout.touched[p] === 1) this.note(`no ${leaf.name}, written as 0`)
    // Missing fields of events are counted elsewhere; a field that takes no bytes is not a loss.
    else if (!silent && field < 0 && !isNothing) this.note(`no ${leaf.name}, written as 0 or empty`)
    return this.packer.put(layout, p, at, 0, 0, Origin.absent)
  }

  noData(): Uint8Array {
    return NO_BYTES
  }

  /** Bytes from `fields`, where they are in base64. */
  dataOf(value: unknown): Uint8Array {
    if (typeof value !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(value))
      throw new Unwritable('bytes that are not in base64')
    const bytes = Buffer.from(value, 'base64')
    if (bytes.length > MAX_BYTES) throw new Unwritable(`a field of more than ${MAX_BYTES} bytes`)
    return bytes
  }

  /** The bytes of event i that are in a column. */
  columnData(_layout: Layout, _p: number, field: number, i: number): Uint8Array {
    const ids = this.batch[columnOf(field)] as Uint32Array
    const bytes = this.batch.strings.view(ids[i])
    const { name } = FIELDS[field]
    if (bytes.length === 0 && isOptional({ field, type: 'bytes' })) this.note(`empty ${name}`)
    if (bytes.length <= MAX_BYTES) return bytes
    this.note(`${name} of more than ${MAX_BYTES} bytes`)
    return NO_BYTES
  }

  /** Writes metadata for the current record. Returns whether to try again; otherwise the loss has been counted. */
  adapt(layout: Layout): boolean {
    const canFit = this.packer.adapt(layout)
    if (this.triedRow !== this.row) this.tries = 0
    this.triedRow = this.row
    if (canFit && ++this.tries < MAX_CHANGES) return true
    this.triedRow = -1
    this.note(`${layout.record.name} with values that there is no room for: left out`)
    return false
  }

  /** Completes the current record. */
  commit(layout: Layout): void {
    layout.commit()
    this.tables.commit()
  }

  protected override undo(): void {
    this.triedRow = -1
    this.packer.undo(this.layout)
    // Leaves the section that was entered for the event.
    const { entered, used } = this
    if (entered?.row !== this.row) return
    if (used.size > entered.used) used.delete(this.section.section.id)
    this.section = entered.section
    this.sink.pos = entered.pos
  }

  protected override begin(batch: EventBatch, count: number): void {
    super.begin(batch, count)
    this.entered = undefined
  }

  /** Counts a waiting record. Returns whether the window is full. */
  wait(pos: number): boolean {
    this.isFull = ++this.waiting >= this.window || this.tables.pendingBytes >= WINDOW_BYTES || pos >= WINDOW_BYTES
    return this.isFull
  }

  /** Begins a new window after the last one was delivered. */
  empty(): void {
    this.waiting = 0
    this.isFull = false
  }
}
