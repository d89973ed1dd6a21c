import { ALL_FIELDS } from '../../event/fields.js'
import { countBits } from '../../event/storage.js'

/** The events that have a field: a bit for each event, and their number. */
export interface Presence {
  readonly words: Uint32Array
  readonly count: number
}

/** Fields that are present in the same events. */
interface Group extends Presence {
  readonly fields: number
}

/**
 * Which events of a batch have which fields. Few batches have more than three different masks, so most fields are in
 * all events, in none, in the same events as another field, or in exactly the other ones. The bits are gathered once
 * for all of these.
 */
export class Presences {
  /** The fields that some events have. */
  some = 0
  /** The fields that all events have. */
  all = 0
  private masks: Uint32Array = new Uint32Array(0)
  private groups: Group[] = []
  /** Memory for words, reused for each batch. */
  private readonly spares: Uint32Array[] = []
  private readonly found = new Uint32Array(2)

  /** @param masks of the events of another batch */
  read(masks: Uint32Array): void {
    this.masks = masks
    if (this.groups.length > 0) this.groups = []
    if (masks.length === 0) {
      this.some = this.all = 0
      return
    }
    unite(masks, this.found)
    this.some = this.found[0] & ALL_FIELDS
    this.all = this.found[1] & ALL_FIELDS
  }

  /** Which events have a field. Valid until the next batch is read. */
  of(f: number): Presence {
    const { groups } = this
    for (let g = 0; g < groups.length; g++) if (((groups[g].fields >>> f) & 1) !== 0) return groups[g]
    return this.gather(f)
  }

  private gather(f: number): Presence {
    const { masks, groups, found } = this
    const words = this.room(groups.length)
    const count = gatherBits(masks, f, words, found)
    const group = { fields: ~found[0], words, count }
    groups.push(group)
    const opposite = found[1]
    if (opposite !== 0) groups.push({ fields: opposite, words: this.inverse(words), count: masks.length - count })
    return group
  }

  /** The events that do not have a bit in `words`. */
  private inverse(words: Uint32Array): Uint32Array {
    const inverse = this.room(this.groups.length)
    for (let w = 0; w < inverse.length; w++) inverse[w] = ~words[w]
    const rest = this.masks.length & 31
    if (rest !== 0) inverse[inverse.length - 1] &= (1 << rest) - 1
    return inverse
  }

  private room(i: number): Uint32Array {
    const length = Math.ceil(this.masks.length / 32)
    let spare = this.spares[i]
    if (spare === undefined || spare.length < length) this.spares[i] = spare = new Uint32Array(length)
    return spare.subarray(0, length)
  }
}

/** Stores in `found` the fields of any mask, and the fields of all masks. */
function unite(masks: Uint32Array, found: Uint32Array): void {
  let some = 0
  let all = -1
  for (let i = 0; i < masks.length; i++) {
    const mask = masks[i]
    some |= mask
    all &= mask
  }
  found[0] = some
  found[1] = all
}

/**
 * Gathers bit `f` of the masks. Stores in `found` the fields of any other event, and the fields of all other events.
 * @returns the number of masks with the bit
 */
function gatherBits(masks: Uint32Array, f: number, words: Uint32Array, found: Uint32Array): number {
  const n = masks.length
  let count = 0
  let others = 0
  let opposite = -1
  for (let at = 0, w = 0; at < n; at += 32, w++) {
    const end = Math.min(32, n - at)
    let word = 0
    for (let j = 0; j < end; j++) {
      const mask = masks[at + j]
      const bit = (mask >>> f) & 1
      word |= bit << j
      // Words with all bits opposite to this one.
      const unlike = mask ^ -bit
      others |= unlike
      opposite &= unlike
    }
    words[w] = word
    count += countBits(word)
  }
  found[0] = others
  found[1] = opposite
  return count
}
