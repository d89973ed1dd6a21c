import { U64Map } from '../../../lib/bytes/u64-map.js'
import { HI, LO } from '../../../lib/bytes/u64.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import { Has, Kind, Outcome } from '../../../lib/event/fields.js'
import { RECORD } from '../../../lib/formats/mtrc/layout.js'

const HAS_ADDRESS = Has.address
const HAS_OLD_ADDRESS = Has.oldAddress
const HAS_SIZE = Has.size
const HAS_OUTCOME = Has.outcome
const { alloc: A, free: F, realloc: R } = RECORD

/** What `BlockIndices.assign` gives for an event that has no record. */
export const LEFT_OUT = 0

/**
 * Gives allocation indices to events that have none, for traces from other formats: 1, 2, 3 ... as blocks are made.
 * Memory grows with the number of blocks that are live at once.
 */
export class BlockIndices {
  /** The index that `assign` chose. */
  lo = 0
  hi = 0
  /** What `assign` changed, or why it left the event out; undefined when the record says all that the event says. */
  reason: string | undefined
  private nextLo = 1
  private nextHi = 0
  /** From a live block's address to its index. */
  private readonly live = new U64Map(2)

  /** Another trace begins. */
  clear(): void {
    this.live.clear()
    this.nextLo = 1
    this.nextHi = 0
  }

  /** Keeps clear of an index that an event brought with it. */
  passOver(lo: number, hi: number): void {
    if (hi < this.nextHi || (hi === this.nextHi && lo < this.nextLo)) return
    this.nextLo = (lo + 1) >>> 0
    this.nextHi = (this.nextLo === 0 ? hi + 1 : hi) >>> 0
  }

  /**
   * Finds the record for an alloc, existing, realloc or free without an index, and sets `lo`, `hi` and `reason`.
   * @returns the record's type, or `LEFT_OUT`
   */
  assign(batch: EventBatch, i: number): number {
    this.reason = undefined
    const fields = batch.mask[i] as number
    const known = (fields & HAS_ADDRESS) !== 0
    const lo = known ? (batch.address.words[2 * i + LO] as number) : 0
    const hi = known ? (batch.address.words[2 * i + HI] as number) : 0
    switch (batch.kind[i]) {
      case Kind.free:
        return this.free(lo, hi)
      case Kind.realloc:
        return this.realloc(batch, i, lo, hi)
      case Kind.existing:
        return this.alloc(lo, hi, 'existing blocks, written as allocs')
      default:
        return this.alloc(lo, hi)
    }
  }

  private alloc(lo: number, hi: number, reason?: string): number {
    if ((lo | hi) === 0) return this.leaveOut('allocs without an address')
    this.reason = reason
    this.lo = this.nextLo
    this.hi = this.nextHi
    this.passOver(this.lo, this.hi)
    this.put(lo, hi)
    return A
  }

  private free(lo: number, hi: number, reason?: string): number {
    if ((lo | hi) === 0) return this.leaveOut('frees of null')
    if (!this.take(lo, hi)) return this.leaveOut('frees of unknown blocks')
    this.reason = reason
    return F
  }

  private realloc(batch: EventBatch, i: number, lo: number, hi: number): number {
    const fields = batch.mask[i] as number
    const outcome = (fields & HAS_OUTCOME) !== 0 ? batch.outcome[i] : undefined
    const from = (fields & HAS_OLD_ADDRESS) !== 0 && outcome !== Outcome.allocated
    const oldLo = from ? (batch.oldAddress.words[2 * i + LO] as number) : 0
    const oldHi = from ? (batch.oldAddress.words[2 * i + HI] as number) : 0
    const gone = (lo | hi) === 0 || outcome === Outcome.freed
    if ((oldLo | oldHi) === 0) {
      return gone
        ? this.leaveOut('reallocs of null to null')
        : this.alloc(lo, hi, 'reallocs of null, written as allocs')
    }
    if (gone) {
      const { words } = batch.size
      const something = (fields & HAS_SIZE) !== 0 && (words[2 * i] !== 0 || words[2 * i + 1] !== 0)
      // A null result for a size other than 0 means that there was no memory: the old block lives on.
      if (something && outcome !== Outcome.freed) return this.leaveOut('failed reallocs')
      return this.free(oldLo, oldHi, 'reallocs to nothing, written as frees')
    }
    if (!this.take(oldLo, oldHi)) return this.alloc(lo, hi, 'reallocs of unknown blocks, written as allocs')
    this.put(lo, hi)
    return R
  }

  private leaveOut(reason: string): number {
    this.reason = reason
    return LEFT_OUT
  }

  /** The block at this address has the index `lo`, `hi`. */
  private put(addressLo: number, addressHi: number): void {
    const slot = this.live.add(addressLo, addressHi)
    this.live.values[2 * slot] = this.lo
    this.live.values[2 * slot + 1] = this.hi
  }

  /** Forgets the block at this address and sets `lo` and `hi` to its index. @returns false when there is none */
  private take(addressLo: number, addressHi: number): boolean {
    const slot = this.live.find(addressLo, addressHi)
    if (slot < 0) return false
    this.lo = this.live.values[2 * slot] as number
    this.hi = this.live.values[2 * slot + 1] as number
    this.live.remove(slot)
    return true
  }
}
