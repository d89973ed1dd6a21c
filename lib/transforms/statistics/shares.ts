import { ALLOCATIONS, HEAPTRACK, LEAKS, MEMRAY, PEAK } from '../../kernel/layouts/owners.js'
import type { StatisticsKernel } from './kernel.js'
import type { Shares } from './result.js'

/** The figures that rows of sites and rows of threads share. */
export function sharesAt(kernel: StatisticsKernel, row: number): Shares {
  return {
    allocated: kernel.amount(row + ALLOCATIONS),
    atPeak: kernel.amount(row + PEAK),
    leaked: kernel.amount(row + LEAKS),
    temporary: { heaptrack: kernel.amount(row + HEAPTRACK), memray: kernel.amount(row + MEMRAY) },
  }
}
