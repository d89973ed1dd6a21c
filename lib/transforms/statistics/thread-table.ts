import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { T_EVENTS, T_FOREIGN, T_FREES, THREAD_BYTES } from '../../kernel/layouts/owners.js'
import type { StatisticsKernel } from './kernel.js'
import { BoundedKeys, FIRST, NONE, OTHERS } from './bounded-keys.js'
import type { ThreadStatistics } from './result.js'
import { sharesAt } from './shares.js'

const HAS_THREAD = FieldBit.thread
const HAS_PROCESS = FieldBit.process
const HAS_OWNER = HAS_THREAD | HAS_PROCESS

/**
 * A cache of rows, with one place for each hash of a thread: its words, those of its process, which of the two are
 * present, its row, and the row of its process.
 */
const [THREAD, PROCESS, STATE, ROW, PROCESS_ROW, ENTRY] = [0, 2, 4, 5, 6, 8]
const CACHED_BITS = 6

/** The rows of threads, and that of events without one if any of them is about a block: others often have no thread. */
export function actingThreads(threads: readonly ThreadStatistics[]): ThreadStatistics[] {
  return threads.filter(({ rest, allocated, frees }) => rest !== 'none' || allocated.blocks > 0 || frees > 0)
}

/**
 * The actions of each thread. A thread is identified by its number and its process, if known. Events of a process
 * without a thread share a row, and events without either share row `NONE`.
 */
export class ThreadTable {
  private readonly threads = new BoundedKeys()
  private readonly processes = new BoundedKeys()
  /** Rows by thread and process, which are rows of the tables above; the process is `NONE` for events without one. */
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

  /**
   * Passes the threads and processes of events `from` to `to` of a batch to the kernel.
   * @returns the rows of the threads, in the kernel's memory
   */
  assign(batch: EventBatch, from: number, to: number): Int32Array {
    const { run } = this.kernel
    const { buffer } = run.memory
    const rows = new Int32Array(buffer, run.THREADS.value, to - from)
    const processRows = new Int32Array(buffer, run.PROCESSES.value, to - from)
    if ((batch.columns & HAS_OWNER) === 0) {
      rows.fill(NONE)
      processRows.fill(NONE)
      return rows
    }
    const { cache } = this
    const { mask: masks } = batch
    const threads = batch.thread.words
    const processes = batch.process.words
    for (let i = from; i < to; i++) {
      const state = masks[i] & HAS_OWNER
      if (state === 0) {
        rows[i - from] = processRows[i - from] = NONE
        continue
      }
      const hasThread = (state & HAS_THREAD) !== 0
      const lo = hasThread ? threads[2 * i + LO] | 0 : 0
      const hi = hasThread ? threads[2 * i + HI] | 0 : 0
      const hasProcess = (state & HAS_PROCESS) !== 0
      const processLo = hasProcess ? processes[2 * i + LO] | 0 : 0
      const processHi = hasProcess ? processes[2 * i + HI] | 0 : 0
      const at = ENTRY * (Math.imul(lo ^ Math.imul(processLo, 0x85eb_ca6b), 0x9e37_79b1) >>> (32 - CACHED_BITS))
      if (
        cache[at + THREAD + LO] !== lo ||
        cache[at + THREAD + HI] !== hi ||
        cache[at + STATE] !== state ||
        cache[at + PROCESS + LO] !== processLo ||
        cache[at + PROCESS + HI] !== processHi
      ) {
        const process = hasProcess ? this.processes.row(processLo, processHi) : NONE
        cache[at + THREAD + LO] = lo
        cache[at + THREAD + HI] = hi
        cache[at + STATE] = state
        cache[at + PROCESS + LO] = processLo
        cache[at + PROCESS + HI] = processHi
        cache[at + ROW] = this.find(hasThread ? this.threads.row(lo, hi) : NONE, process)
        cache[at + PROCESS_ROW] = process
      }
      rows[i - from] = cache[at + ROW]
      processRows[i - from] = cache[at + PROCESS_ROW]
    }
    return rows
  }

  /** Every thread with its figures, the most events first. */
  result(): ThreadStatistics[] {
    return this.ranked().map(({ statistics }) => statistics)
  }

  /** The same with the rows of the threads. */
  ranked(): { row: number; statistics: ThreadStatistics }[] {
    const { kernel } = this
    const { threadTable } = kernel.run
    const threads: { row: number; statistics: ThreadStatistics }[] = []
    for (let row = NONE; row < this.size; row++) {
      const at = threadTable.value + row * THREAD_BYTES
      const events = kernel.number(at + T_EVENTS)
      const shares = sharesAt(kernel, at)
      const frees = kernel.number(at + T_FREES)
      if (events === 0) continue
      const foreignFrees = kernel.number(at + T_FOREIGN)
      threads.push({ row, statistics: { ...this.name(row), events, ...shares, frees, foreignFrees } })
    }
    return threads.toSorted((a, b) => b.statistics.events - a.statistics.events)
  }

  /** What a row stands for. */
  name(row: number): Pick<ThreadStatistics, 'rest' | 'process' | 'thread'> {
    if (row < FIRST) return { rest: row === NONE ? 'none' : 'others' }
    const [thread, process] = [this.pairs.low(row), this.pairs.high(row)]
    return {
      ...(process >= FIRST && { process: this.processes.key(process) }),
      ...(thread >= FIRST && { thread: this.threads.key(thread) }),
    }
  }

  /** The number of a process from its row; undefined if there is none. */
  process(row: number): bigint | undefined {
    return row >= FIRST ? this.processes.key(row) : undefined
  }

  private find(thread: number, process: number): number {
    return thread === OTHERS || process === OTHERS ? this.pairs.overflow() : this.pairs.row(thread, process)
  }
}
