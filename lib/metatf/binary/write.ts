import type { Sink } from '../../bytes/sink.js'
import { HI, LO } from '../../bytes/u64.js'
import { FREE_ROUNDS, MAX_BYTES, MAX_RECORD } from './layout.js'
import { ANY, Metadata, Mode, NUMBER, getNumber, getPair, setPair } from './program.js'
import type { RecordState, SectionState } from './states.js'
import { Origin, type Values } from './values.js'
import { addPair, fits, samePair, subtractPair, writeNumber } from './words.js'

const {
  none: NONE,
  baseOffset: BASE_OFFSET,
  delta: DELTA,
  default: DEFAULT,
  stride: STRIDE,
  sectionStride: SECTION_STRIDE,
} = Mode

const { given: GIVEN, absent: ABSENT } = Origin

/** The property of a metadata record that changes a width. */
const WIDTH = 0

/**
 * After so many changes of the layout a record is given up: one and the same layout does not fit all that it repeats.
 */
const MAX_CHANGES = 8

/** Where the values of fields with sectionStride go. */
export interface TableSink {
  /**
   * Adds the pair of words at `words[index]` at the section's offset, and moves that on. Returns whether it can be
   * there.
   */
  put(section: number, stride: number, words: Uint32Array, index: number): boolean
  /** Takes back what was put since the last `commit`. */
  rollback(): void
  commit(): void
}

/** How a leaf must be laid out for its values to be written. */
interface Change {
  p: number
  /** The interpretation, if another one is needed: default or none. */
  mode: number | null
  /** The default. */
  value: bigint
  /** The width that is needed. */
  width: number
}

/** Writes records, and metadata before them where the layout does not fit their values. */
export class RecordWriter {
  private changes: Change[] = []
  private before = new Uint32Array(0)
  private latest = new Uint32Array(0)
  private readonly pair = new Uint32Array(2)

  constructor(
    private readonly little: boolean,
    private readonly tables: TableSink,
  ) {}

  /**
   * Writes a record, and the metadata that it needs.
   *
   * @returns whether it could be written; if not, only metadata was
   */
  write(section: SectionState, state: RecordState, values: Values, out: Sink): boolean {
    for (let i = 0; i < MAX_CHANGES; i++) {
      if (this.tryWrite(state, values, out)) {
        this.tables.commit()
        return true
      }
      this.tables.rollback()
      for (const change of this.changes) {
        if (!this.change(section, state, change, out)) return false
      }
      if (this.changes.length === 0) return false
    }
    return false
  }

  /** Writes a record as it is laid out. If that is not possible nothing changes, and `changes` says what must. */
  tryWrite(state: RecordState, values: Values, out: Sink): boolean {
    const { program, reference } = state
    const { count, positions, words, data } = values
    const start = out.pos
    this.changes = []
    if (this.before.length < 2 * count) this.before = new Uint32Array(4 * count)
    if (this.latest.length < 2 * program.mode.length) this.latest = new Uint32Array(2 * program.mode.length)
    const { before } = this
    let isGood = true
    let k = 0
    for (; k < count; k++) {
      const p = positions[k] as number
      before[2 * k] = reference[2 * p] as number
      before[2 * k + 1] = reference[2 * p + 1] as number
      if (program.isBytes[p] === 1) {
        const first = words[2 * k + LO] as number
        const length = (words[2 * k + HI] as number) - first
        isGood = this.checkBytes(state, p, length) && isGood
        out.append(data.bytes.subarray(first, first + length))
      } else {
        isGood = this.number(state, p, values, k, out) && isGood
      }
    }
    // Readers refuse what is longer, or repeats nothing too often.
    const length = out.pos - start
    if (isGood && length <= MAX_RECORD && values.rounds <= length + FREE_ROUNDS) return true
    while (--k >= 0) {
      const p = positions[k] as number
      if (!state.moves(p)) continue
      reference[2 * p] = before[2 * k] as number
      reference[2 * p + 1] = before[2 * k + 1] as number
    }
    out.pos = start
    return false
  }

  private checkBytes(state: RecordState, p: number, length: number): boolean {
    const width = this.widthOf(state, p)
    if (width === length) return true
    this.need(state, p).width = length
    return false
  }

  /** Writes value k, a number of leaf p. Returns whether it fits; otherwise it notes what is needed. */
  private number(state: RecordState, p: number, values: Values, k: number, out: Sink): boolean {
    const { latest, pair } = this
    const { program, reference } = state
    const { words } = values
    const mode = state.mode[p] as number
    const isAbsent = values.origin[k] === ABSENT
    const from = state.referenceFrom[p] as number
    const base = from < 0 ? reference : latest
    const at = 2 * (from < 0 ? p : from)
    // What the event does not have is left to the default, unless metadata has made that a value that events have.
    if (isAbsent && mode === DEFAULT && state.touched[p] === 0) {
      latest.set(base.subarray(at, at + 2), 2 * p)
      return true
    }
    latest[2 * p] = words[2 * k] as number
    latest[2 * p + 1] = words[2 * k + 1] as number
    pair[0] = words[2 * k] as number
    pair[1] = words[2 * k + 1] as number
    const fixed = program.fixed[p] as number
    if (fixed !== ANY) {
      const source = fixed === NUMBER ? program.fixedWords : latest
      // No layout can make it another value than it must be.
      if (!samePair(pair, 0, source, 2 * (fixed === NUMBER ? p : fixed))) return false
    }
    switch (mode) {
      case DEFAULT: {
        // A default 0 that no metadata was about means that an event does not have the field: one that has it says so.
        const isSilent =
          from < 0 && state.touched[p] === 0 && getNumber(reference, p) === 0 && values.origin[k] === GIVEN
        return (!isSilent && samePair(pair, 0, base, at)) || this.replace(state, p, values, k)
      }
      case STRIDE: {
        const sum = reference.slice(2 * p, 2 * p + 2)
        addPair(sum, 0, state.stride, 2 * p)
        if (!samePair(sum, 0, pair, 0)) return this.replace(state, p, values, k)
        reference.set(sum, 2 * p)
        return true
      }
      case SECTION_STRIDE: {
        if (this.tables.put(state.section[p] as number, getNumber(state.stride, p), pair, 0)) return true
        return this.replace(state, p, values, k)
      }
      case BASE_OFFSET:
        subtractPair(pair, 0, base, at)
        break
      case DELTA:
        subtractPair(pair, 0, reference, 2 * p)
        reference[2 * p] = words[2 * k] as number
        reference[2 * p + 1] = words[2 * k + 1] as number
        break
      default:
    }
    const signed = mode === BASE_OFFSET || mode === DELTA
    const width = this.widthOf(state, p)
    if (width > 8 || !fits(pair, 0, width, signed)) {
      const change = this.need(state, p)
      change.width = Math.max(change.width, widthFor(pair, signed))
      return false
    }
    out.reserve(width)
    writeNumber(out.bytes, out.pos, width, this.little, pair, 0)
    out.pos += width
    return true
  }

  /** Notes that leaf p cannot get its value without storing it: a default that is new here, or none. */
  private replace(state: RecordState, p: number, { words }: Values, k: number): false {
    const change = this.need(state, p)
    const value = getPair(words, k)
    const isFirst = change.mode === null
    const isDefault = state.mode[p] === DEFAULT && state.touched[p] === 0 && state.program.record.role === 'data'
    change.mode = isDefault && (isFirst || (change.mode === DEFAULT && change.value === value)) ? DEFAULT : NONE
    change.value = value
    change.width = Math.max(change.width, widthFor(words.subarray(2 * k, 2 * k + 2), false))
    return false
  }

  private need({ width }: RecordState, p: number): Change {
    let change = this.changes.find((other) => other.p === p)
    // It is not made narrower than it is.
    if (change === undefined) {
      change = { p, mode: null, value: 0n, width: Math.max(0, Math.min(8, width[p] as number)) }
      this.changes.push(change)
    }
    return change
  }

  private widthOf(state: RecordState, p: number): number {
    const width = state.width[p] as number
    return width < 0 ? getNumber(this.latest, ~width) : width
  }

  /** Writes metadata for a change. Returns whether that can be said. */
  private change(section: SectionState, state: RecordState, { p, mode, value, width }: Change, out: Sink): boolean {
    const { record } = state.program
    const tag = record.tag
    if (tag === null || record.leaves[p]?.name === 'tag' || width > MAX_BYTES) return false
    if (mode === DEFAULT && this.metadata(section, tag, p, DEFAULT, [value], out)) return true
    if (mode !== null) {
      if (!this.metadata(section, tag, p, NONE, [], out)) return false
      if ((state.width[p] as number) >= width) return true
    }
    return this.metadata(section, tag, p, WIDTH, [BigInt(width)], out)
  }

  /** Writes a metadata record, and takes it in. Returns false, and does nothing, if its fields have no room for it. */
  private metadata(
    section: SectionState,
    tag: number,
    p: number,
    property: number,
    settings: bigint[],
    out: Sink,
  ): boolean {
    const state = metadataState(section)
    const values = [3n, BigInt(tag), BigInt(p), BigInt(property), ...settings]
    const words = new Uint32Array(2 * values.length)
    const widths = values.map((value, i) => {
      setPair(words, i, value)
      return state.width[Math.min(i, Metadata.value)] as number
    })
    if (widths.some((width, i) => !fits(words, 2 * i, width, false))) return false
    if (section.apply(tag, p, property, words, 2 * Metadata.value) !== '') return false
    for (const [i, width] of widths.entries()) {
      out.reserve(width)
      writeNumber(out.bytes, out.pos, width, this.little, words, 2 * i)
      out.pos += width
    }
    return true
  }
}

/** The layout of metadata records in a section. Their tag is the same in all DTDs. */
function metadataState(section: SectionState): RecordState {
  return section.byTag(METADATA_TAG) as RecordState
}

const METADATA_TAG = 3

/** The width, 1, 2, 4 or 8 bytes, that a number in a pair of words needs. */
function widthFor(pair: Uint32Array, signed: boolean): number {
  for (const width of [1, 2, 4]) if (fits(pair, 0, width, signed)) return width
  return 8
}
