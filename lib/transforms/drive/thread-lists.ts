import { HI, LO } from '../../bytes/u64.js'
import { U64Map } from '../../bytes/u64-map.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { MOST_THREADS, NONE, Op } from './layout.js'
import { OpList } from './op-list.js'

const HAS_THREAD = FieldBit.thread
const HAS_PROCESS = FieldBit.process
/** Sets the threads of different processes apart. */
const SPREAD = 0x9e37_79b1

/** The threads of a trace. Finds the list of operations to which an event belongs. */
export class ThreadLists {
  readonly all: OpList[] = []
  private readonly numbers = new U64Map(1, 64)
  private readonly processNumbers = new U64Map(1, 16)
  /** The thread of the event before. */
  private last: OpList | undefined
  private lastLo = 0
  private lastHi = 0
  /** Whether some event names no process. */
  private hasUnnamed = false
  /** The key of a thread. */
  private lo = 0
  private hi = 0

  /** @param flush takes a full chunk of operations, and returns its position in the file */
  constructor(private readonly flush: (words: Uint32Array) => number) {}

  /** The number of processes. Events that name none count as one further process. */
  get processes(): number {
    return this.processNumbers.size + (this.hasUnnamed ? 1 : 0)
  }

  /**
   * The list of the thread of event i. A new thread is started by the thread of the event before. If there are more
   * than 65,536, the first thread makes the calls of the others.
   */
  of(batch: EventBatch, i: number): OpList {
    this.look(batch, i)
    if ((batch.mask[i] & HAS_PROCESS) === 0) this.hasUnnamed = true
    const { last, lo, hi } = this
    if (last !== undefined && lo === this.lastLo && hi === this.lastHi && !last.isOver) return last
    this.lastLo = lo
    this.lastHi = hi
    const list = this.find(lo, hi)
    this.last = list
    return list
  }

  /** The list of the thread of the last event passed to `of`, or of the first thread if that one has ended. */
  get current(): OpList {
    const { last, all } = this
    return last === undefined || last.isOver ? all[0] : last
  }

  /**
   * Ends the thread of event i. The end of the first thread is the end of the program.
   * @returns its list, if it was alive
   */
  end(batch: EventBatch, i: number): OpList | undefined {
    const { numbers } = this
    this.look(batch, i)
    const at = numbers.find(this.lo, this.hi)
    const list = at < 0 ? undefined : this.all[numbers.values[at]]
    if (list === undefined || list.number === 0) return undefined
    numbers.remove(at)
    list.reserve()
    this.leave(list)
    list.add(Op.exit, 0, 0)
    list.isOver = true
    list.close()
    return list
  }

  /** Ends all threads that are alive at the end of the trace. */
  close(): void {
    if (this.all.length === 0) this.all.push(new OpList(0, this.flush))
    for (const list of this.all) {
      if (list.isOver) continue
      list.reserve()
      this.leave(list)
      list.close()
    }
  }

  /** Finds the key of the thread of event i. */
  private look(batch: EventBatch, i: number): void {
    const mask = batch.mask[i]
    const hasThread = (mask & HAS_THREAD) !== 0
    this.lo = hasThread ? batch.thread.words[2 * i + LO] | 0 : 0
    this.hi = hasThread ? batch.thread.words[2 * i + HI] | 0 : 0
    if ((mask & HAS_PROCESS) !== 0) this.hi ^= this.spread(batch, i)
  }

  private leave(list: OpList): void {
    if (list.epoch > 0) list.add(Op.epoch, 0, NONE)
  }

  private spread(batch: EventBatch, i: number): number {
    const words = batch.process.words
    const at = this.processNumbers.add(words[2 * i + LO], words[2 * i + HI])
    const { values, size } = this.processNumbers
    if (values[at] === 0) values[at] = size
    return Math.imul(values[at], SPREAD)
  }

  private find(lo: number, hi: number): OpList {
    const { all, numbers } = this
    const at = numbers.find(lo, hi)
    if (at >= 0) return all[numbers.values[at]]
    if (all.length >= MOST_THREADS) return all[0]
    const list = new OpList(all.length, this.flush)
    if (all.length > 0) this.spawn(list)
    // Adding may replace the values.
    const added = numbers.add(lo, hi)
    numbers.values[added] = list.number
    all.push(list)
    return list
  }

  /** Starts a thread from the thread of the event before or, if that has ended, from the first one. */
  private spawn(list: OpList): void {
    const parent = this.current
    parent.reserve()
    parent.add(Op.spawn, 0, list.number)
    list.knows(parent.number, parent.ops)
  }
}
