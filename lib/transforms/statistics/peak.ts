import type { StatisticsKernel } from './kernel.js'
import type { Peak } from './result.js'

/** The moment of a peak, as the kernel marked it. */
export function peakAt(kernel: StatisticsKernel, address: number): Peak {
  return {
    blocks: kernel.number(address + 8),
    bytes: kernel.sum(address + 16),
    event: kernel.number(address),
    allocatedBytes: kernel.sum(address + 32),
    ...(kernel.number(address + 48) > 0 && { time: kernel.integer(address + 56) }),
  }
}
