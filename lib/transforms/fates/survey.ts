import { numberAt, setNumber } from '../../bytes/u64.js'
import { widened } from '../../bytes/widened.js'
import { SpacesError } from '../../blocks/address-spaces.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import { BlockFate, BlockFates } from '../../blocks/block-fates.js'
import { LiveSet } from '../../blocks/live-set.js'
import { BATCH_EVENTS, type EventBatch } from '../../event/batch.js'
import { Kind } from '../../event/fields.js'
import { hasInventedAddresses, UNKNOWN_TEMPORARY, type TraceHeader } from '../../event/header.js'
import { ofOption } from '../../event/options.js'
import { EventSet } from './event-set.js'
import { checkDefinition, TEMPORARY_BY, type TemporaryDefinition } from '../option-values.js'
import type { Moment } from './moment.js'
import { MomentSearch } from './moment-search.js'

const { began: BEGAN, ended: ENDED, reused: REUSED } = BlockEffect
const { 'process-end': PROCESS_END } = Kind
const NO_FATES = new Uint8Array(BATCH_EVENTS)

/** Properties of an allocation that only later events show. They take two passes over the events: see `filterFile`. */
export interface FateOptions {
  /**
   * The block is live when its process or its trace ends. Its reallocs count as allocations. The end of a process that
   * ends such a block has the fate, too, and all others that are asked for, unless the filter is inverted.
   */
  readonly leaked?: boolean
  /** It is temporary: the next call of the process frees the block, unless `temporaryBy` says otherwise. */
  readonly temporary?: boolean
  /** The definition of temporary allocations; heaptrack's if absent. */
  readonly temporaryBy?: TemporaryDefinition
  /**
   * The block is live at this moment; a time after all others is the end of the last trace. Its reallocs until then
   * count as allocations.
   */
  readonly liveAt?: Moment
}

/** The allocations of one fate. */
export interface Fate {
  /** The events that began the blocks or, for temporary ones, last allocated or resized them. */
  readonly events: EventSet
  /** The last event until which the reallocs of these blocks belong to them; 0 for none. */
  readonly until: number
  /** The reason why the events from one on were not surveyed. */
  readonly unclear?: SpacesError | undefined
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
  private readonly isAtPeak: boolean
  /** Finds the moment if it is not the peak, and whether it has been reached. */
  private readonly search: MomentSearch | undefined
  private isSettled = false
  /** The last event until which reallocs of the blocks that are live at the moment belong to them. */
  private until = 0
  private header: TraceHeader | undefined
  /** The number of events so far, and before the current batch. */
  private events = 0
  private before = 0
  private unclear: SpacesError | undefined
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
    this.isAtPeak = liveAt === 'peak'
    if (liveAt !== undefined && liveAt !== 'peak')
      this.search = ofOption('filter', 'liveAt', () => new MomentSearch(liveAt))
    if (this.isAtPeak || temporary === true) this.fated = new BlockFates(WIDTH, this.isAtPeak, hasThreads)
    this.liveSet = this.fated ?? new LiveSet(WIDTH)
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
   * @throws SpacesError with the number of the event at which blocks cannot be distinguished, after those before it
   */
  add(batch: EventBatch): void {
    if (batch.count === 0) return
    const moment = this.search?.find(batch)
    // The moment may be the end of the previous trace.
    if (moment === 0) this.settle(this.events)
    if (batch.header !== this.header) {
      if (this.header !== undefined) this.endTrace()
      this.header = batch.header
      if (this.options.temporary === true && hasInventedAddresses(batch.header)) throw new RangeError(UNKNOWN_TEMPORARY)
    }
    this.before = this.events
    try {
      this.liveSet.followParts(batch, this.before, (from, to) => {
        this.addRows(batch, from, to, moment)
        this.events = this.before + to
      })
    } catch (error) {
      if (error instanceof SpacesError) this.unclear = error
      throw error
    }
    if (moment === batch.count) this.settle(this.events)
  }

  /**
   * The allocations found, one set for each requested fate. Ends the use of the survey.
   * @throws Error when the trace has no such event, or no times
   */
  finish(): Fate[] {
    const { options, search, unclear } = this
    if (search !== undefined && !this.isSettled) {
      search.check()
      this.settle(this.events)
    }
    this.endTrace()
    if (this.isAtPeak) {
      for (let d = 0; d < this.departures; d++) this.living.add(this.departed[d])
      this.until = this.peak
    }
    return [
      ...(options.leaked === true ? [{ events: this.leaked, until: Infinity, unclear }] : []),
      ...(options.temporary === true ? [{ events: this.temporary, until: 0, unclear }] : []),
      ...(options.liveAt === undefined ? [] : [{ events: this.living, until: this.until, unclear }]),
    ]
  }

  /** @param moment the number of events of the batch before the moment */
  private addRows(batch: EventBatch, from: number, to: number, moment: number | undefined): void {
    const { liveSet } = this
    const { effects, ended, begun, gone } = liveSet
    const fates = this.fated?.fates ?? NO_FATES
    let next = 0
    for (let i = from, row = 0; i < to; i++, row++) {
      const number = this.before + i + 1
      if (i === moment && i > 0) this.settle(number - 1)
      const effect = effects[row]
      if (batch.kind[i] === PROCESS_END) for (; gone[next] === row; next += 2) this.outlast(gone[next + 1])
      if ((effect & (BEGAN | ENDED)) !== 0) this.take(number, effect, fates[row], ended[row], begun[row])
    }
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
    if (birth > this.peak || !this.isAtPeak) return
    if (this.departures === this.departed.length) this.departed = widened(this.departed, 2 * this.departures)
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
