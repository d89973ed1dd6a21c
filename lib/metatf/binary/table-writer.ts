import { Sink } from '../../bytes/sink.js'
import { Packer, type TableSink } from './packer.js'
import { Mode, type Layouts, type SectionLayouts } from '../layout.js'
import { fits, getPair, samePair, subtractPair } from '../pairs.js'

const { baseOffset: BASE_OFFSET, delta: DELTA, default: DEFAULT, stride: STRIDE } = Mode

/** A stride may leave out so many elements at most, which are written as 0. */
const MAX_SKIPPED = 4096

/** The elements of one section that are to be written. */
class TableOutput {
  readonly sink = new Sink(1024)
  readonly packer: Packer
  /** The number of the next element that a field takes, and what it was at the last commit. */
  next = 0
  committed = 0
  /** How many elements there are, without those of the record at hand. */
  count = 0
  /** Those of the record at hand, as pairs of words. */
  readonly staged: number[] = []
  /** The value before the next one. */
  readonly last = new Uint32Array(2)
  readonly committedLast = new Uint32Array(2)

  constructor(
    readonly section: SectionLayouts,
    readonly isRaw: boolean,
    little: boolean,
  ) {
    // Elements do not take values from tables themselves.
    this.packer = new Packer(section, this.sink, little, null)
    if (isRaw) this.committedLast.set(section.raw.reference.subarray(0, 2))
    this.last.set(this.committedLast)
  }
}

/** Collects the elements of sections that fields with sectionStride take their values from. */
export class TableWriter implements TableSink {
  private readonly tables = new Map<number, TableOutput>()

  constructor(
    private readonly layouts: Layouts,
    private readonly little: boolean,
  ) {}

  /** The sections that have elements which were not taken out of their sinks yet, with these. */
  *pending(): Generator<{ id: number; sink: Sink }> {
    for (const [id, { sink }] of this.tables) if (sink.pos > 0) yield { id, sink }
  }

  /** How many bytes these are. */
  get pendingBytes(): number {
    let bytes = 0
    for (const { sink } of this.tables.values()) bytes += sink.pos
    return bytes
  }

  put(section: number, stride: number, words: Uint32Array, index: number): boolean {
    const table = this.of(section)
    const count = table.count + table.staged.length / 2
    if (table.next < count) {
      // A stride of 0 has all records take the same element.
      if (table.next !== count - 1 || !samePair(table.last, 0, words, index)) return false
    } else {
      if (table.next - count > MAX_SKIPPED) return false
      for (let i = count; i < table.next; i++) if (!this.stage(table, NO_PAIR, 0)) return false
      if (!this.stage(table, words, index)) return false
    }
    table.next += stride
    return true
  }

  commit(): void {
    for (const table of this.tables.values()) {
      const { section, staged, packer } = table
      for (let i = 0; i < staged.length; i += 2) {
        const value = getPair(Uint32Array.of(staged[i], staged[i + 1]), 0)
        if (table.isRaw) {
          packer.record(section.raw, [value])
          continue
        }
        const { tag } = (section.section.element as { record: { tag: number } }).record
        const layout = section.of(tag)
        if (layout !== undefined) packer.record(layout, [BigInt(tag), value])
      }
      table.count += staged.length / 2
      table.committed = table.next
      table.committedLast.set(table.last)
      staged.length = 0
    }
  }

  rollback(): void {
    for (const table of this.tables.values()) {
      table.next = table.committed
      table.last.set(table.committedLast)
      table.staged.length = 0
    }
  }

  /** Adds an element, if it can be written. */
  private stage(table: TableOutput, words: Uint32Array, index: number): boolean {
    const { section, staged, last } = table
    const { element } = section.section
    if (element === null || element.record.leaves[element.position].value !== null) return false
    // With tags there can be metadata among the elements, so that any value can be one.
    if (table.isRaw && !this.canHold(table, words, index)) return false
    staged.push(words[index], words[index + 1])
    last.set(words.subarray(index, index + 2))
    return true
  }

  /** Whether an element without a tag can have this value. */
  private canHold({ section: { raw }, last }: TableOutput, words: Uint32Array, index: number): boolean {
    const pair = words.slice(index, index + 2)
    const mode = raw.mode[0]
    const width = raw.width[0]
    // There would be no telling how many there are.
    if (width === 0 || mode === DEFAULT || mode === STRIDE) return false
    if (mode === BASE_OFFSET) subtractPair(pair, 0, raw.reference, 0)
    else if (mode === DELTA) subtractPair(pair, 0, last, 0)
    return fits(pair, 0, width, mode === BASE_OFFSET || mode === DELTA)
  }

  private of(id: number): TableOutput {
    let table = this.tables.get(id)
    if (table === undefined) {
      table = new TableOutput(this.layouts.of(id), this.layouts.plan.isRaw(id), this.little)
      this.tables.set(id, table)
    }
    return table
  }
}

const NO_PAIR = new Uint32Array(2)
