import type { CountingKernel } from '../../kernel/counting.js'
import type { Global, KernelExports } from '../../kernel/load.js'
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
}

/** The kernel's counts so far. */
export function readKernelTotals(kernel: CountingKernel<KernelExports & { readonly TOTALS: Global }>): Figures {
  const at = kernel.run.TOTALS.value
  const amount = (blocks: number, bytes: number): Amount => ({
    blocks: kernel.number(at + blocks),
    bytes: kernel.sum(at + bytes),
  })
  return {
    allocated: amount(0, 16),
    freed: amount(8, 32),
    live: amount(48, 64),
    peak: amount(56, 80),
    smallest: kernel.integer(at + 96),
    largest: kernel.integer(at + 104),
    overlaps: amount(112, 120),
  }
}
