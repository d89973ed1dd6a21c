import { HI, LO, WORD } from '../../bytes/u64.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import { LiveSet } from '../../blocks/live-set.js'
import { BATCH_EVENTS, type EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { hasInventedAddresses, UNKNOWN_TEMPORARY, type TraceHeader } from '../../event/header.js'
import { BoundedKeys, NONE } from '../statistics/bounded-keys.js'
import { Sum } from '../statistics/sums.js'
import { EventSet } from './event-set.js'
import { checkMoment, type Moment } from './moment.js'

const { began: BEGAN, ended: ENDED, unknown: UNKNOWN, reused: REUSED } = BlockEffect
const { existing: EXISTING, 'process-end': PROCESS_END } = Kind
const HAS_SIZE = FieldBit.size
const HAS_TIME = FieldBit.time
const HAS_PROCESS = FieldBit.process

/** Properties of an allocation that only later events show. They take two passes over the events: see `filterFile`. */
export interface FateOptions {
  /** The block is live when its trace ends. Its reallocs count as allocations. */
  readonly leaked?: boolean
  /** The next call of the process frees the block: a temporary allocation as heaptrack defines it. */
  readonly temporary?: boolean
  /** The block is live at this moment. Its reallocs until then count as allocations. */
  readonly liveAt?: Moment
}

/** The allocations of one fate. */
export interface Fate {
  /** The events that began the blocks or, for temporary ones, last allocated or resized them. */
  readonly events: EventSet
  /** The last event until which the reallocs of these blocks belong to them; 0 for none. */
  readonly until: number
}

/**
 * The positions in a block's words of the event that began it, the event that last allocated or resized it, and its
 * size.
 */
const [BIRTH, LAST, SIZE, WIDTH] = [0, 2, 4, 6]

/**
 * The first of two passes over a trace: finds the allocations whose fate is requested. `LiveSet` determines the block
 * of an event; temporary blocks, and blocks live at the peak, are those of the statistics.
 *
 * Memory grows with the number of live blocks (55 to 320 bytes each), and with the number of allocations found, by 2
 * bytes or less for each (see `EventSet`).
 */
export class FateSurvey {
  private readonly liveSet = new LiveSet(WIDTH)
  private readonly leaked = new EventSet()
  private readonly temporary = new EventSet()
  private living = new EventSet()
  private readonly liveAt: Moment | undefined
  /** Whether blocks must be live at a time, and the time as words. */
  private readonly isTimed: boolean
  private readonly timeLo: number
  private readonly timeHi: number
  private hasTimes = false
  /** The moment has been reached; and the last event until which reallocs of the live blocks belong to them. */
  private isSettled = false
  private until = 0
  private header: TraceHeader | undefined
  /** The number of events before the current batch. */
  private events = 0
  /** The highest number of a block in this trace. */
  private highest = 0
  private readonly processes = new BoundedKeys()
  /** By process, the event of its last call if that allocated, otherwise 0. */
  private lastCalls = new Float64Array(64)
  /** The live bytes, their maximum so far, and the event that reached it. */
  private readonly liveBytes = new Sum()
  private readonly mostBytes = new Sum()
  private peak = 0
  /** Blocks that were live at the peak and have ended since, by the events that began them. */
  private departed = new Float64Array(64)
  private departures = 0

  /** @throws RangeError for an invalid moment */
  constructor(private readonly options: FateOptions) {
    const { liveAt } = options
    if (liveAt !== undefined) checkMoment(liveAt)
    this.liveAt = liveAt
    this.isTimed = typeof liveAt === 'object' && 'time' in liveAt
    const time = typeof liveAt === 'object' && 'time' in liveAt ? liveAt.time : 0n
    this.timeLo = Number(BigInt.asUintN(32, time))
    this.timeHi = Number(time >> 32n)
  }

  /** Whether later events cannot change the result. */
  get isDone(): boolean {
    const { leaked, temporary } = this.options
    return this.isSettled && leaked !== true && temporary !== true
  }

  /**
   * Takes the events of a batch.
   * @throws RangeError when there is no memory for the blocks, and for temporary blocks of a trace that does not say
   *   which block is freed
   */
  add(batch: EventBatch): void {
    if (batch.count === 0) return
    if (batch.header !== this.header) {
      // The moment may be the end of the previous trace.
      if (this.isTimed && !this.isSettled && this.isLater(batch, 0)) this.settle(this.events)
      if (this.header !== undefined) this.endTrace()
      this.header = batch.header
      if (this.options.temporary === true && hasInventedAddresses(batch.header)) throw new RangeError(UNKNOWN_TEMPORARY)
    }
    for (let from = 0; from < batch.count; from += BATCH_EVENTS)
      this.addRows(batch, from, Math.min(from + BATCH_EVENTS, batch.count))
    this.events += batch.count
  }

  /**
   * The allocations found, one set for each requested fate. Ends the use of the survey.
   * @throws Error when the trace has no such event, or no times
   */
  finish(): Fate[] {
    const { options, liveAt } = this
    if (typeof liveAt === 'object' && !this.isSettled) {
      if ('event' in liveAt) throw new Error(`there is no event ${liveAt.event}: the input has ${this.events}`)
      if (!this.hasTimes) throw new Error('no event has a time: give the number of an event')
      this.settle(this.events)
    }
    this.endTrace()
    if (liveAt === 'peak') {
      for (let d = 0; d < this.departures; d++) this.living.add(this.departed[d])
      this.until = this.peak
    }
    return [
      ...(options.leaked === true ? [{ events: this.leaked, until: Infinity }] : []),
      ...(options.temporary === true ? [{ events: this.temporary, until: 0 }] : []),
      ...(liveAt === undefined ? [] : [{ events: this.living, until: this.until }]),
    ]
  }

  private addRows(batch: EventBatch, from: number, to: number): void {
    const { liveSet, liveAt } = this
    liveSet.follow(batch, from, to)
    const { effects, ended, begun, gone } = liveSet
    let next = 0
    const moment = typeof liveAt === 'object' && 'event' in liveAt ? liveAt.event : 0
    for (let i = from, row = 0; i < to; i++, row++) {
      const number = this.events + i + 1
      if (this.isTimed && !this.isSettled && this.isLater(batch, i)) this.settle(number - 1)
      const effect = effects[row]
      if (batch.kind[i] === PROCESS_END) {
        this.lastCalls[this.processOf(batch, i)] = 0
        for (; gone[next] === row; next += 2) this.outlast(gone[next + 1])
      }
      if (effect !== 0) this.take(batch, i, number, effect, ended[row], begun[row])
      if (number === moment) this.settle(number)
    }
  }

  /** Whether an event's time is after the given one. */
  private isLater({ mask, time }: EventBatch, i: number): boolean {
    if ((mask[i] & HAS_TIME) === 0) return false
    this.hasTimes = true
    const hi = time.words[2 * i + HI]
    return hi > this.timeHi || (hi === this.timeHi && time.words[2 * i + LO] > this.timeLo)
  }

  /** Processes an event that affected a block, or tried to. */
  private take(batch: EventBatch, i: number, number: number, effect: number, old: number, next: number): void {
    const process = this.processOf(batch, i)
    if ((effect & (BEGAN | ENDED)) === 0) {
      if ((effect & UNKNOWN) !== 0) this.lastCalls[process] = 0
      return
    }
    const { words } = this.liveSet
    let birth = number
    if ((effect & ENDED) !== 0) {
      const last = numberAt(words, old * WIDTH + LAST)
      if (this.options.temporary === true && this.lastCalls[process] === last) this.temporary.add(last)
      if ((effect & BEGAN) === 0) {
        this.lastCalls[process] = 0
        this.lose(old)
        return
      }
      birth = numberAt(words, old * WIDTH + BIRTH)
      this.liveBytes.subtract(words[old * WIDTH + SIZE], words[old * WIDTH + SIZE + 1])
      setNumber(words, old * WIDTH + BIRTH, 0)
    }
    if ((effect & REUSED) !== 0) this.lose(next)
    const isSized = (batch.mask[i] & HAS_SIZE) !== 0
    const lo = isSized ? batch.size.words[2 * i + LO] : 0
    const hi = isSized ? batch.size.words[2 * i + HI] : 0
    setNumber(words, next * WIDTH + BIRTH, birth)
    setNumber(words, next * WIDTH + LAST, number)
    words[next * WIDTH + SIZE] = lo
    words[next * WIDTH + SIZE + 1] = hi
    this.highest = Math.max(this.highest, next)
    // A block that was there before is no call.
    if (batch.kind[i] !== EXISTING) this.lastCalls[process] = number
    this.liveBytes.add(lo, hi)
    if (this.mostBytes.raise(this.liveBytes)) {
      this.peak = number
      this.departures = 0
    }
  }

  /** A block ended. */
  private lose(block: number): void {
    const { words } = this.liveSet
    const at = block * WIDTH
    this.liveBytes.subtract(words[at + SIZE], words[at + SIZE + 1])
    this.depart(numberAt(words, at + BIRTH))
    setNumber(words, at + BIRTH, 0)
  }

  /** A block ended with its process. */
  private outlast(block: number): void {
    if (this.options.leaked === true) this.leaked.add(numberAt(this.liveSet.words, block * WIDTH + BIRTH))
    this.lose(block)
  }

  /** Remembers a block that ended if it was live at the peak. */
  private depart(birth: number): void {
    if (birth > this.peak || this.liveAt !== 'peak') return
    if (this.departures === this.departed.length) {
      const longer = new Float64Array(2 * this.departures)
      longer.set(this.departed)
      this.departed = longer
    }
    this.departed[this.departures++] = birth
  }

  /** The moment is just after this event: the current live blocks are those of the moment. */
  private settle(event: number): void {
    this.isSettled = true
    this.until = event
    const { words } = this.liveSet
    for (let block = 1; block <= this.highest; block++) {
      const birth = numberAt(words, block * WIDTH + BIRTH)
      if (birth > 0) this.living.add(birth)
    }
  }

  /** The live set has leaked. */
  private endTrace(): void {
    const { words } = this.liveSet
    for (let block = 1; block <= this.highest; block++) {
      const birth = numberAt(words, block * WIDTH + BIRTH)
      if (birth === 0) continue
      if (this.options.leaked === true) this.leaked.add(birth)
      this.depart(birth)
      setNumber(words, block * WIDTH + BIRTH, 0)
    }
    this.liveBytes.lo = this.liveBytes.hi = 0
    this.highest = 0
    this.liveSet.clear()
  }

  /** The row of an event's process. */
  private processOf(batch: EventBatch, i: number): number {
    if ((batch.mask[i] & HAS_PROCESS) === 0) return NONE
    const { words } = batch.process
    const row = this.processes.row(words[2 * i + LO], words[2 * i + HI])
    if (row >= this.lastCalls.length) {
      const longer = new Float64Array(2 * row)
      longer.set(this.lastCalls)
      this.lastCalls = longer
    }
    return row
  }
}

/** The number of an event in two words. */
function numberAt(words: Uint32Array, at: number): number {
  return words[at] + words[at + 1] * WORD
}

function setNumber(words: Uint32Array, at: number, number: number): void {
  words[at] = number % WORD
  words[at + 1] = Math.floor(number / WORD)
}
