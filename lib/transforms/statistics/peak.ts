import { AT_ALLOCATED, AT_BLOCKS, AT_BYTES, AT_EVENT, AT_TIME, AT_TIMED } from '../../kernel/layouts/totals.js'
import type { StatisticsKernel } from './kernel.js'
import type { Peak } from './result.js'

/** The moment of a peak, as the kernel marked it. */
export function peakAt(kernel: StatisticsKernel, address: number): Peak {
  return {
    blocks: kernel.number(address + AT_BLOCKS),
    bytes: kernel.sum(address + AT_BYTES),
    event: kernel.number(address + AT_EVENT),
    allocatedBytes: kernel.sum(address + AT_ALLOCATED),
    ...(kernel.number(address + AT_TIMED) > 0 && { time: kernel.integer(address + AT_TIME) }),
  }
}
