import { hashWord } from './hash.js'
import { HI, LO } from './u64.js'

/** The distance of a key from its own slot, in slots, beyond which the secret is changed. */
const FAR = 256
/** The number of slots of a table, unless another one is given. */
const SLOTS = 1024
const NONE = new Uint8Array(0)

/**
 * A hash table from 64-bit keys to a fixed number of 32-bit words. Open addressing with linear probing and
 * backward-shift deletion in two typed arrays: 12 + 4 * `width` bytes per slot, and no object per entry. It grows at a
 * load of 5/8, and shrinks only when it is cleared of few entries. When a key has to go far, the table is filled again
 * under another secret.
 */
export class U64Map {
  /** The number of entries. */
  size = 0
  /** The values: slot s has its words at `values[s * width ...]`. Replaced when a key is added. */
  values: Uint32Array
  private keys: Uint32Array
  private used: Uint8Array
  private slotMask: number
  /** What hashes begin with, and the number of entries before which it is not changed again. */
  private secret = 0
  private calm = 0

  /** @param width 32-bit words of value per entry (may be 0, for a set) */
  constructor(
    readonly width: number,
    slots = SLOTS,
  ) {
    this.slotMask = slots - 1
    this.keys = new Uint32Array(slots * 2)
    this.values = new Uint32Array(slots * width)
    this.used = new Uint8Array(slots)
  }

  /** The key's slot, or -1. */
  find(lo: number, hi: number): number {
    const { keys, used, slotMask } = this
    let slot = hashOf(this.secret, lo, hi) & slotMask
    while (used[slot] === 1) {
      if (keys[slot * 2 + LO] === lo >>> 0 && keys[slot * 2 + HI] === hi >>> 0) return slot
      slot = (slot + 1) & slotMask
    }
    return -1
  }

  /** The key's slot, created with zero values if the key is new. Slots found before may have moved. */
  add(lo: number, hi: number): number {
    if ((this.size + 1) * 8 > (this.slotMask + 1) * 5) this.refill(2 * (this.slotMask + 1))
    const { keys, used, slotMask } = this
    const home = hashOf(this.secret, lo, hi) & slotMask
    let slot = home
    while (used[slot] === 1) {
      if (keys[slot * 2 + LO] === lo >>> 0 && keys[slot * 2 + HI] === hi >>> 0) return slot
      slot = (slot + 1) & slotMask
    }
    used[slot] = 1
    keys[slot * 2 + LO] = lo
    keys[slot * 2 + HI] = hi
    // A loop is faster than `fill` for few words.
    const { values, width } = this
    for (let w = slot * width; w < (slot + 1) * width; w++) values[w] = 0
    this.size++
    return ((slot - home) & slotMask) > FAR && this.size >= this.calm ? this.changeSecret(lo, hi) : slot
  }

  /** Removes the entry in a slot that `find` returned. Other slots may move. */
  remove(slot: number): void {
    const { keys, values, used, slotMask, width } = this
    let hole = slot
    let next = (hole + 1) & slotMask
    while (used[next] === 1) {
      const home = hashOf(this.secret, keys[next * 2 + LO], keys[next * 2 + HI]) & slotMask
      if (((next - home) & slotMask) >= ((next - hole) & slotMask)) {
        keys[hole * 2] = keys[next * 2]
        keys[hole * 2 + 1] = keys[next * 2 + 1]
        for (let w = 0; w < width; w++) values[hole * width + w] = values[next * width + w]
        hole = next
      }
      next = (next + 1) & slotMask
    }
    used[hole] = 0
    this.size--
  }

  /** Removes all entries, at a cost that their number bounds. */
  clear(): void {
    const { size, used } = this
    if (size === 0) return
    this.size = this.calm = 0
    if (used.length <= SLOTS || 64 * size > used.length) used.fill(0)
    else {
      this.used = NONE
      this.refill(SLOTS)
    }
  }

  /** Calls `visit` with the slot of every entry, in no particular order. `visit` must not change the map. */
  forEach(visit: (slot: number) => void): void {
    for (let slot = 0; slot <= this.slotMask; slot++) if (this.used[slot] === 1) visit(slot)
  }

  /** Fills the table again under another secret. @returns the slot of the key */
  private changeSecret(lo: number, hi: number): number {
    this.calm = 2 * this.size
    this.secret = Math.floor(Math.random() * 2 ** 32)
    this.refill(this.slotMask + 1)
    return this.find(lo, hi)
  }

  /** Moves all entries to this many slots. */
  private refill(slots: number): void {
    const { keys, values, used, width, secret } = this
    this.slotMask = slots - 1
    this.keys = new Uint32Array(slots * 2)
    this.values = new Uint32Array(slots * width)
    this.used = new Uint8Array(slots)
    for (let from = 0; from < used.length; from++) {
      if (used[from] !== 1) continue
      let to = hashOf(secret, keys[from * 2 + LO], keys[from * 2 + HI]) & this.slotMask
      while (this.used[to] === 1) to = (to + 1) & this.slotMask
      this.used[to] = 1
      this.keys[to * 2] = keys[from * 2]
      this.keys[to * 2 + 1] = keys[from * 2 + 1]
      for (let w = 0; w < width; w++) this.values[to * width + w] = values[from * width + w]
    }
  }
}

function hashOf(secret: number, lo: number, hi: number): number {
  return hashWord(hashWord(secret, lo), hi)
}
