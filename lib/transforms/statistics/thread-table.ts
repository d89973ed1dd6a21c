import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { Has } from '../../event/fields.js'
import type { StatisticsKernel } from './kernel.js'
import { BoundedKeys, FIRST, NONE, OTHERS } from './keys.js'
import type { ThreadStatistics } from './result.js'

const HAS_THREAD = Has.thread
const HAS_PROCESS = Has.process

/** What is where in a row of kernel/statistics/rows.ts, in bytes. */
const [EVENTS, ALLOCATIONS, FREES, FOREIGN, BYTES] = [0, 8, 16, 24, 32]

/**
 * Rows that were found lately, each in the one place that its thread allows: its words, those of its process, which of
 * them there are, and the row.
 */
const [THREAD, PROCESS, STATE, ROW, ENTRY] = [0, 2, 4, 5, 8]
const CACHED_BITS = 6

/**
 * What each thread did. A thread is its number in its process, where events tell that. Events without a thread share
 * row `NONE`, as if they were of one thread.
 */
export class ThreadTable {
  private readonly threads = new BoundedKeys()
  private readonly processes = new BoundedKeys()
  /** Rows by thread and process, each a row of the tables above; the process is `NONE` for events that have none. */
  private readonly pairs = new BoundedKeys()
  private readonly cache = new Int32Array(ENTRY << CACHED_BITS)

  constructor(private readonly kernel: StatisticsKernel) {}

  /** One past the last row in use. */
  get size(): number {
    return this.pairs.size
  }

  /** Whether some threads were counted as others. */
  get overflowed(): boolean {
    return this.pairs.overflowed
  }

  /** Tells the kernel the threads of events `from` to `to` of a batch. */
  tell(batch: EventBatch, from: number, to: number): void {
    const { run } = this.kernel
    const rows = new Int32Array(run.memory.buffer, run.THREADS.value, to - from)
    if ((batch.columns & HAS_THREAD) === 0) {
      rows.fill(NONE)
      return
    }
    const { cache } = this
    const { mask: masks } = batch
    const threads = batch.thread.words
    const processes = batch.process.words
    for (let i = from; i < to; i++) {
      const mask = masks[i] as number
      if ((mask & HAS_THREAD) === 0) {
        rows[i - from] = NONE
        continue
      }
      const lo = (threads[2 * i + LO] as number) | 0
      const hi = (threads[2 * i + HI] as number) | 0
      const hasProcess = (mask & HAS_PROCESS) !== 0
      const processLo = hasProcess ? (processes[2 * i + LO] as number) | 0 : 0
      const processHi = hasProcess ? (processes[2 * i + HI] as number) | 0 : 0
      const state = hasProcess ? 2 : 1
      const at = ENTRY * (Math.imul(lo ^ Math.imul(processLo, 0x85eb_ca6b), 0x9e37_79b1) >>> (32 - CACHED_BITS))
      if (
        cache[at + THREAD + LO] !== lo ||
        cache[at + THREAD + HI] !== hi ||
        cache[at + STATE] !== state ||
        cache[at + PROCESS + LO] !== processLo ||
        cache[at + PROCESS + HI] !== processHi
      ) {
        cache[at + THREAD + LO] = lo
        cache[at + THREAD + HI] = hi
        cache[at + STATE] = state
        cache[at + PROCESS + LO] = processLo
        cache[at + PROCESS + HI] = processHi
        cache[at + ROW] = this.find(lo, hi, hasProcess, processLo, processHi)
      }
      rows[i - from] = cache[at + ROW] as number
    }
  }

  /** Every thread with its figures, the most events first. */
  result(): ThreadStatistics[] {
    const { kernel } = this
    const { threadTable, THREAD_BYTES } = kernel.run
    const threads: ThreadStatistics[] = []
    for (let row = OTHERS; row < this.size; row++) {
      const at = threadTable.value + row * THREAD_BYTES.value
      const events = kernel.number(at + EVENTS)
      if (events === 0) continue
      const process = this.pairs.high(row)
      threads.push({
        ...(row === OTHERS
          ? { rest: 'others' }
          : {
              ...(process >= FIRST && { process: this.processes.key(process) }),
              thread: this.threads.key(this.pairs.low(row)),
            }),
        events,
        allocated: { blocks: kernel.number(at + ALLOCATIONS), bytes: kernel.sum(at + BYTES) },
        frees: kernel.number(at + FREES),
        foreignFrees: kernel.number(at + FOREIGN),
      })
    }
    return threads.toSorted((a, b) => b.events - a.events)
  }

  private find(lo: number, hi: number, hasProcess: boolean, processLo: number, processHi: number): number {
    const thread = this.threads.row(lo, hi)
    const process = hasProcess ? this.processes.row(processLo, processHi) : NONE
    return thread === OTHERS || process === OTHERS ? this.pairs.overflow() : this.pairs.row(thread, process)
  }
}
