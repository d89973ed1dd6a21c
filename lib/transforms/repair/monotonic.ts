import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'

/** Tracks the times and sequence numbers of a trace, which must not decrease. */
export class Monotonic {
  timeHi = 0
  timeLo = 0
  sequence = 0
  private hasSequence = false

  clear(): void {
    this.timeHi = this.timeLo = 0
    this.hasSequence = false
  }

  /**
   * Advances to the time of event i.
   * @returns false when that is before the last one: then `timeHi` and `timeLo` do not change
   */
  admitsTime(batch: EventBatch, i: number): boolean {
    const hi = batch.time.words[2 * i + HI]
    const lo = batch.time.words[2 * i + LO]
    if (hi < this.timeHi || (hi === this.timeHi && lo < this.timeLo)) return false
    this.timeHi = hi
    this.timeLo = lo
    return true
  }

  /**
   * Advances to the sequence number of event i, or only to the next one if the event comes from further ahead.
   * @returns false when that is not the event's own: then use `sequence`
   */
  admitsSequence(batch: EventBatch, i: number, isMoved: boolean): boolean {
    const sequence = batch.sequence[i]
    const rises = !this.hasSequence || (!isMoved && ((sequence - this.sequence) | 0) > 0)
    this.hasSequence = true
    this.sequence = rises ? sequence : (this.sequence + 1) | 0
    return rises
  }
}
