import type { Amount, MpatrolStatistics } from './result.js'
import { Sum } from './sums.js'

/** More blocks, or more bytes, are live than ever before: the bits that `Totals.allocation` returns. */
export const NewPeak = { blocks: 1, bytes: 2 } as const

/** Blocks and bytes allocated, freed and live, as mpatrol counts them. A resized block is freed, then allocated. */
export class Totals {
  allocations = 0
  frees = 0
  readonly allocated = new Sum()
  readonly freed = new Sum()
  /** What is live. */
  live = 0
  readonly liveBytes = new Sum()
  peakLive = 0
  readonly peakBytes = new Sum()
  reservations = 0
  readonly reserved = new Sum()
  internals = 0
  readonly internal = new Sum()
  /** mpatrol's smallest size: zero stands for none yet, so that a later size takes its place. */
  private smallestLo = 0
  private smallestHi = 0
  private largestLo = 0
  private largestHi = 0

  /** A block of this size began. @returns a set of `NewPeak` bits */
  allocation(lo: number, hi: number): number {
    this.allocations++
    this.allocated.add(lo, hi)
    this.liveBytes.add(lo, hi)
    if (hi > this.largestHi || (hi === this.largestHi && lo > this.largestLo)) {
      this.largestLo = lo
      this.largestHi = hi
    }
    if (hi < this.smallestHi || (hi === this.smallestHi && lo < this.smallestLo) || (this.smallestLo === 0 && this.smallestHi === 0)) {
      this.smallestLo = lo
      this.smallestHi = hi
    }
    let records = 0
    if (++this.live > this.peakLive) {
      this.peakLive = this.live
      records = NewPeak.blocks
    }
    return this.peakBytes.raise(this.liveBytes) ? records | NewPeak.bytes : records
  }

  /** A block of this size was freed. */
  free(lo: number, hi: number): void {
    this.frees++
    this.freed.add(lo, hi)
    this.vanish(lo, hi)
  }

  /** A block of this size is no more, though nobody freed it. */
  vanish(lo: number, hi: number): void {
    this.live--
    this.liveBytes.subtract(lo, hi)
  }

  /** The allocator took memory from the system, for the program or for itself. */
  reserve(lo: number, hi: number, isInternal: boolean): void {
    if (isInternal) {
      this.internals++
      this.internal.add(lo, hi)
    } else {
      this.reservations++
      this.reserved.add(lo, hi)
    }
  }

  /** A trace ended: nothing is live any more. @returns what was */
  endTrace(): Amount {
    const rest = { blocks: this.live, bytes: this.liveBytes.value }
    this.live = 0
    this.liveBytes.clear()
    return rest
  }

  /** The largest size. */
  get largest(): bigint {
    return wide(this.largestLo, this.largestHi)
  }

  /** mpatrol's figures. */
  mpatrol(): MpatrolStatistics {
    const allocated = { blocks: this.allocations, bytes: this.allocated.value }
    const freed = { blocks: this.frees, bytes: this.freed.value }
    return {
      allocated,
      freed,
      unfreed: { blocks: allocated.blocks - freed.blocks, bytes: allocated.bytes - freed.bytes },
      peak: { blocks: this.peakLive, bytes: this.peakBytes.value },
      reserved: { blocks: this.reservations, bytes: this.reserved.value },
      internal: { blocks: this.internals, bytes: this.internal.value },
      smallest: wide(this.smallestLo, this.smallestHi),
      largest: this.largest,
    }
  }
}

/** Two words as one integer. */
export function wide(lo: number, hi: number): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo)
}
