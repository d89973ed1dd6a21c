import { ALL_FIELDS } from '../../event/fields.js'

/** With more masks than this in a batch, fields are not compared. */
const MAX_COMPARED = 8

/** Which events have a field: a bit for each event, and how many there are. */
export interface Presence {
  readonly words: Uint32Array
  readonly count: number
}

/**
 * Which events of a batch have which fields. Few batches have more than three different masks, so most fields are in
 * all events, in none, or in the same ones as another field; the bits are gathered once for all of these.
 */
export class Presences {
  /** The fields that some events have. */
  some = 0
  /** The fields that all events have. */
  all = 0
  private masks: Uint32Array = new Uint32Array(0)
  /** The different masks, as far as they are compared. */
  private readonly distinct = new Uint32Array(MAX_COMPARED)
  private compared = 0
  private readonly found = new Map<number, Presence>()
  /** Memory for words, of one batch after the other. */
  private readonly spares: Uint32Array[] = []

  /** @param masks of the events of another batch */
  read(masks: Uint32Array): void {
    this.masks = masks
    this.found.clear()
    this.compare()
    if (masks.length === 0) {
      this.some = this.all = 0
      return
    }
    let some = 0
    let all = ALL_FIELDS
    const { distinct, compared } = this
    const few = compared <= MAX_COMPARED ? distinct.subarray(0, compared) : masks
    for (let i = 0; i < few.length; i++) {
      some |= few[i]
      all &= few[i]
    }
    this.some = some & ALL_FIELDS
    this.all = all
  }

  /** Which events have a field. Valid until the next batch is read. */
  of(f: number): Presence {
    const key = this.compared <= MAX_COMPARED ? this.signature(f) : -1 - f
    let presence = this.found.get(key)
    if (presence === undefined) this.found.set(key, (presence = this.gather(f)))
    return presence
  }

  /** Finds the different masks. */
  private compare(): void {
    const { masks, distinct } = this
    let compared = 0
    // Most masks are one of two, in no order that could be predicted, so there is one branch for both.
    let first = 0
    let second = 0
    for (let i = 0; i < masks.length; i++) {
      const mask = masks[i]
      const one = mask ^ first
      const two = mask ^ second
      if (compared > 0 && ((one | -one) & (two | -two)) >= 0) continue
      let known = 0
      while (known < compared && distinct[known] !== mask) known++
      if (known < compared) continue
      if (compared === MAX_COMPARED) {
        compared++
        break
      }
      distinct[compared++] = mask
      if (compared === 1) first = second = mask
      if (compared === 2) second = mask
    }
    this.compared = compared
  }

  /** A number that is the same for fields that the same events have. */
  private signature(f: number): number {
    let signature = 0
    for (let i = 0; i < this.compared; i++) signature |= ((this.distinct[i] >>> f) & 1) << i
    return signature
  }

  private gather(f: number): Presence {
    const { masks } = this
    const n = masks.length
    const words = this.room(Math.ceil(n / 32))
    let count = 0
    for (let at = 0, w = 0; at < n; at += 32, w++) {
      const end = Math.min(32, n - at)
      let word = 0
      for (let j = 0; j < end; j++) word |= ((masks[at + j] >>> f) & 1) << j
      words[w] = word
      count += countBits(word)
    }
    return { words, count }
  }

  private room(length: number): Uint32Array {
    const i = this.found.size
    let spare = this.spares[i]
    if (spare === undefined || spare.length < length) this.spares[i] = spare = new Uint32Array(length)
    return spare.subarray(0, length)
  }
}

function countBits(word: number): number {
  word -= (word >>> 1) & 0x5555_5555
  word = (word & 0x3333_3333) + ((word >>> 2) & 0x3333_3333)
  return Math.imul((word + (word >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
