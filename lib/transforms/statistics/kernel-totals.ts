import type { CountingKernel } from '../../kernel/counting.js'
import type { Global, KernelExports } from '../../kernel/load.js'
import * as Total from '../../kernel/layouts/totals.js'
import type { Amount } from './result.js'

/** Blocks and bytes, as the kernel counted them: see kernel/statistics/totals.ts. */
export interface Figures {
  readonly allocated: Amount
  readonly freed: Amount
  readonly live: Amount
  readonly peak: Amount
  /** mpatrol's smallest size: a size of zero counts only until another size occurs. */
  readonly smallest: bigint
  readonly largest: bigint
  readonly overlaps: Amount
  /** Blocks that ended with their process. */
  readonly unfreed: Amount
}

/** The kernel's counts so far. */
export function readKernelTotals(kernel: CountingKernel<KernelExports & { readonly TOTALS: Global }>): Figures {
  const at = kernel.run.TOTALS.value
  const amount = (blocks: number, bytes: number): Amount => ({
    blocks: kernel.number(at + blocks),
    bytes: kernel.sum(at + bytes),
  })
  return {
    allocated: amount(Total.ALLOCATIONS, Total.ALLOCATED),
    freed: amount(Total.FREES, Total.FREED),
    live: amount(Total.LIVE, Total.LIVE_BYTES),
    peak: amount(Total.PEAK_LIVE, Total.MOST_BYTES),
    smallest: kernel.integer(at + Total.SMALLEST),
    largest: kernel.integer(at + Total.LARGEST),
    overlaps: amount(Total.OVERLAPS, Total.OVERLAP_BYTES),
    unfreed: amount(Total.UNFREED, Total.UNFREED_BYTES),
  }
}
