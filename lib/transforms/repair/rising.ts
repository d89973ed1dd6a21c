import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'

/** How far the times and sequence numbers of a trace have come, which must not go back. */
export class Rising {
  timeHi = 0
  timeLo = 0
  sequence = 0
  private hasSequence = false

  clear(): void {
    this.timeHi = this.timeLo = 0
    this.hasSequence = false
  }

  /**
   * Goes on to the time of event i.
   * @returns false when that is before the last one: then `timeHi` and `timeLo` stay
   */
  admitsTime(batch: EventBatch, i: number): boolean {
    const hi = batch.time.words[2 * i + HI] as number
    const lo = batch.time.words[2 * i + LO] as number
    if (hi < this.timeHi || (hi === this.timeHi && lo < this.timeLo)) return false
    this.timeHi = hi
    this.timeLo = lo
    return true
  }

  /**
   * Goes on to the sequence number of event i, or just to the next one if it comes from further ahead.
   * @returns false when that is not the event's own: then `sequence` is the one to take
   */
  admitsSequence(batch: EventBatch, i: number, isMoved: boolean): boolean {
    const sequence = batch.sequence[i] as number
    const rises = !this.hasSequence || (!isMoved && ((sequence - this.sequence) | 0) > 0)
    this.hasSequence = true
    this.sequence = rises ? sequence : (this.sequence + 1) | 0
    return rises
  }
}
