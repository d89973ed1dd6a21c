import * as Code from '../../../../lib/kernel/layouts/hatf.js'
import { HI, LO, WORD } from '../../../../lib/bytes/u64.js'
import type { FieldStates } from '../fields.js'
import { Given, type Records } from '../records.js'

/** What `Occurrences.traits` says besides which widths fit: bits above those of the width codes. */
export const Trait = {
  /** The value is that of the occurrence before. */
  same: 1 << 11,
  /** The value is as far from the one before as that one was from its own predecessor. */
  steady: 1 << 12,
  /** The second address of a realloc record: no metadata can come before it. */
  tied: 1 << 13,
} as const

/** Values further from the origin than so many times 2^32 are not exact in a double, and count as out of reach. */
const REACH = 1 << 20

/** Which bit of `Records.given` says that a field is there; 0 for those that every record of their kind has. */
const GIVEN = Uint8Array.of(0, 0, Given.time, Given.thread, Given.heap, 0)

/** The tags of records with each of the fields, as sets of bits. */
const BLOCKS = bits(Code.TAG_ALLOC, Code.TAG_REALLOC_FREED) & ~(1 << Code.TAG_FREE)
const TAGS = Int32Array.of(
  BLOCKS,
  bits(Code.TAG_ALLOC, Code.TAG_REALLOC_FREED),
  bits(Code.TAG_ALLOC, Code.TAG_DESTROY_THREAD),
  bits(Code.TAG_ALLOC, Code.TAG_DESTROY_THREAD),
  bits(Code.TAG_ALLOC, Code.TAG_DESTROY_HEAP),
  bits(Code.TAG_ALLOC, Code.TAG_DESTROY_THREAD),
)

/**
 * All occurrences of one field in a window of records, in the order in which they are written: what a layout has to be
 * found for. The arrays are used again for the next window.
 */
export class Occurrences {
  /** How many there are. Until the field's first value is given there are none. */
  count = 0
  /** Per occurrence, the index of its record. */
  record = new Uint32Array(0)
  /** Per occurrence, bit w for each width code w that it fits, and bits of `Trait`. */
  traits = new Uint16Array(0)
  /** Per occurrence, the value (of attributes, the length) as a pair of words. */
  words = new Uint32Array(0)
  /**
   * Occurrence i has its distance from the origin at `distance[i + 2]`, NaN where that is out of reach. Before them are
   * the values before the window, where the present layout goes by those. Attributes have none.
   */
  distance = new Float64Array(2)
  /** The high word of the origin; its low word is 0, so that round distances are round values. */
  originHi = 0

  /** @param field the field's code */
  constructor(private readonly field: number) {}

  /** Finds the field's occurrences in a window of records. */
  gather(records: Records, fields: FieldStates): void {
    const { field } = this
    const first = (fields.touched >>> field) & 1 ? 0 : this.firstGiven(records)
    this.reserve(field === Code.F_ADDRESS ? 2 * (records.count - first) : records.count - first)
    this.collect(records, first)
    if (this.count === 0) return
    if (field === Code.F_ATTRIBUTES) this.measureLengths()
    else this.measureValues(fields)
  }

  /** The distance of a value from the origin. */
  distanceOf(lo: number, hi: number): number {
    const upper = (hi - this.originHi) | 0
    return upper > -REACH && upper < REACH ? upper * WORD + lo : NaN
  }

  private firstGiven(records: Records): number {
    const { count, given, dataEnd, tag } = records
    const bit = GIVEN[this.field]
    let r = 0
    if (bit !== 0) while (r < count && (given[r] & bit) === 0) r++
    else if (this.field === Code.F_ATTRIBUTES) {
      while (r < count && (dataEnd[r] === records.dataStart(r) || tag[r] === Code.TAG_COMMENT)) r++
    }
    return r
  }

  private reserve(n: number): void {
    if (this.record.length >= n) return
    this.record = new Uint32Array(n)
    this.traits = new Uint16Array(n)
    this.words = new Uint32Array(2 * n)
    this.distance = new Float64Array(n + 2)
  }

  private collect(records: Records, first: number): void {
    const { record, traits, words, field } = this
    const { count, tag: tagOf, dataEnd } = records
    const tags = TAGS[field]
    const column = columnOf(records, field)
    const { oldAddress } = records
    const isAddress = field === Code.F_ADDRESS
    let n = 0
    for (let r = first; r < count; r++) {
      const tag = tagOf[r]
      if (((tags >>> tag) & 1) === 0) continue
      record[n] = r
      traits[n] = 0
      if (column === undefined) {
        words[2 * n + LO] = dataEnd[r] - records.dataStart(r)
        n++
        continue
      }
      if (isAddress && tag >= Code.TAG_REALLOC_NONE) {
        words[2 * n] = oldAddress[2 * r]
        words[2 * n + 1] = oldAddress[2 * r + 1]
        n++
        record[n] = r
        traits[n] = Trait.tied
      }
      words[2 * n] = column[2 * r]
      words[2 * n + 1] = column[2 * r + 1]
      n++
    }
    this.count = n
  }

  private measureLengths(): void {
    const { count, traits, words } = this
    for (let i = 0; i < count; i++) {
      const length = words[2 * i + LO]
      let fits = (length <= 0xff ? 1 << Code.V1 : 0) | (1 << Code.V2)
      if (length === 0 || length === 1 || length === 2 || length === 4 || length === 8) fits |= 1 << length
      traits[i] = fits
    }
  }

  private measureValues(fields: FieldStates): void {
    const { count, traits, words, distance, field } = this
    const originHi = (this.originHi = words[HI])
    this.recall(fields, field)
    let before = distance[1]
    let step = before - distance[0]
    for (let i = 0; i < count; i++) {
      const lo = words[2 * i + LO]
      const hi = words[2 * i + HI]
      let set = traits[i] | FITS_8
      if (hi === 0) set |= lo > 0xffff ? FITS_4 : lo > 0xff ? FITS_2 : lo > 0 ? FITS_1 : FITS_0
      const here = hi === originHi ? lo : this.distanceOf(lo, hi)
      if (here === before) set |= Trait.same
      if (here - before === step) set |= Trait.steady
      step = here - before
      traits[i] = set
      distance[i + 2] = before = here
    }
  }

  /** The values before the window, as far as the present layout goes by them. */
  private recall(fields: FieldStates, field: number): void {
    const { distance } = this
    const interpretation = fields.interpretation[field]
    distance[0] = distance[1] = NaN
    if (interpretation === Code.NONE || interpretation === Code.BASE_OFFSET) return
    const refLo = fields.reference[2 * field + LO]
    const refHi = fields.reference[2 * field + HI]
    distance[1] = this.distanceOf(refLo, refHi)
    if (interpretation !== Code.STRIDE) return
    const strideLo = fields.stride[2 * field + LO]
    const strideHi = fields.stride[2 * field + HI]
    distance[0] = this.distanceOf((refLo - strideLo) >>> 0, (refHi - strideHi - (refLo < strideLo ? 1 : 0)) >>> 0)
  }
}

const FITS_8 = 1 << 8
const FITS_4 = 1 << 4
const FITS_2 = (1 << 2) | FITS_4
const FITS_1 = (1 << 1) | FITS_2
const FITS_0 = (1 << 0) | FITS_1

function bits(first: number, last: number): number {
  return (2 << last) - (1 << first)
}

/** The column of a numeric field; undefined for attributes. */
function columnOf(records: Records, field: number): Uint32Array | undefined {
  const { size, address, time, thread, heap } = records
  return [size, address, time, thread, heap][field]
}
