import type { EventBatch } from '../event/batch.js'
import { BY_HEAPTRACK, BY_MEMRAY, HIGHEST } from '../kernel/layouts/live.js'
import type { LiveExports } from '../kernel/live.js'
import { loadKernel, type Global } from '../kernel/load.js'
import type { SpacesError } from './address-spaces.js'
import { Callers, type CallersExports } from './callers.js'
import { LiveSet, tooManyBlocks } from './live-set.js'

/** The exports of kernel/fates.ts, documented in kernel/fates/ and kernel/live/. */
interface FatesExports extends LiveExports, CallersExports {
  readonly FATES: Global
  judgeRows(rows: number, threads: number, isLeveled: boolean): number
  endLevel(): void
}

/** The meaning of an event for the block that it ends or begins: a set of these bits. */
export const BlockFate = {
  /** The block that ends, or the size that it had, was temporary: as heaptrack defines it, and as memray does. */
  byHeaptrack: BY_HEAPTRACK,
  byMemray: BY_MEMRAY,
  /** With the block that begins, live bytes reach a new maximum of the stream. */
  highest: HIGHEST,
} as const

/**
 * The live set of a trace with the fates of its blocks, as in the statistics: kernel/live/fates.ts decides for both. It
 * takes 16 bytes more for each block than `LiveSet`, with room for at most twice as many.
 */
export class BlockFates extends LiveSet<FatesExports> {
  /** Per row that begins or ends a block, a set of `BlockFate` bits. */
  fates = new Uint8Array(0)
  private readonly callers = new Callers()

  /**
   * @param width as for `LiveSet`
   * @param isLeveled whether `fates` are to have `highest`
   * @param hasThreads whether they are to have `byMemray`, which alone depends on threads; without, that bit has no
   *   meaning
   */
  constructor(
    width: number,
    private readonly isLeveled = true,
    private readonly hasThreads = true,
  ) {
    super(width, loadKernel<FatesExports>('fates'))
  }

  override clear(): void {
    super.clear()
    this.run.endLevel()
  }

  override followClear(batch: EventBatch, from: number, to: number): SpacesError | undefined {
    const unclear = super.followClear(batch, from, to)
    const end = unclear?.row ?? to
    const { run } = this
    const isDone = run.judgeRows(end - from, this.assignCallers(batch, from, end), this.isLeveled)
    this.lookAfter()
    if (isDone === 0) throw tooManyBlocks()
    this.fates = new Uint8Array(run.memory.buffer, run.FATES.value, end - from)
    return unclear
  }

  /** @returns one past the last row of a thread */
  private assignCallers(batch: EventBatch, from: number, to: number): number {
    const { run, callers } = this
    if (!this.hasThreads) return callers.assignProcesses(batch, from, to, run)
    callers.assign(batch, from, to, run)
    return callers.size
  }
}
