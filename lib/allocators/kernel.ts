import { GrowingKernel } from '../kernel/growing.js'
import { detailOf, learns, numberOf, type AllocatorSettings } from './settings.js'
import type { Globals, KernelExports } from '../kernel/load.js'

/** The exports of kernel/allocators.ts; kernel/allocators/simulator.ts and replay.ts document them. */
interface AllocatorExports extends KernelExports, Globals<'RESULTS' | 'PREDICTED' | 'blocks' | 'hits'> {
  seed(low: number, high: number): void
  simStart(kind: number, version: number, bits: number, cores: number, detail: bigint, learns: boolean): number
  simMake(called: number, thread: number, more: bigint, old: number, size: bigint): bigint
  simRealloc(thread: number, oldAddress: bigint, size: bigint): bigint
  simFree(thread: number, address: bigint): void
  simThreadEnd(thread: number): void
  simFix(predicted: bigint, actual: bigint): void
  clearReplay(): number
  replay(rows: number): void
}

export class AllocatorKernel extends GrowingKernel<AllocatorExports> {
  constructor() {
    super('allocators')
    this.run.seed(Math.floor(Math.random() * 2 ** 32), Math.floor(Math.random() * 2 ** 32))
  }

  /** Begins a simulation. @returns false if these settings cannot be simulated, or memory is exhausted */
  start(settings: AllocatorSettings): boolean {
    const { version, bits, cores = 0 } = settings
    const detail = BigInt(detailOf(settings))
    return this.run.simStart(numberOf(settings), version, bits, cores, detail, learns(settings)) !== 0
  }
}
