import { hashWord } from './hash.js'
import { HI, LO } from './u64.js'

/**
 * A hash table from 64-bit keys to a fixed number of 32-bit words. Open addressing with linear probing and
 * backward-shift deletion in two typed arrays: 12 + 4 * `width` bytes per slot, and no object per entry. It grows at a
 * load of 5/8 and never shrinks.
 */
export class U64Map {
  /** The number of entries. */
  size = 0
  /** The values: slot s has its words at `values[s * width ...]`. Replaced when the table grows. */
  values: Uint32Array
  private keys: Uint32Array
  private used: Uint8Array
  private slotMask: number

  /** @param width 32-bit words of value per entry (may be 0, for a set) */
  constructor(
    readonly width: number,
    slots = 1024,
  ) {
    this.slotMask = slots - 1
    this.keys = new Uint32Array(slots * 2)
    this.values = new Uint32Array(slots * width)
    this.used = new Uint8Array(slots)
  }

  /** The key's slot, or -1. */
  find(lo: number, hi: number): number {
    const { keys, used, slotMask } = this
    let slot = hashOf(lo, hi) & slotMask
    while (used[slot] === 1) {
      if (keys[slot * 2 + LO] === lo >>> 0 && keys[slot * 2 + HI] === hi >>> 0) return slot
      slot = (slot + 1) & slotMask
    }
    return -1
  }

  /** The key's slot, created with zero values if the key is new. Slots found before may have moved. */
  add(lo: number, hi: number): number {
    if ((this.size + 1) * 8 > (this.slotMask + 1) * 5) this.grow()
    const { keys, used, slotMask } = this
    let slot = hashOf(lo, hi) & slotMask
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
    return slot
  }

  /** Removes the entry in a slot that `find` returned. Other slots may move. */
  remove(slot: number): void {
    const { keys, values, used, slotMask, width } = this
    let hole = slot
    let next = (hole + 1) & slotMask
    while (used[next] === 1) {
      const home = hashOf(keys[next * 2 + LO], keys[next * 2 + HI]) & slotMask
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

  /** Removes all entries. */
  clear(): void {
    this.used.fill(0)
    this.size = 0
  }

  /** Calls `visit` with the slot of every entry, in no particular order. `visit` must not change the map. */
  forEach(visit: (slot: number) => void): void {
    for (let slot = 0; slot <= this.slotMask; slot++) if (this.used[slot] === 1) visit(slot)
  }

  private grow(): void {
    const bigger = new U64Map(this.width, (this.slotMask + 1) * 2)
    for (let slot = 0; slot <= this.slotMask; slot++) {
      if (this.used[slot] !== 1) continue
      const to = bigger.add(this.keys[slot * 2 + LO], this.keys[slot * 2 + HI])
      for (let w = 0; w < this.width; w++) bigger.values[to * this.width + w] = this.values[slot * this.width + w]
    }
    this.keys = bigger.keys
    this.values = bigger.values
    this.used = bigger.used
    this.slotMask = bigger.slotMask
  }
}

function hashOf(lo: number, hi: number): number {
  return hashWord(hashWord(0, lo), hi)
}
