import type { StatisticsKernel } from './kernel.js'
import type { Shares } from './result.js'

/** The offsets of these figures in a row of kernel/statistics/owners.ts, in bytes. */
const [ALLOCATED, PEAK, LEAKS, HEAPTRACK, MEMRAY] = [0, 56, 80, 104, 128]

/** The offset of the figures that only sites, or only threads, have in such a row. */
export const OWN = 152

/** The figures that rows of sites and rows of threads share. */
export function sharesAt(kernel: StatisticsKernel, row: number): Shares {
  return {
    allocated: kernel.amount(row + ALLOCATED),
    atPeak: kernel.amount(row + PEAK),
    leaked: kernel.amount(row + LEAKS),
    temporary: { heaptrack: kernel.amount(row + HEAPTRACK), memray: kernel.amount(row + MEMRAY) },
  }
}
