import { HI, LO } from '../bytes/u64.js'
import type { EventBatch } from '../event/batch.js'
import { FieldBit } from '../event/fields.js'
import type { Global, KernelExports } from '../kernel/load.js'
import { BoundedKeys, FIRST, NONE, OTHERS } from './bounded-keys.js'

const { thread: HAS_THREAD, process: HAS_PROCESS } = FieldBit
const HAS_CALLER = HAS_THREAD | HAS_PROCESS

/**
 * A cache of rows, with one place for each hash of a thread: its words, the words of its process, which of the two are
 * present, its row, and the row of its process.
 */
const [THREAD, PROCESS, STATE, ROW, PROCESS_ROW, ENTRY] = [0, 2, 4, 5, 6, 8]
const CACHED_BITS = 6

/** A kernel that contains kernel/live/fates.ts. */
export interface CallersExports extends KernelExports {
  readonly THREADS: Global
  readonly PROCESSES: Global
}

/**
 * Numbers the callers of events: threads, by their number and process as far as known, and processes. Events of a
 * process without a thread share a row, and events without either have row `NONE`.
 */
export class Callers {
  private readonly threads = new BoundedKeys()
  private readonly processes = new BoundedKeys()
  /** Rows by thread and process, which are rows of the tables above; the process is `NONE` for events without one. */
  private readonly pairs = new BoundedKeys()
  private readonly cache = new Int32Array(ENTRY << CACHED_BITS)

  /** One past the last row in use. */
  get size(): number {
    return this.pairs.size
  }

  /** Whether some threads were counted as others. */
  get overflowed(): boolean {
    return this.pairs.overflowed
  }

  /**
   * Passes the threads and processes of events `from` to `to` of a batch to a kernel.
   * @returns the rows of the threads, in the kernel's memory
   */
  assign(batch: EventBatch, from: number, to: number, run: CallersExports): Int32Array {
    const { buffer } = run.memory
    const rows = new Int32Array(buffer, run.THREADS.value, to - from)
    const processRows = new Int32Array(buffer, run.PROCESSES.value, to - from)
    if ((batch.columns & HAS_CALLER) === 0) {
      rows.fill(NONE)
      processRows.fill(NONE)
      return rows
    }
    const { cache } = this
    const { mask: masks } = batch
    const threads = batch.thread.words
    const processes = batch.process.words
    for (let i = from; i < to; i++) {
      const state = masks[i] & HAS_CALLER
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

  /**
   * The same, but threads have the rows of their processes, for results that do not depend on threads.
   * @returns one past the last row in use
   */
  assignProcesses(batch: EventBatch, from: number, to: number, run: CallersExports): number {
    const { buffer } = run.memory
    const rows = new Int32Array(buffer, run.PROCESSES.value, to - from)
    if ((batch.columns & HAS_PROCESS) === 0) rows.fill(NONE)
    else {
      const { mask: masks } = batch
      const { words } = batch.process
      let [lo, hi, row] = [0, 0, -1]
      for (let i = from; i < to; i++) {
        if ((masks[i] & HAS_PROCESS) === 0) {
          rows[i - from] = NONE
          continue
        }
        if (words[2 * i + LO] !== lo || words[2 * i + HI] !== hi || row < 0) {
          lo = words[2 * i + LO]
          hi = words[2 * i + HI]
          row = this.processes.row(lo, hi)
        }
        rows[i - from] = row
      }
    }
    new Int32Array(buffer, run.THREADS.value, to - from).set(rows)
    return this.processes.size
  }

  /** The number of a row's thread, and of that thread's process, as far as known; nothing for rows below `FIRST`. */
  names(row: number): { process?: bigint; thread?: bigint } {
    if (row < FIRST) return {}
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
