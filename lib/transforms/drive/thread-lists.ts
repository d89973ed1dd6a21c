import { HI, LO } from '../../bytes/u64.js'
import { U64Map } from '../../bytes/u64-map.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { MOST_THREADS, NONE, Op } from './layout.js'
import { OpList } from './op-list.js'

const { thread: HAS_THREAD, process: HAS_PROCESS } = FieldBit
/** In place of the number of a process, where the trace has none. */
const NO_PROCESS = 0
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
  /** The key of a thread, and the number of its process. */
  private lo = 0
  private hi = 0
  private process = NO_PROCESS
  /** The threads of each process, by its number, with those that have ended. */
  private readonly listsOf = new Map<number, OpList[]>()

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
    this.look(batch, i, this.processNumber(batch, i))
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
    const process = this.knownProcess(batch, i)
    if (process === undefined) return undefined
    this.look(batch, i, process)
    const at = this.numbers.find(this.lo, this.hi)
    return at < 0 ? undefined : this.exit(this.all[this.numbers.values[at]])
  }

  /** Ends the threads of the process of event i, except the first thread of all. @returns their lists */
  endProcess(batch: EventBatch, i: number): OpList[] {
    const process = this.knownProcess(batch, i)
    if (process === undefined) return []
    const lists = this.listsOf.get(process) ?? []
    this.listsOf.delete(process)
    return lists.map((list) => this.exit(list)).filter((list) => list !== undefined)
  }

  /** Ends a thread, unless it is the first one. @returns its list, if it was alive */
  private exit(list: OpList): OpList | undefined {
    if (list.number === 0 || list.isOver) return undefined
    this.numbers.remove(this.numbers.find(list.keyLo, list.keyHi))
    list.reserve()
    this.leave(list)
    list.add(Op.exit, 0, 0)
    list.isOver = true
    list.close()
    return list
  }

  /** Ends all threads that are alive at the end of the trace. */
  close(): void {
    if (this.all.length === 0) this.all.push(new OpList(0, 0, 0, this.flush))
    for (const list of this.all) {
      if (list.isOver) continue
      list.reserve()
      this.leave(list)
      list.close()
    }
  }

  /** Finds the key of the thread of event i, in a process with this number. */
  private look(batch: EventBatch, i: number, process: number): void {
    const hasThread = (batch.mask[i] & HAS_THREAD) !== 0
    this.lo = hasThread ? batch.thread.words[2 * i + LO] | 0 : 0
    this.hi = (hasThread ? batch.thread.words[2 * i + HI] : 0) ^ Math.imul(process, SPREAD)
    this.process = process
  }

  private leave(list: OpList): void {
    if (list.epoch > 0) list.add(Op.epoch, 0, NONE)
  }

  /** The number of the process of event i, which makes a call. */
  private processNumber(batch: EventBatch, i: number): number {
    if ((batch.mask[i] & HAS_PROCESS) === 0) {
      this.hasUnnamed = true
      return NO_PROCESS
    }
    const { words } = batch.process
    const at = this.processNumbers.add(words[2 * i + LO], words[2 * i + HI])
    const { values, size } = this.processNumbers
    if (values[at] === 0) values[at] = size
    return values[at]
  }

  /** The number of the process of event i, which ends; undefined if it made no call, so that it does not count. */
  private knownProcess(batch: EventBatch, i: number): number | undefined {
    if ((batch.mask[i] & HAS_PROCESS) === 0) return NO_PROCESS
    const { words } = batch.process
    const at = this.processNumbers.find(words[2 * i + LO], words[2 * i + HI])
    return at < 0 ? undefined : this.processNumbers.values[at]
  }

  private find(lo: number, hi: number): OpList {
    const { all, numbers } = this
    const at = numbers.find(lo, hi)
    if (at >= 0) return all[numbers.values[at]]
    if (all.length >= MOST_THREADS) return all[0]
    const list = new OpList(all.length, lo, hi, this.flush)
    const others = this.listsOf.get(this.process)
    if (others === undefined) this.listsOf.set(this.process, [list])
    else others.push(list)
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
