import { Sink } from '../../bytes/sink.js'
import { doubleAt, HI, LO } from '../../bytes/u64.js'
import { Origin } from '../event-writer.js'
import { ANY, Mode, NUMBER, type Layout, type Layouts, type SectionLayouts } from '../layout.js'
import { addPair, fits, getPair, samePair, setPair, subtractPair, writeNumber } from '../pairs.js'
import { MAX_BYTES } from './header.js'
import { Metadata } from './reader.js'

const { none: NONE, baseOffset: BASE_OFFSET, delta: DELTA, default: DEFAULT, stride: STRIDE } = Mode
const { sectionStride: SECTION_STRIDE } = Mode

const NO_PAIR = new Uint32Array(2)

/** The property of a metadata record that changes a width. */
const WIDTH = 0
/** The tags of section and metadata records, the same in all DTDs. */
export const SECTION_TAG = 2
const METADATA_TAG = 3

/**
 * A record is left out after this many changes of the layout: no single layout fits all of its repetitions.
 */
export const MAX_CHANGES = 8

/** The maximum number of elements that a stride may skip; they are written as 0. */
const MAX_SKIPPED = 4096

/** The change of a leaf's layout that is needed to write its values. */
interface Change {
  readonly p: number
  /** The interpretation, if another one is needed: default or none. */
  mode: number | null
  /** The default. */
  value: bigint
  /** The width that is needed. */
  width: number
}

/** Writes values in the form given by a layout, and metadata if they do not fit. */
export class Packer {
  /** The number of values of the current record that did not fit. */
  misfits = 0
  private changes: Change[] = []
  private readonly pair = new Uint32Array(2)
  private readonly sum = new Uint32Array(2)

  /** @param section whose layouts metadata changes */
  constructor(
    public section: SectionLayouts,
    readonly sink: Sink,
    readonly little: boolean,
    readonly tables: TableWriter | null,
  ) {}

  /**
   * Writes a number of leaf p to `sink.bytes[at]`, where there must be room. If it does not fit, nothing is written,
   * and `adapt` knows.
   *
   * @returns the position after it
   */
  put(layout: Layout, p: number, at: number, lo: number, hi: number, origin: number): number {
    const { latest, reference, fixed } = layout
    const { pair } = this
    const mode = layout.mode[p]
    const from = layout.referenceFrom[p]
    const base = from < 0 ? reference : latest
    const baseAt = 2 * (from < 0 ? p : from)
    // A missing value is left to the default, unless metadata has made the default a value that events have.
    if (origin === Origin.absent && mode === DEFAULT && layout.touched[p] === 0) {
      latest[2 * p] = base[baseAt]
      latest[2 * p + 1] = base[baseAt + 1]
      return at
    }
    latest[2 * p + LO] = pair[LO] = lo
    latest[2 * p + HI] = pair[HI] = hi
    if (fixed[p] !== ANY) {
      const isNumber = fixed[p] === NUMBER
      // No layout can change the fixed value.
      if (!samePair(pair, 0, isNumber ? layout.fixedWords : latest, 2 * (isNumber ? p : fixed[p])))
        return this.misfit(at)
    }
    switch (mode) {
      case DEFAULT: {
        // A default of 0 that metadata did not change means that the event does not have the field, so a value of 0
        // must be stored.
        const isImplicit = from < 0 && layout.touched[p] === 0 && samePair(reference, 2 * p, NO_PAIR, 0)
        const isSilent = isImplicit && origin === Origin.given
        return !isSilent && samePair(pair, 0, base, baseAt) ? at : this.replace(layout, p, at)
      }
      case STRIDE: {
        const { sum } = this
        sum[0] = reference[2 * p]
        sum[1] = reference[2 * p + 1]
        addPair(sum, 0, layout.stride, 2 * p)
        if (!samePair(sum, 0, pair, 0)) return this.replace(layout, p, at)
        reference.set(sum, 2 * p)
        return at
      }
      case SECTION_STRIDE:
        if (this.tables?.put(layout.section[p], doubleAt(layout.stride, p), pair, 0)) return at
        return this.replace(layout, p, at)
      case BASE_OFFSET:
        subtractPair(pair, 0, base, baseAt)
        break
      case DELTA:
        subtractPair(pair, 0, reference, 2 * p)
        reference[2 * p + LO] = lo
        reference[2 * p + HI] = hi
        break
      default:
    }
    const signed = mode === BASE_OFFSET || mode === DELTA
    const width = widthOf(layout, p)
    if (width > 8 || !fits(pair, 0, width, signed)) {
      const change = this.need(layout, p)
      change.width = Math.max(change.width, widthFor(pair, signed))
      return this.misfit(at)
    }
    writeNumber(this.sink.bytes, at, width, this.little, pair, 0)
    return at + width
  }

  /** Writes bytes to `sink.bytes[at]`, where there must be room. */
  data(layout: Layout, p: number, at: number, data: Uint8Array): number {
    if (widthOf(layout, p) !== data.length) {
      this.need(layout, p).width = data.length
      this.misfits++
    }
    this.sink.bytes.set(data, at)
    return at + data.length
  }

  /** Writes a record that consists of these numbers, and the metadata that it needs. */
  record(layout: Layout, values: readonly bigint[]): void {
    const { sink, pair } = this
    for (let i = 0; i < MAX_CHANGES; i++) {
      sink.reserve(8 * values.length)
      let at = sink.pos
      for (const [p, value] of values.entries()) {
        setPair(pair, 0, value)
        at = this.put(layout, p, at, pair[LO], pair[HI], Origin.implied)
      }
      if (this.misfits === 0) {
        sink.pos = at
        layout.commit()
        return
      }
      if (!this.adapt(layout)) return
    }
  }

  /** Undoes the current record, and writes the metadata that it needs. Returns false if no metadata helps. */
  adapt(layout: Layout): boolean {
    const { changes } = this
    this.undo(layout)
    return changes.length > 0 && changes.every((change) => this.change(layout, change))
  }

  /** Undoes the current record. */
  undo(layout: Layout | undefined): void {
    layout?.undo()
    this.tables?.rollback()
    this.changes = []
    this.misfits = 0
  }

  private misfit(at: number): number {
    this.misfits++
    return at
  }

  /** Notes that the value in `pair` must be stored for leaf p, or become its new default. */
  private replace(layout: Layout, p: number, at: number): number {
    const change = this.need(layout, p)
    const value = getPair(this.pair, 0)
    const isFirst = change.mode === null
    const isDefault = layout.mode[p] === DEFAULT && layout.touched[p] === 0 && layout.record.role === 'data'
    change.mode = isDefault && (isFirst || (change.mode === DEFAULT && change.value === value)) ? DEFAULT : NONE
    change.value = value
    change.width = Math.max(change.width, widthFor(this.pair, false))
    return this.misfit(at)
  }

  private need({ width }: Layout, p: number): Change {
    let change = this.changes.find((other) => other.p === p)
    // Metadata never makes a leaf narrower.
    if (change === undefined) {
      change = { p, mode: null, value: 0n, width: Math.max(0, Math.min(8, width[p])) }
      this.changes.push(change)
    }
    return change
  }

  /** Writes metadata for a change. Returns whether metadata can express it. */
  private change({ record, width: widths }: Layout, { p, mode, value, width }: Change): boolean {
    const { tag } = record
    if (tag === null || record.leaves[p].name === 'tag' || width > MAX_BYTES) return false
    if (mode === DEFAULT && this.metadata(tag, p, DEFAULT, [value])) return true
    if (mode !== null) {
      if (!this.metadata(tag, p, NONE, [])) return false
      if (widths[p] >= width) return true
    }
    return this.metadata(tag, p, WIDTH, [BigInt(width)])
  }

  /** Writes a metadata record, and applies it. Returns false, without any effect, if its values do not fit. */
  private metadata(tag: number, p: number, property: number, settings: readonly bigint[]): boolean {
    const { section, sink } = this
    const { width } = section.of(METADATA_TAG) as Layout
    const values = [BigInt(METADATA_TAG), BigInt(tag), BigInt(p), BigInt(property), ...settings]
    const words = new Uint32Array(2 * values.length)
    for (const [i, value] of values.entries()) setPair(words, i, value)
    const widths = values.map((_, i) => width[Math.min(i, Metadata.value)])
    if (widths.some((bytes, i) => !fits(words, 2 * i, bytes, false))) return false
    if (section.apply(tag, p, property, words, 2 * Metadata.value) !== '') return false
    for (const [i, bytes] of widths.entries()) {
      sink.reserve(bytes)
      writeNumber(sink.bytes, sink.pos, bytes, this.little, words, 2 * i)
      sink.pos += bytes
    }
    return true
  }
}

/** The elements of one section to write. */
class TableOutput {
  readonly sink = new Sink(1024)
  readonly packer: Packer
  /** The number of the next element that a field takes, now and at the last commit. */
  next = 0
  committed = 0
  /** The number of elements, without the current record's. */
  count = 0
  /** The elements of the current record, as pairs of words. */
  readonly staged: number[] = []
  /** The previous value. */
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
export class TableWriter {
  private readonly tables = new Map<number, TableOutput>()

  constructor(
    private readonly layouts: Layouts,
    private readonly little: boolean,
  ) {}

  /** The sections with elements that are still in their sinks, and the sinks. */
  *pending(): Generator<{ id: number; sink: Sink }> {
    for (const [id, { sink }] of this.tables) if (sink.pos > 0) yield { id, sink }
  }

  /** The number of bytes of these elements. */
  get pendingBytes(): number {
    let bytes = 0
    for (const { sink } of this.tables.values()) bytes += sink.pos
    return bytes
  }

  /**
   * Adds the pair of words at `words[index]` at the section's offset, and advances that. Returns whether that is
   * possible.
   */
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

  /** Removes the elements added since the last `commit`. */
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
    // A reader could not know the number of elements.
    if (width === 0 || mode === DEFAULT || mode === STRIDE) return false
    if (mode === BASE_OFFSET) subtractPair(pair, 0, raw.reference, 0)
    else if (mode === DELTA) subtractPair(pair, 0, last, 0)
    return fits(pair, 0, width, mode === BASE_OFFSET || mode === DELTA)
  }

  private of(id: number): TableOutput {
    let table = this.tables.get(id)
    if (table === undefined) {
      table = new TableOutput(this.layouts.of(id), this.layouts.plan.raw.has(id), this.little)
      this.tables.set(id, table)
    }
    return table
  }
}

/** The width of leaf p, which may be the value of another leaf. */
function widthOf({ width, latest }: Layout, p: number): number {
  return width[p] < 0 ? doubleAt(latest, ~width[p]) : width[p]
}

/** The width, 1, 2, 4 or 8 bytes, that a number in a pair of words needs. */
function widthFor(pair: Uint32Array, signed: boolean): number {
  return [1, 2, 4].find((width) => fits(pair, 0, width, signed)) ?? 8
}
