import { HI, LO } from '../../bytes/u64.js'
import { METADATA_PROPERTIES } from '../predefined.js'
import { FREE_ROUNDS, MAX_BYTES, MAX_RECORD, MAX_VALUES } from './layout.js'
import { ANY, Metadata, Mode, NUMBER, Step, getNumber, type Program } from './program.js'
import type { RecordState } from './states.js'
import { addPair, extendSign, readNumber, samePair } from './words.js'

const { leaf: LEAF, loop: LOOP, again: AGAIN } = Step
const {
  none: NONE,
  baseOffset: BASE_OFFSET,
  delta: DELTA,
  default: DEFAULT,
  stride: STRIDE,
  sectionStride: SECTION_STRIDE,
} = Mode

/** What `read` returns when there are not enough bytes. */
export const INCOMPLETE = -1
/** What `read` returns when the record is wrong. */
export const FAULT = -2

/** Where fields with sectionStride get their values from. */
export interface TableSource {
  /** Why `take` had no value. */
  readonly reason: string
  /**
   * Puts the element at the section's offset into `words[index]`, and moves the offset on by `stride`. Returns whether
   * there is one.
   */
  take(section: number, stride: number, words: Uint32Array, index: number): boolean
  /** Takes back what was taken since the last `commit`. */
  rollback(): void
}

const FIRST_CAPACITY = 64

/**
 * Reads records one at a time. The values of the last one are in `positions` and `words`, in the order of the trace,
 * those that are not stored too.
 */
export class RecordReader {
  /** How many values there are. */
  count = 0
  /** The position of each value's leaf. */
  positions = new Int32Array(FIRST_CAPACITY)
  /** A pair of words for each value: the number, or (LO and HI) where its bytes begin and end in what was read from. */
  words = new Uint32Array(2 * FIRST_CAPACITY)
  /** Why the record is wrong. */
  reason = ''
  /** Whether it is not so much wrong as larger than memory is given for. */
  isLimit = false
  /** What counted as the previous value before each value, where that is known. */
  private before = new Uint32Array(2 * FIRST_CAPACITY)
  /** The latest value of each leaf. */
  private latest = new Uint32Array(0)
  /** How often each of the repetitions around a step is still to come. */
  private rounds = new Float64Array(0)

  constructor(
    private readonly little: boolean,
    private readonly tables: TableSource,
  ) {}

  /**
   * Reads the record at `pos`, which must end by `end`.
   *
   * @returns the position after it; or INCOMPLETE, and the states are what they were; or FAULT, and `reason` says why
   */
  read(state: RecordState, bytes: Uint8Array, pos: number, end: number): number {
    const { program } = state
    const { steps, mode } = program
    if (this.latest.length < 2 * mode.length) this.latest = new Uint32Array(2 * mode.length)
    if (this.rounds.length < program.depth) this.rounds = new Float64Array(program.depth)
    this.count = 0
    let depth = 0
    let repeated = 0
    let at = pos
    for (let i = 0; i < steps.length; i += 2) {
      const argument = steps[i + 1] as number
      switch (steps[i]) {
        case LEAF:
          at = this.value(state, argument, bytes, at, end)
          break
        case LOOP: {
          const rounds = getNumber(this.latest, argument)
          if (rounds > MAX_VALUES) at = this.tooMany(program)
          else if (rounds === 0) i = endOf(steps, i)
          else this.rounds[depth++] = rounds
          break
        }
        case AGAIN:
          if (++repeated > MAX_VALUES) at = this.tooMany(program)
          else if (--(this.rounds[depth - 1] as number) > 0) i = argument - 2
          else depth--
          break
        default:
          at = this.settings(state, argument, bytes, at, end)
      }
      if (at < 0) {
        if (at === INCOMPLETE) this.rollback(state)
        return at
      }
    }
    const { name } = program.record
    if (repeated > at - pos + FREE_ROUNDS)
      return this.fail(`record ${name} repeats what takes no bytes too often`, true)
    if (at - pos > MAX_RECORD) return this.fail(`record ${name} has more than ${MAX_RECORD} bytes`, true)
    return at
  }

  /** Reads the value of leaf p at `at`. */
  private value(state: RecordState, p: number, bytes: Uint8Array, at: number, end: number): number {
    const { program } = state
    const { latest } = this
    let width = state.width[p] as number
    if (width < 0) width = getNumber(latest, ~width)
    const isBytes = program.isBytes[p] === 1
    if (width > 8 && (!isBytes || width > MAX_BYTES)) return this.tooWide(program, p, width)
    const after = at + width
    if (after > end) return INCOMPLETE
    const k = this.count++
    if (k === MAX_VALUES) return this.tooMany(program)
    if (k === this.positions.length) this.grow()
    this.positions[k] = p
    const { words } = this
    if (isBytes) {
      words[2 * k + LO] = at
      words[2 * k + HI] = after
      return after
    }
    readNumber(bytes, at, width, this.little, words, 2 * k)
    if (state.mode[p] !== NONE && !this.interpret(state, p, k, width)) return FAULT
    latest[2 * p] = words[2 * k] as number
    latest[2 * p + 1] = words[2 * k + 1] as number
    const fixed = program.fixed[p] as number
    if (fixed !== ANY) {
      const source = fixed === NUMBER ? program.fixedWords : latest
      const isSame = samePair(words, 2 * k, source, 2 * (fixed === NUMBER ? p : fixed))
      if (!isSame)
        return this.fail(`field ${program.record.leaves[p]?.name} of ${program.record.name} is not what it always is`)
    }
    return after
  }

  /** Makes what is stored the value, and moves the state on. Returns whether there is a value. */
  private interpret(state: RecordState, p: number, k: number, width: number): boolean {
    const { words } = this
    const { reference } = state
    const from = state.referenceFrom[p] as number
    switch (state.mode[p]) {
      case BASE_OFFSET:
        extendSign(words, 2 * k, width)
        if (from < 0) addPair(words, 2 * k, reference, 2 * p)
        else addPair(words, 2 * k, this.latest, 2 * from)
        return true
      case DEFAULT: {
        const source = from < 0 ? reference : this.latest
        const at = from < 0 ? 2 * p : 2 * from
        words[2 * k] = source[at] as number
        words[2 * k + 1] = source[at + 1] as number
        return true
      }
      case DELTA:
        extendSign(words, 2 * k, width)
        this.move(state, p, k)
        return true
      case STRIDE:
        words[2 * k] = state.stride[2 * p] as number
        words[2 * k + 1] = state.stride[2 * p + 1] as number
        this.move(state, p, k)
        return true
      case SECTION_STRIDE:
        if (this.tables.take(state.section[p] as number, getNumber(state.stride, p), words, 2 * k)) return true
        this.fail(
          `field ${state.program.record.leaves[p]?.name} of ${state.program.record.name}: ${this.tables.reason}`,
        )
        return false
      default:
        // The offset of sectionOffset is the value.
        return true
    }
  }

  /** Adds the previous value to the step that is there, and keeps the sum as the previous value. */
  private move({ reference }: RecordState, p: number, k: number): void {
    const { words, before } = this
    before[2 * k] = reference[2 * p] as number
    before[2 * k + 1] = reference[2 * p + 1] as number
    addPair(words, 2 * k, reference, 2 * p)
    reference[2 * p] = words[2 * k] as number
    reference[2 * p + 1] = words[2 * k + 1] as number
  }

  /** Reads the numbers at the end of a metadata record. */
  private settings(state: RecordState, p: number, bytes: Uint8Array, at: number, end: number): number {
    const property = getNumber(this.latest, Metadata.property)
    const what = METADATA_PROPERTIES[property]
    if (what === undefined) return this.fail(`metadata with the unknown property ${property}`)
    for (let i = 0; i < what.values && at >= 0; i++) {
      const k = this.count
      at = this.value(state, p, bytes, at, end)
      if (at >= 0 && i === 1 && property === STRIDE) extendSign(this.words, 2 * k, state.width[p] as number)
    }
    return at
  }

  /** Undoes what the values that were read have changed. */
  private rollback(state: RecordState): void {
    this.tables.rollback()
    const { before, positions } = this
    const { reference } = state
    for (let k = this.count - 1; k >= 0; k--) {
      const p = positions[k] as number
      if (!state.moves(p)) continue
      reference[2 * p] = before[2 * k] as number
      reference[2 * p + 1] = before[2 * k + 1] as number
    }
  }

  private tooMany({ record }: Program): typeof FAULT {
    return this.fail(`record ${record.name} has more than ${MAX_VALUES} values`, true)
  }

  private tooWide({ record, isBytes }: Program, p: number, width: number): typeof FAULT {
    const field = `field ${record.leaves[p]?.name} of ${record.name}`
    if (isBytes[p] === 1) return this.fail(`${field} has ${width} bytes, more than ${MAX_BYTES}`, true)
    return this.fail(`${field} has ${width} bytes, but a number has at most 8`)
  }

  private fail(reason: string, isLimit = false): typeof FAULT {
    this.reason = reason
    this.isLimit = isLimit
    return FAULT
  }

  private grow(): void {
    const n = this.positions.length * 2
    this.positions = enlarged(this.positions, new Int32Array(n))
    this.words = enlarged(this.words, new Uint32Array(2 * n))
    this.before = enlarged(this.before, new Uint32Array(2 * n))
  }
}

function enlarged<Array extends Int32Array | Uint32Array>(from: Array, to: Array): Array {
  to.set(from)
  return to
}

/** The step that ends the repetition which begins at step i. */
export function endOf(steps: Int32Array, i: number): number {
  for (let j = i + 2; ; j += 2) if (steps[j] === AGAIN && steps[j + 1] === i + 2) return j
}
