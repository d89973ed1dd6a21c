import type { StatisticsKernel } from './kernel.js'
import type { HistogramBar, HistogramResult } from './result.js'

/** Bars for integers of 0 to 96 bits: bar k > 0 is for those of k bits, from 2^(k-1) to 2^k - 1; bar 0 is for zero. */
const BARS = 97
/** Where the sum is, in bytes. */
const SUM = 98 * 8

/** What a histogram of the kernel has: the bars that are not empty, and the mean. */
export function histogramAt(kernel: StatisticsKernel, address: number): HistogramResult {
  const bars: HistogramBar[] = []
  let count = 0
  kernel.integers(address, BARS).forEach((n, bar) => {
    count += Number(n)
    if (n > 0n)
      bars.push({ from: bar === 0 ? 0n : 1n << BigInt(bar - 1), to: (1n << BigInt(bar)) - 1n, count: Number(n) })
  })
  const sum = kernel.sum(address + SUM)
  return { count, sum, mean: count === 0 ? 0 : ratio(sum, count), bars }
}

/** A large integer divided by a number, as a double. */
export function ratio(sum: bigint, count: number): number {
  // Numbers of more than 53 bits lose their last digits here, which a mean does not show.
  return Number(sum) / count
}
