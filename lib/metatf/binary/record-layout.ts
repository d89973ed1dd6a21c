import { HI, LO } from '../../bytes/u64.js'
import type { RecordMapping } from '../mapping.js'
import { isOptional } from './events.js'
import { MAX_BYTES, MAX_RECORD } from './layout.js'
import { Mode } from './program.js'
import type { RecordState } from './states.js'
import { addPair, extendSign, fits, samePair, subtractPair, writeNumber } from './words.js'

const {
  none: NONE,
  baseOffset: BASE_OFFSET,
  delta: DELTA,
  default: DEFAULT,
  sectionOffset: SECTION_OFFSET,
  stride: STRIDE,
  sectionStride: SECTION_STRIDE,
} = Mode

/** A length that no input has room for. */
const ELSEWHERE = 0x3fff_ffff

/** Lengths of bytes take at most so many bytes themselves. */
const MAX_LENGTH_WIDTH = 4

/** How many bits of `how` are the width. */
const WIDTH_BITS = 4
const WIDTH_MASK = 15

/** In `RecordLayout.how`: not stored at all, and the value is that in `reference`. */
export const BY_DEFAULT = DEFAULT << WIDTH_BITS

/** In `how`: stored as it is, in no bytes. */
const NOTHING = NONE << WIDTH_BITS

/**
 * How the records of one type are laid out at a place of the trace, as compiled code needs it: the DTD's layout and
 * what metadata made of it, ready for loops. Leaves go by their positions. It is about records that are nothing but
 * numbers of fixed width and bytes with their lengths; where metadata makes more of them, and where the trace had none
 * of them so far, `length` is too large for any input, so that loops leave them to the reader for all records.
 */
export class RecordLayout {
  /** Bytes of a record, but for bytes of variable length. */
  length = ELSEWHERE
  /** The set of the fields that events have, but for bytes that may be empty. */
  fields = 0
  /** The set of the fields that decide whether an event can be written by a loop. */
  decisive = 0
  /** Those of them that it must have; what no event has if loops leave the record to the writer for all. */
  present = -1
  /** Whether delta or stride go on from the values, which `keep` is to be told then. */
  isMoving = false
  /**
   * How each number is stored. 0: not at all, and events do not have it. 1 to 8: as it is, in so many bytes.
   * `BY_DEFAULT`. All else is for `read` and `write` to know.
   */
  readonly how: Uint8Array
  /** Where each leaf begins in the record if all bytes of variable length before it are empty. */
  readonly offset: Int32Array
  /** How many bytes each leaf has; negative for those of variable length. */
  width: Int32Array
  /** As a pair of words for each number: its base, its default, or what counts as the value before. */
  reference: Uint32Array = new Uint32Array(0)
  private state: RecordState | undefined
  private seen = -1
  private readonly pair = new Uint32Array(2)

  /** @param unwritable the set of the fields that events must not have, lest something is lost */
  constructor(
    private readonly mapping: RecordMapping,
    private readonly unwritable: number,
  ) {
    const { length } = mapping.leaves
    this.how = new Uint8Array(length)
    this.offset = new Int32Array(length)
    this.width = new Int32Array(length)
  }

  /** Takes in what metadata has changed. Without a state, the trace had no such record, nor metadata for it. */
  refresh(state: RecordState | undefined): void {
    if (state === undefined || (state === this.state && state.changes === this.seen)) return
    this.state = state
    this.seen = state.changes
    this.width = state.width
    this.reference = state.reference
    this.fields = this.mapping.given
    this.decisive = this.unwritable
    this.present = 0
    this.isMoving = false
    this.length = this.measure(state)
    if (this.length !== ELSEWHERE) return
    this.decisive = 0
    this.present = -1
  }

  private measure(state: RecordState): number {
    let at = 0
    let variable = 0
    for (let p = 0; p < this.how.length; p++) {
      this.offset[p] = at
      const width = state.width[p] as number
      const isGood = state.program.isBytes[p] === 1 ? this.takeBytes(state, p) : this.takeNumber(state, p)
      if (!isGood) return ELSEWHERE
      if (width < 0) variable++
      else at += width
    }
    return at + variable * MAX_BYTES > MAX_RECORD ? ELSEWHERE : at
  }

  private takeBytes({ width, program }: RecordState, p: number): boolean {
    const leaf = this.mapping.leaves[p] as RecordMapping['leaves'][number]
    const bytes = width[p] as number
    // With another width than that of its length, the length is a value of its own.
    if (bytes > MAX_BYTES || ((program.width[p] as number) < 0 && bytes !== program.width[p])) return false
    const bit = 1 << leaf.field
    const isAlways = bytes > 0 || !isOptional(leaf)
    if (isAlways) this.fields |= bit
    if (isAlways) this.present |= bit
    if (isAlways || bytes === 0) this.decisive |= bit
    return true
  }

  private takeNumber(state: RecordState, p: number): boolean {
    const { field, role, silent } = this.mapping.leaves[p] as RecordMapping['leaves'][number]
    const mode = state.mode[p] as number
    const width = state.width[p] as number
    const bit = field < 0 ? 0 : 1 << field
    this.decisive |= bit
    if (silent && state.touched[p] === 0) {
      this.how[p] = 0
      return true
    }
    const isPlain = mode === NONE || mode === SECTION_OFFSET
    if (role === 'counted') {
      this.how[p] = width
      return isPlain && width > 0 && width <= MAX_LENGTH_WIDTH
    }
    if (width < 0 || mode === SECTION_STRIDE || (field < 0 && role === 'value')) return false
    this.how[p] = isPlain ? width || NOTHING : (mode << WIDTH_BITS) | width
    this.fields |= bit
    this.present |= bit
    this.isMoving ||= mode === DELTA || mode === STRIDE
    return true
  }

  /** The number of bytes that leaf p, whose first byte is at `at`, is the length of. */
  readLength(p: number, view: DataView, at: number, little: boolean): number {
    switch (this.how[p]) {
      case 1:
        return view.getUint8(at)
      case 2:
        return view.getUint16(at, little)
      case 3:
        return little
          ? view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
          : (view.getUint8(at) << 16) | view.getUint16(at + 1)
      default:
        return view.getUint32(at, little)
    }
  }

  /**
   * Writes the length of bytes as leaf p at `at`. Returns the position behind it, or -1 if it has no room for the
   * length.
   */
  writeLength(p: number, length: number, view: DataView, at: number, little: boolean): number {
    const { pair } = this
    const width = this.how[p] as number
    pair[LO] = length
    pair[HI] = 0
    if (!fits(pair, 0, width, false)) return -1
    writeNumber(bytesOf(view), at, width, little, pair, 0)
    return at + width
  }

  /**
   * Reads the number of leaf p at `at` into the pair of words at `words[index]`. What delta and stride go on from stays
   * as it is.
   *
   * @returns the position behind it
   */
  read(p: number, view: DataView, at: number, little: boolean, words: Uint32Array, index: number): number {
    const how = this.how[p] as number
    const width = how & WIDTH_MASK
    let lo = 0
    let hi = 0
    switch (width) {
      case 0:
        break
      case 1:
        lo = view.getUint8(at)
        break
      case 2:
        lo = view.getUint16(at, little)
        break
      case 4:
        lo = view.getUint32(at, little)
        break
      case 8:
        lo = view.getUint32(little ? at : at + 4, little)
        hi = view.getUint32(little ? at + 4 : at, little)
        break
      default:
        // From the most significant byte on.
        for (let i = 0; i < width; i++) {
          hi = (hi << 8) | (lo >>> 24)
          lo = (lo << 8) | view.getUint8(little ? at + width - 1 - i : at + i)
        }
    }
    words[index + LO] = lo
    words[index + HI] = hi
    if (how >= NOTHING) this.interpret(p, how, words, index)
    return at + width
  }

  private interpret(p: number, how: number, words: Uint32Array, index: number): void {
    const { reference, stride } = this.state as RecordState
    switch (how >> WIDTH_BITS) {
      case BASE_OFFSET:
      case DELTA:
        extendSign(words, index, how & WIDTH_MASK)
        addPair(words, index, reference, 2 * p)
        break
      case DEFAULT:
        words[index] = reference[2 * p] as number
        words[index + 1] = reference[2 * p + 1] as number
        break
      case STRIDE:
        words[index] = stride[2 * p] as number
        words[index + 1] = stride[2 * p + 1] as number
        addPair(words, index, reference, 2 * p)
        break
      default:
    }
  }

  /**
   * Writes the number in the pair of words at `words[index]` as leaf p at `at`. What delta and stride go on from stays
   * as it is.
   *
   * @returns the position behind it, or -1 if the layout has no room for the number
   */
  write(p: number, view: DataView, at: number, little: boolean, words: Uint32Array, index: number): number {
    const how = this.how[p] as number
    const width = how & WIDTH_MASK
    const mode = how >> WIDTH_BITS
    let from = words
    let i = index
    if (mode > NONE) {
      const { pair } = this
      const { reference, stride } = this.state as RecordState
      from = pair
      i = 0
      pair[0] = words[index] as number
      pair[1] = words[index + 1] as number
      subtractPair(pair, 0, reference, 2 * p)
      if (mode === STRIDE) return samePair(pair, 0, stride, 2 * p) ? at : -1
    }
    if (!fits(from, i, width, mode === BASE_OFFSET || mode === DELTA)) return -1
    const lo = from[i + LO] as number
    switch (width) {
      case 0:
        break
      case 1:
        view.setUint8(at, lo)
        break
      case 2:
        view.setUint16(at, lo, little)
        break
      case 4:
        view.setUint32(at, lo, little)
        break
      case 8:
        view.setUint32(little ? at : at + 4, lo, little)
        view.setUint32(little ? at + 4 : at, from[i + HI] as number, little)
        break
      default:
        writeNumber(bytesOf(view), at, width, little, from, i)
    }
    return at + width
  }

  /**
   * Notes the value of leaf p, in the pair of words at `words[index]`, if delta or stride go on from it: its record is
   * whole.
   */
  keep(p: number, words: Uint32Array, index: number): void {
    const state = this.state as RecordState
    if (!state.moves(p)) return
    state.reference[2 * p] = words[index] as number
    state.reference[2 * p + 1] = words[index + 1] as number
  }
}

function bytesOf(view: DataView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}
