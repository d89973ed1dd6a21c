import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { checkMoment, type Moment } from './moment.js'

const HAS_TIME = FieldBit.time

/** Finds the position of a moment, given by an event or a time, in a stream of batches. */
export class MomentSearch {
  private events = 0
  private hasTimes = false
  private isFound = false
  private readonly lo: number
  private readonly hi: number

  /** @throws RangeError for an impossible moment */
  constructor(private readonly moment: Exclude<Moment, 'peak'>) {
    checkMoment(moment)
    const time = 'time' in moment ? moment.time : 0n
    this.lo = Number(BigInt.asUintN(32, time))
    this.hi = Number(time >> 32n)
  }

  /** Whether the moment has come. */
  get found(): boolean {
    return this.isFound
  }

  /** Examines the next batch. @returns the number of its events before the moment; undefined if the moment is later */
  find(batch: EventBatch): number | undefined {
    const before = this.events
    this.events += batch.count
    if (this.isFound) return undefined
    const { moment } = this
    const at = 'event' in moment ? moment.event - before : this.firstLater(batch)
    if (at === undefined || at > batch.count) return undefined
    this.isFound = true
    return at
  }

  /** @throws Error when the stream has ended and has no such event, or no times */
  check(): void {
    const { moment } = this
    if (this.isFound) return
    if ('event' in moment) throw new Error(`there is no event ${moment.event}: there are ${this.events}`)
    if (!this.hasTimes) throw new Error('no event has a time: give the number of an event')
  }

  /** The first event whose time is after the given one. */
  private firstLater({ mask, time, columns, count }: EventBatch): number | undefined {
    if ((columns & HAS_TIME) === 0) return undefined
    const { lo, hi } = this
    const { words } = time
    for (let i = 0; i < count; i++) {
      if ((mask[i] & HAS_TIME) === 0) continue
      this.hasTimes = true
      const high = words[2 * i + HI]
      if (high > hi || (high === hi && words[2 * i + LO] > lo)) return i
    }
    return undefined
  }
}
