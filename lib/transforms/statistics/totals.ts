import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import type { MpatrolStatistics } from './result.js'
import { Sum } from './sums.js'

const HAS_SIZE = FieldBit.size
const HAS_TYPE = FieldBit.type

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
  readonly reserves = new Reserves()
  /** mpatrol's smallest size: zero stands for none yet, so that a later size takes its place. */
  private smallestLo = 0
  private smallestHi = 0
  private largestLo = 0
  private largestHi = 0

  /** A block of this size began. */
  allocation(lo: number, hi: number): void {
    this.allocations++
    this.allocated.add(lo, hi)
    this.liveBytes.add(lo, hi)
    if (hi > this.largestHi || (hi === this.largestHi && lo > this.largestLo)) {
      this.largestLo = lo
      this.largestHi = hi
    }
    if (
      hi < this.smallestHi ||
      (hi === this.smallestHi && lo < this.smallestLo) ||
      (this.smallestLo === 0 && this.smallestHi === 0)
    ) {
      this.smallestLo = lo
      this.smallestHi = hi
    }
    this.peakLive = Math.max(this.peakLive, ++this.live)
    this.peakBytes.raise(this.liveBytes)
  }

  /** A block of this size was freed. */
  free(lo: number, hi: number): void {
    this.frees++
    this.freed.add(lo, hi)
    this.vanish(lo, hi)
  }

  /** A block of this size ended without a free. */
  vanish(lo: number, hi: number): void {
    this.live--
    this.liveBytes.subtract(lo, hi)
  }

  /** mpatrol's figures. */
  mpatrol(): MpatrolStatistics {
    return mpatrolFigures(
      {
        allocated: { blocks: this.allocations, bytes: this.allocated.value },
        freed: { blocks: this.frees, bytes: this.freed.value },
        peak: { blocks: this.peakLive, bytes: this.peakBytes.value },
        smallest: wide(this.smallestLo, this.smallestHi),
        largest: wide(this.largestLo, this.largestHi),
      },
      this.reserves,
    )
  }
}

/** Memory that the allocator took from the system, for the program or for itself. */
export class Reserves {
  private reservations = 0
  private readonly reserved = new Sum()
  private internals = 0
  private readonly internal = new Sum()

  /** Whether the sums are exact: see `Sum`. */
  get isExact(): boolean {
    return this.reserved.isExact && this.internal.isExact
  }

  /** Counts event i of a batch, which reserves memory. */
  take(batch: EventBatch, i: number): void {
    const mask = batch.mask[i] as number
    const isSized = (mask & HAS_SIZE) !== 0
    const lo = isSized ? (batch.size.words[2 * i + LO] as number) : 0
    const hi = isSized ? (batch.size.words[2 * i + HI] as number) : 0
    if ((mask & HAS_TYPE) !== 0 && batch.strings.text(batch.type[i] as number) === 'internal') {
      this.internals++
      this.internal.add(lo, hi)
    } else {
      this.reservations++
      this.reserved.add(lo, hi)
    }
  }

  /** What was taken for the program, and for the allocator itself. */
  result(): Pick<MpatrolStatistics, 'reserved' | 'internal'> {
    return {
      reserved: { blocks: this.reservations, bytes: this.reserved.value },
      internal: { blocks: this.internals, bytes: this.internal.value },
    }
  }
}

/** mpatrol's figures from those that are counted. */
export function mpatrolFigures(
  {
    allocated,
    freed,
    peak,
    smallest,
    largest,
  }: Pick<MpatrolStatistics, 'allocated' | 'freed' | 'peak' | 'smallest' | 'largest'>,
  reserves: Reserves,
): MpatrolStatistics {
  const unfreed = { blocks: allocated.blocks - freed.blocks, bytes: allocated.bytes - freed.bytes }
  return { allocated, freed, unfreed, peak, ...reserves.result(), smallest, largest }
}

/** Two words as one integer. */
export function wide(lo: number, hi: number): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo)
}
