import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { Has } from '../../event/fields.js'
import { BoundedKeys, FIRST, NONE, OTHERS } from './keys.js'
import type { ThreadStatistics } from './result.js'
import { SumColumn, widened } from './sums.js'

const HAS_THREAD = Has.thread
const HAS_PROCESS = Has.process

/**
 * What each thread did. A thread is its number in its process, where events tell that. Events without a thread share row
 * `NONE`, as if they were of one thread.
 */
export class ThreadTable {
  private readonly threads = new BoundedKeys()
  private readonly processes = new BoundedKeys()
  /** Rows by thread and process, each a row of the tables above; the process is `NONE` for events that have none. */
  private readonly pairs = new BoundedKeys()
  private rows = 64
  private events = new Float64Array(this.rows)
  private allocations = new Float64Array(this.rows)
  private frees = new Float64Array(this.rows)
  private foreignFrees = new Float64Array(this.rows)
  private readonly bytes = new SumColumn(this.rows)
  /** The number of the thread's last event about a block, among all such events. */
  private lastEvent = new Float64Array(this.rows)
  /** The thread of the event before, for it is often the same. */
  private row = NONE
  private lo = 0
  private hi = 0
  private processLo = 0
  private processHi = 0
  private hasProcess = false

  /** Whether some threads were counted as others. */
  get overflowed(): boolean {
    return this.pairs.overflowed
  }

  /** Counts an event. @returns the row of its thread */
  count(batch: EventBatch, i: number, mask: number): number {
    const row = (mask & HAS_THREAD) !== 0 ? this.find(batch, i, mask) : NONE
    this.events[row] = (this.events[row] as number) + 1
    return row
  }

  /** A thread allocated a block of this size. */
  allocation(row: number, lo: number, hi: number): void {
    this.allocations[row] = (this.allocations[row] as number) + 1
    this.bytes.add(row, lo, hi)
  }

  /** A thread freed a block. @param owner the row of the thread that allocated it */
  free(row: number, owner: number): void {
    this.frees[row] = (this.frees[row] as number) + 1
    if (owner !== row) this.foreignFrees[row] = (this.foreignFrees[row] as number) + 1
  }

  /** Notes an event about a block, by its number. @returns the number of the event before it of the same thread, 0 for none */
  follow(row: number, event: number): number {
    const last = this.lastEvent[row] as number
    this.lastEvent[row] = event
    return last
  }

  /** Every thread with its figures, the most events first. */
  result(): ThreadStatistics[] {
    const threads: ThreadStatistics[] = []
    for (let row = OTHERS; row < this.pairs.size; row++) {
      if (this.events[row] === 0) continue
      const process = this.pairs.high(row)
      threads.push({
        ...(row === OTHERS ? { rest: 'others' } : {
          ...(process >= FIRST && { process: this.processes.key(process) }),
          thread: this.threads.key(this.pairs.low(row)),
        }),
        events: this.events[row] as number,
        allocated: { blocks: this.allocations[row] as number, bytes: this.bytes.value(row) },
        frees: this.frees[row] as number,
        foreignFrees: this.foreignFrees[row] as number,
      })
    }
    return threads.toSorted((a, b) => b.events - a.events)
  }

  private find(batch: EventBatch, i: number, mask: number): number {
    const { words } = batch.thread
    const lo = words[2 * i + LO] as number
    const hi = words[2 * i + HI] as number
    const hasProcess = (mask & HAS_PROCESS) !== 0
    const processLo = hasProcess ? (batch.process.words[2 * i + LO] as number) : 0
    const processHi = hasProcess ? (batch.process.words[2 * i + HI] as number) : 0
    if (
      this.row !== NONE && lo === this.lo && hi === this.hi &&
      hasProcess === this.hasProcess && processLo === this.processLo && processHi === this.processHi
    ) {
      return this.row
    }
    const thread = this.threads.row(lo, hi)
    const process = hasProcess ? this.processes.row(processLo, processHi) : NONE
    const row = thread === OTHERS || process === OTHERS ? this.pairs.overflow() : this.pairs.row(thread, process)
    if (row >= this.rows) this.grow()
    this.lo = lo
    this.hi = hi
    this.processLo = processLo
    this.processHi = processHi
    this.hasProcess = hasProcess
    this.row = row
    return row
  }

  private grow(): void {
    const rows = 2 * this.rows
    this.rows = rows
    this.events = widened(this.events, new Float64Array(rows))
    this.allocations = widened(this.allocations, new Float64Array(rows))
    this.frees = widened(this.frees, new Float64Array(rows))
    this.foreignFrees = widened(this.foreignFrees, new Float64Array(rows))
    this.lastEvent = widened(this.lastEvent, new Float64Array(rows))
    this.bytes.grow(rows)
  }
}
