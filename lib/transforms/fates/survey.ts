import { HI, LO, WORD } from '../../bytes/u64.js'
import { widened } from '../../bytes/widened.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import { BlockFate, BlockFates } from '../../blocks/block-fates.js'
import { LiveSet } from '../../blocks/live-set.js'
import { BATCH_EVENTS, type EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { hasInventedAddresses, UNKNOWN_TEMPORARY, type TraceHeader } from '../../event/header.js'
import { EventSet } from './event-set.js'
import { checkDefinition, TEMPORARY_BY, type TemporaryDefinition } from '../option-values.js'
import { checkMoment, type Moment } from './moment.js'

const { began: BEGAN, ended: ENDED, reused: REUSED } = BlockEffect
const { 'process-end': PROCESS_END } = Kind
const HAS_TIME = FieldBit.time
const NO_FATES = new Uint8Array(BATCH_EVENTS)

/** Properties of an allocation that only later events show. They take two passes over the events: see `filterFile`. */
export interface FateOptions {
  /**
   * The block is live when its process or its trace ends. Its reallocs count as allocations. The end of a process that
   * ends such a block has the fate, too.
   */
  readonly leaked?: boolean
  /** It is temporary: the next call of the process frees the block, unless `temporaryBy` says otherwise. */
  readonly temporary?: boolean
  /** The definition of temporary allocations; heaptrack's if absent. */
  readonly temporaryBy?: TemporaryDefinition
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

/** The positions in a block's words: of the event that began it, and of the event that last allocated or resized it. */
const [BIRTH, LAST, WIDTH] = [0, 2, 4]

/**
 * The first of two passes over a trace: finds the allocations whose fate is requested. `BlockFates` determines the
 * block of an event, and which blocks are temporary or live at the peak.
 *
 * Memory grows with the number of live blocks (55 to 320 bytes each), and with the number of allocations found, by 2
 * bytes or less for each (see `EventSet`).
 */
export class FateSurvey {
  private readonly liveSet: LiveSet
  /** The same, if fates are needed. */
  private readonly fated: BlockFates | undefined
  private readonly leaked = new EventSet()
  private readonly temporary = new EventSet()
  private living = new EventSet()
  private readonly temporaryBit: number
  private readonly liveAt: Moment | undefined
  /** Whether blocks must be live at some time, and that time as words. */
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
  /** The event that reached the maximum of live bytes so far. */
  private peak = 0
  /** Blocks that were live at the peak and have ended since, by the events that began them. */
  private departed = new Float64Array(64)
  private departures = 0

  /** @throws RangeError for an invalid moment, or an unknown definition */
  constructor(private readonly options: FateOptions) {
    const { liveAt, temporary, temporaryBy = TEMPORARY_BY } = options
    this.temporaryBit = checkDefinition(temporaryBy) === 'memray' ? BlockFate.byMemray : BlockFate.byHeaptrack
    const hasThreads = temporary === true && this.temporaryBit === BlockFate.byMemray
    if (liveAt === 'peak' || temporary === true) this.fated = new BlockFates(WIDTH, liveAt === 'peak', hasThreads)
    this.liveSet = this.fated ?? new LiveSet(WIDTH)
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
    const fates = this.fated?.fates ?? NO_FATES
    let next = 0
    const moment = typeof liveAt === 'object' && 'event' in liveAt ? liveAt.event : 0
    for (let i = from, row = 0; i < to; i++, row++) {
      const number = this.events + i + 1
      if (this.isTimed && !this.isSettled && this.isLater(batch, i)) this.settle(number - 1)
      const effect = effects[row]
      if (batch.kind[i] === PROCESS_END) for (; gone[next] === row; next += 2) this.outlast(gone[next + 1])
      if ((effect & (BEGAN | ENDED)) !== 0) this.take(number, effect, fates[row], ended[row], begun[row])
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

  /** Processes an event that affected a block. */
  private take(number: number, effect: number, fate: number, old: number, next: number): void {
    const { words } = this.liveSet
    let birth = number
    if ((effect & ENDED) !== 0) {
      if (this.options.temporary === true && (fate & this.temporaryBit) !== 0)
        this.temporary.add(numberAt(words, old * WIDTH + LAST))
      if ((effect & BEGAN) === 0) {
        this.lose(old)
        return
      }
      birth = numberAt(words, old * WIDTH + BIRTH)
      setNumber(words, old * WIDTH + BIRTH, 0)
    }
    if ((effect & REUSED) !== 0) this.lose(next)
    setNumber(words, next * WIDTH + BIRTH, birth)
    setNumber(words, next * WIDTH + LAST, number)
    this.highest = Math.max(this.highest, next)
    if ((fate & BlockFate.highest) !== 0) {
      this.peak = number
      this.departures = 0
    }
  }

  /** Handles a block that ended. */
  private lose(block: number): void {
    const { words } = this.liveSet
    const at = block * WIDTH
    this.depart(numberAt(words, at + BIRTH))
    setNumber(words, at + BIRTH, 0)
  }

  /** Handles a block that ended with its process. */
  private outlast(block: number): void {
    if (this.options.leaked === true) this.leaked.add(numberAt(this.liveSet.words, block * WIDTH + BIRTH))
    this.lose(block)
  }

  /** Remembers a block that ended if it was live at the peak. */
  private depart(birth: number): void {
    if (birth > this.peak || this.liveAt !== 'peak') return
    if (this.departures === this.departed.length)
      this.departed = widened(this.departed, new Float64Array(2 * this.departures))
    this.departed[this.departures++] = birth
  }

  /** Notes that the moment is just after this event: the current live blocks are live at the moment. */
  private settle(event: number): void {
    this.isSettled = true
    this.until = event
    const { words } = this.liveSet
    for (let block = 1; block <= this.highest; block++) {
      const birth = numberAt(words, block * WIDTH + BIRTH)
      if (birth > 0) this.living.add(birth)
    }
  }

  /** Counts the live set as leaks. */
  private endTrace(): void {
    const { words } = this.liveSet
    for (let block = 1; block <= this.highest; block++) {
      const birth = numberAt(words, block * WIDTH + BIRTH)
      if (birth === 0) continue
      if (this.options.leaked === true) this.leaked.add(birth)
      this.depart(birth)
      setNumber(words, block * WIDTH + BIRTH, 0)
    }
    this.highest = 0
    this.liveSet.clear()
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
