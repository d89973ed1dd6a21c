import type { BatchInfos, EventBatch } from '../../event/batch.js'
import { BATCH_EVENTS } from '../../event/limits.js'
import { FieldBit } from '../../event/fields.js'
import { releaseKernel, tableAt } from '../../kernel/load.js'
import { newHeaptrackKernel, viewsOf, type HeaptrackKernel } from './kernel.js'

const TIME = FieldBit.time
/** The maximum number in `lives`. */
const MOST_LIVES = 2 ** 32 - 1
/** Up to this number of events, copying one by one is faster than views of arrays. */
const FEW = 24

/**
 * The blocks of an interpreted file for consumers that count by info: like `LiveBlocks`, but without addresses. Takes 4
 * bytes for each info, in a separate kernel, which counts the live blocks of each.
 */
export class InfoBlocks {
  private views = newHeaptrackKernel()
  /** By info, 0 if no block of it was allocated yet, otherwise the number of its live blocks plus 1. */
  private lives = new Uint32Array(0)
  private numbers = new Uint32Array(0)
  private most = 0

  /** The kernel, with room for the infos so far and for those that one call of `decode` may define. */
  kernel(infos: number): HeaptrackKernel {
    const { run } = this.views
    if (run.makeLives(infos + BATCH_EVENTS) === 0) throw new RangeError('there is no memory for the infos of a trace')
    if (this.views.memory.buffer !== run.memory.buffer) this.views = viewsOf(run)
    if (this.lives.buffer !== run.memory.buffer || this.lives.length < infos + BATCH_EVENTS)
      this.lives = new Uint32Array(run.memory.buffer, tableAt(run, run.lives), infos + BATCH_EVENTS)
    return this.views
  }

  /** Begins a batch. The numbers of infos use the column of lines, so that their memory is recycled with the batch. */
  begin(batch: EventBatch): void {
    this.numbers = batch.line.fill(0)
  }

  /** The infos of the batch so far. */
  get infos(): BatchInfos {
    return { numbers: this.numbers, most: this.most }
  }

  /**
   * Reads allocations and frees from row `row` on as events from `i` on, until another line comes, a free of no live
   * block, or the first allocation with an info.
   * @returns the number of rows
   */
  read(batch: EventBatch, i: number, row: number, rows: number): number {
    const { run, kinds, infos } = this.views
    const count = run.readBlocks(row, row + Math.min(rows - row, batch.capacity - i))
    const { numbers } = this
    const { kind, mask } = batch
    if (count > FEW) {
      numbers.set(infos.subarray(row, row + count), i)
      kind.set(kinds.subarray(row, row + count), i)
      mask.fill(TIME, i, i + count)
      return count
    }
    for (let n = 0; n < count; n++) {
      numbers[i + n] = infos[row + n]
      kind[i + n] = kinds[row + n]
      mask[i + n] = TIME
    }
    return count
  }

  /** Whether a block with this info was allocated before. */
  isKnown(info: number): boolean {
    return this.lives[info] !== 0
  }

  /** Allocates a block at event i. @returns false if no more can be counted */
  allocate(info: number, i: number): boolean {
    const live = Math.max(1, this.lives[info])
    if (live === MOST_LIVES) return false
    this.lives[info] = live + 1
    this.numbers[i] = info + 1
    this.most = Math.max(this.most, info + 1)
    return true
  }

  /** Frees a block at event i. @returns whether there is one */
  free(info: number, i: number): boolean {
    const live = this.lives[info]
    if (live <= 1) return false
    this.lives[info] = live - 1
    this.numbers[i] = info + 1
    return true
  }

  /** Ends the use of the kernel. */
  dispose(): void {
    releaseKernel(this.views.run)
  }
}
