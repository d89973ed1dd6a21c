import { BARS, SUM } from '../../kernel/layouts/totals.js'
import type { StatisticsKernel } from './kernel.js'
import type { HistogramBar, HistogramResult } from './result.js'

/**
 * A histogram from the kernel: the bars that are not empty, and the mean. Bar k > 0 counts integers of k bits, from
 * 2^(k-1) to 2^k - 1, and bar 0 counts zeros.
 */
export function histogramAt(kernel: StatisticsKernel, address: number): HistogramResult {
  return histogramOf(barsAt(kernel, address), kernel.sum(address + SUM))
}

/** The number of values of each number of bits in a histogram of the kernel. */
export function barsAt(kernel: StatisticsKernel, address: number): number[] {
  return Array.from(kernel.integers(address, BARS), Number)
}

/** A histogram with these numbers of values for each number of bits. @param sum the sum of all values */
export function histogramOf(counts: readonly number[], sum: bigint): HistogramResult {
  const bars: HistogramBar[] = []
  counts.forEach((count, bits) => {
    if (count > 0) bars.push({ from: bits === 0 ? 0n : 1n << BigInt(bits - 1), to: (1n << BigInt(bits)) - 1n, count })
  })
  const count = bars.reduce((all, bar) => all + bar.count, 0)
  // Numbers of more than 53 bits lose their last digits here, which a mean does not show.
  return { count, sum, mean: count === 0 ? 0 : Number(sum) / count, bars }
}
