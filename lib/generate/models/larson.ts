import { Api } from '../../event/fields.js'
import type { CallSource, EventWriter } from '../event-writer.js'
import type { Random } from '../random.js'
import { checkBlocks } from './names.js'

/** The blocks of each thread, their sizes, and how often a thread replaces so many before it ends. */
const BLOCKS = 5000
const LEAST = 8
const MOST = 1000
const ROUNDS = 100

/**
 * A server, after Larson and Krishnan, *Memory Allocation for Long-Running Server Applications* (ISMM 1998): each
 * thread replaces random blocks of an array by blocks of random sizes. Then it leaves the array to a new thread and
 * ends, so that blocks are freed by others than those which allocated them.
 */
export class Larson implements CallSource {
  /** The blocks of all arrays, -1 before they are filled. */
  private readonly blocks: Int32Array
  private readonly each: number
  /** By array: its thread, and how many blocks that has still to replace. */
  private readonly thread: Float64Array
  private readonly left: Float64Array
  private filled = 0
  private lastThread: number

  constructor(
    private readonly random: Random,
    private readonly threads: number,
    scale: number,
  ) {
    this.each = Math.max(1, Math.round(BLOCKS * scale))
    this.blocks = new Int32Array(checkBlocks(this.each * threads))
    this.thread = Float64Array.from({ length: threads }, (_, i) => i + 2)
    this.left = new Float64Array(threads).fill(ROUNDS * this.each)
    this.lastThread = threads + 1
  }

  step(writer: EventWriter): boolean {
    const { random, blocks } = this
    if (this.filled < blocks.length) {
      // The first thread fills all arrays.
      blocks[this.filled++] = writer.alloc(1, Api.malloc, this.size())
      return true
    }
    const array = random.below(this.threads)
    const thread = this.thread[array]
    const place = array * this.each + random.below(this.each)
    writer.free(thread, blocks[place])
    blocks[place] = writer.alloc(thread, Api.malloc, this.size())
    const left = this.left[array] - 1
    this.left[array] = left > 0 ? left : ROUNDS * this.each
    if (left === 0) this.thread[array] = ++this.lastThread
    return true
  }

  private size(): number {
    return LEAST + this.random.below(MOST - LEAST + 1)
  }
}
