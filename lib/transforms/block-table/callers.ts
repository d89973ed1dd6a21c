import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { BoundedKeys, FIRST, NONE, OTHERS } from '../statistics/bounded-keys.js'
import { widened } from '../statistics/sums.js'

const HAS_PROCESS = FieldBit.process
const HAS_THREAD = FieldBit.thread

/**
 * The last allocations of each process and thread, from which the statistics determine temporary blocks: see
 * kernel/statistics/temporary.ts. Threads and processes have the same rows as there.
 */
export class Callers {
  /** The rows of the current event. */
  process = NONE
  thread = NONE
  private readonly processes = new BoundedKeys()
  private readonly threads = new BoundedKeys()
  private readonly pairs = new BoundedKeys()
  /** By process, the event of its last call if that allocated, otherwise 0. */
  private lastCalls = new Float64Array(64)
  /** By thread, the events of its last two allocations, the later one first. */
  private recent = new Float64Array(128)
  /** The fields of the previous event, which are usually the same. */
  private state = -1
  private words = new Uint32Array(4)

  /** Finds out who made event i. */
  find(batch: EventBatch, i: number): void {
    const state = batch.mask[i] & (HAS_THREAD | HAS_PROCESS)
    const hasThread = (state & HAS_THREAD) !== 0
    const hasProcess = (state & HAS_PROCESS) !== 0
    const threadLo = hasThread ? batch.thread.words[2 * i + LO] : 0
    const threadHi = hasThread ? batch.thread.words[2 * i + HI] : 0
    const processLo = hasProcess ? batch.process.words[2 * i + LO] : 0
    const processHi = hasProcess ? batch.process.words[2 * i + HI] : 0
    const { words } = this
    if (
      state === this.state &&
      words[0] === threadLo &&
      words[1] === threadHi &&
      words[2] === processLo &&
      words[3] === processHi
    )
      return
    this.state = state
    words[0] = threadLo
    words[1] = threadHi
    words[2] = processLo
    words[3] = processHi
    this.process = hasProcess ? this.processes.row(processLo, processHi) : NONE
    const thread = hasThread ? this.threads.row(threadLo, threadHi) : NONE
    const isOther = thread === OTHERS || this.process === OTHERS
    this.thread = isOther
      ? OTHERS
      : thread < FIRST && this.process < FIRST
        ? NONE
        : this.pairs.row(thread, this.process)
    if (this.process >= this.lastCalls.length)
      this.lastCalls = widened(this.lastCalls, new Float64Array(2 * this.process))
    if (2 * this.thread + 1 >= this.recent.length) this.recent = widened(this.recent, new Float64Array(4 * this.thread))
  }

  /** The current event, with this number, allocated. */
  allocates(event: number): void {
    this.lastCalls[this.process] = event
    this.recent[2 * this.thread + 1] = this.recent[2 * this.thread]
    this.recent[2 * this.thread] = event
  }

  /** The current event freed a block, or tried to. */
  frees(): void {
    this.lastCalls[this.process] = 0
  }

  /** Whether a block that an event allocated and the current event ends is temporary for heaptrack. */
  isHeaptracks(since: number): boolean {
    return this.lastCalls[this.process] === since
  }

  /** Whether it is for memray. @param owner the row of the thread that allocated it */
  isMemrays(since: number, owner: number): boolean {
    const { thread, recent } = this
    return thread === owner && (recent[2 * thread] === since || recent[2 * thread + 1] === since)
  }
}
