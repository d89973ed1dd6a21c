import { WORD } from '../../bytes/u64.js'
import type { HistogramBar, HistogramResult } from './result.js'
import { Sum } from './sums.js'

/** Bars for integers of 0 to 96 bits: more than two words, for the bytes allocated in a block's life may pass 2^64. */
const BARS = 97

/** Counts integers by powers of two: bar k > 0 is for those of k bits, from 2^(k-1) to 2^k - 1; bar 0 is for zero. */
export class Histogram {
  private readonly counts = new Float64Array(BARS)
  private readonly total = new Sum()

  /** @param lo the low word, unsigned. @param hi what is above it: a whole double */
  add(lo: number, hi: number): void {
    const bar = hi === 0 ? 32 - Math.clz32(lo) : hi < WORD ? 64 - Math.clz32(hi) : Math.min(BARS - 1, 96 - Math.clz32(hi / WORD))
    this.counts[bar] = (this.counts[bar] as number) + 1
    this.total.add(lo, hi)
  }

  /** Whether the sum is exact: see `Sum`. */
  get isExact(): boolean {
    return this.total.isExact
  }

  /** The bars that are not empty, and the mean. */
  result(): HistogramResult {
    const bars: HistogramBar[] = []
    let count = 0
    this.counts.forEach((n, bar) => {
      count += n
      if (n > 0) bars.push({ from: bar === 0 ? 0n : 1n << BigInt(bar - 1), to: (1n << BigInt(bar)) - 1n, count: n })
    })
    const sum = this.total.value
    return { count, sum, mean: count === 0 ? 0 : ratio(sum, count), bars }
  }
}

/** A large integer divided by a number, as a double. */
export function ratio(sum: bigint, count: number): number {
  // Numbers of more than 53 bits lose their last digits here, which a mean does not show.
  return Number(sum) / count
}
