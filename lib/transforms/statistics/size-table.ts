import { Histogram } from './histogram.js'
import { KeyCounts, MAX_KEYS } from './keys.js'
import type { Statistics } from './result.js'
import { wide } from './totals.js'

/** Sizes below this are counted in an array, others in a table. */
const SMALL = 4096

/** What sizes were asked for. */
export class SizeTable {
  private readonly histogram = new Histogram()
  private readonly small = new Float64Array(SMALL)
  private readonly large = new KeyCounts(MAX_KEYS - SMALL)
  private smallestLo = 0
  private smallestHi = 0
  private seen = false

  /** Whether some sizes were counted as others. */
  get overflowed(): boolean {
    return this.large.overflowed
  }

  add(lo: number, hi: number): void {
    this.histogram.add(lo, hi)
    if (hi === 0 && lo < SMALL) this.small[lo] = (this.small[lo] as number) + 1
    else this.large.add(lo, hi)
    if (!this.seen || hi < this.smallestHi || (hi === this.smallestHi && lo < this.smallestLo)) {
      this.seen = true
      this.smallestLo = lo
      this.smallestHi = hi
    }
  }

  /** @param largest the largest size, which others keep as well */
  result(largest: bigint): Statistics['sizes'] {
    const exact = this.large.entries().map(({ key, count }) => ({ size: key, count }))
    this.small.forEach((count, size) => {
      if (count > 0) exact.push({ size: BigInt(size), count })
    })
    exact.sort((a, b) => b.count - a.count || (a.size < b.size ? -1 : 1))
    const smallest = wide(this.smallestLo, this.smallestHi)
    return { smallest, largest, histogram: this.histogram.result(), exact, others: this.large.others }
  }
}
