import { HI, LO } from '../bytes/u64.js'
import { U64Map } from '../bytes/u64-map.js'
import type { EventBatch, U64Column } from '../event/batch.js'
import { Has, Kind, Outcome } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import { endsBlock } from './block-keys.js'

const HAS_ADDRESS = Has.address
const HAS_OLD_ADDRESS = Has.oldAddress
const HAS_INDEX = Has.index
const HAS_OUTCOME = Has.outcome
const ALLOC = Kind.alloc
const FREE = Kind.free
const REALLOC = Kind.realloc
const EXISTING = Kind.existing
const STAYED = Outcome.none
const ALLOCATED = Outcome.allocated

/**
 * Follows blocks from their allocation to their end, so that the events of a block, of which the later ones say little
 * about it, can share a label: frees carry no size and no site.
 *
 * A block's identity is its allocation index where an event has one (mpatrol's are never reused, and its frees have
 * nothing else), and its address otherwise. The null address is no block. An allocation begins a block, also one at an
 * address that is still live. A realloc goes on with the old block, wherever it moved; one that failed (a size but no
 * new address) leaves it where it was. The blocks of one trace are not those of the next: a new header forgets all of
 * them.
 *
 * HATF records the malloc and the free inside a realloc before the realloc itself. So a realloc also goes on with the
 * block freed last at its old address, or allocated last at its new one, if no other labelled call came in between.
 *
 * Memory grows with the number of labelled live blocks: 21 to 42 bytes for each of the most there were at a time.
 */
export class Lifetimes {
  private readonly byAddress = new U64Map(1)
  private readonly byIndex = new U64Map(1)
  private header: TraceHeader | undefined
  /** The address that was freed last, null for none, and its block's label. */
  private freedLo = 0
  private freedHi = 0
  private freedLabel = 0
  /** The address that was allocated last, null for none. */
  private allocatedLo = 0
  private allocatedHi = 0

  /** How many labelled blocks are live. */
  get size(): number {
    return this.byAddress.size + this.byIndex.size
  }

  /**
   * Gives the later events of labelled blocks the label of their allocation, in place.
   * @param labels per event of the batch the label that it has by itself; blocks that begin with label 0 are not
   *   followed
   */
  follow(batch: EventBatch, labels: Uint32Array): void {
    if (batch.header !== this.header) this.begin(batch.header)
    const { kind, mask, count } = batch
    const index = batch.index.words
    for (let i = 0; i < count; i++) {
      // The kinds that are about a block are the first four.
      if ((kind[i] as number) > EXISTING) continue
      if (((mask[i] as number) & HAS_INDEX) !== 0) {
        this.followIndex(batch, labels, i, index[2 * i + LO] as number, index[2 * i + HI] as number)
      } else {
        this.followAddress(batch, labels, i)
      }
    }
  }

  private begin(header: TraceHeader): void {
    this.header = header
    this.byAddress.clear()
    this.byIndex.clear()
    this.freedLo = this.freedHi = this.freedLabel = 0
    this.allocatedLo = this.allocatedHi = 0
  }

  private followIndex(batch: EventBatch, labels: Uint32Array, i: number, lo: number, hi: number): void {
    const map = this.byIndex
    const kind = batch.kind[i] as number
    if (kind === FREE || kind === REALLOC) {
      const slot = map.find(lo, hi)
      if (slot >= 0) {
        labels[i] = map.values[slot] as number
        if (kind === FREE || endsBlock(batch, i)) map.remove(slot)
        return
      }
      if (kind === FREE || endsBlock(batch, i)) return
    }
    store(map, lo, hi, labels[i] as number)
  }

  private followAddress(batch: EventBatch, labels: Uint32Array, i: number): void {
    const mask = batch.mask[i] as number
    const map = this.byAddress
    const lo = word(batch.address, i, LO, mask, HAS_ADDRESS)
    const hi = word(batch.address, i, HI, mask, HAS_ADDRESS)
    switch (batch.kind[i]) {
      case ALLOC:
      case EXISTING:
        if ((lo | hi) === 0) return
        this.place(lo, hi, labels[i] as number)
        if (labels[i] !== 0) {
          this.allocatedLo = lo
          this.allocatedHi = hi
        }
        return
      case FREE: {
        const slot = map.find(lo, hi)
        if (slot < 0) return
        labels[i] = map.values[slot] as number
        map.remove(slot)
        this.freedLo = lo
        this.freedHi = hi
        this.freedLabel = labels[i] as number
        return
      }
      case REALLOC: {
        const outcome = (mask & HAS_OUTCOME) !== 0 ? (batch.outcome[i] as number) : -1
        const hasOld = outcome === ALLOCATED ? 0 : HAS_OLD_ADDRESS
        const oldLo = word(batch.oldAddress, i, LO, mask, hasOld)
        const oldHi = word(batch.oldAddress, i, HI, mask, hasOld)
        const slot = map.find(oldLo, oldHi)
        const label = slot >= 0 ? (map.values[slot] as number) : this.nested(lo, hi, oldLo, oldHi)
        if (label !== 0) labels[i] = label
        if (endsBlock(batch, i)) {
          if (slot >= 0) map.remove(slot)
        } else if ((lo | hi) !== 0) {
          if (slot >= 0) map.remove(slot)
          this.place(lo, hi, labels[i] as number)
        } else if (outcome === STAYED && (oldLo | oldHi) !== 0) {
          this.place(oldLo, oldHi, labels[i] as number)
        }
      }
    }
  }

  /** A block is at an address from now on, so that what was freed there is no longer meant by it. */
  private place(lo: number, hi: number, label: number): void {
    store(this.byAddress, lo, hi, label)
    if (lo === this.freedLo && hi === this.freedHi) this.freedLabel = 0
  }

  /**
   * The label of the block whose malloc or free inside this realloc was recorded just before it; 0 if there was none.
   */
  private nested(lo: number, hi: number, oldLo: number, oldHi: number): number {
    if ((lo | hi) !== 0 && lo === this.allocatedLo && hi === this.allocatedHi) {
      const slot = this.byAddress.find(lo, hi)
      if (slot >= 0) return this.byAddress.values[slot] as number
    }
    return (oldLo | oldHi) !== 0 && oldLo === this.freedLo && oldHi === this.freedHi ? this.freedLabel : 0
  }
}

function word(column: U64Column, i: number, half: 0 | 1, mask: number, has: number): number {
  return (mask & has) !== 0 ? (column.words[2 * i + half] as number) : 0
}

/** Makes a block live under its label; without one, whatever was live there is no more. */
function store(map: U64Map, lo: number, hi: number, label: number): void {
  let slot = map.find(lo, hi)
  if (label === 0) {
    if (slot >= 0) map.remove(slot)
    return
  }
  if (slot < 0) slot = map.add(lo, hi)
  map.values[slot] = label
}
