import { GrowingKernel } from '../kernel/growing.js'
import type { Global, KernelExports } from '../kernel/load.js'

/** The exports of kernel/allocators.ts; kernel/allocators/simulator.ts and replay.ts document them. */
interface AllocatorExports extends KernelExports {
  simStart(
    kind: number,
    version: number,
    bits: number,
    cores: number,
    stack: bigint,
    heap: bigint,
    mappings: bigint,
  ): number
  clearReplay(): number
  replay(rows: number): void
  readonly RESULTS: Global
  readonly PREDICTED: Global
  readonly blocks: Global
  readonly hits: Global
}

/** The kernel of simulated allocators. */
export class AllocatorKernel extends GrowingKernel<AllocatorExports> {
  constructor() {
    super('allocators')
  }
}
