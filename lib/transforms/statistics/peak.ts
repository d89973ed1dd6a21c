import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { Has } from '../../event/fields.js'
import type { Peak } from './result.js'
import type { Totals } from './totals.js'
import { wide } from './totals.js'

const HAS_TIME = Has.time

/** The moment of a peak, as plain numbers, for in a growing heap every allocation is one. */
export class PeakMoment {
  private event = 0
  private blocks = 0
  private lo = 0
  private hi = 0
  private clockLo = 0
  private clockHi = 0
  private timed = false
  private timeLo = 0
  private timeHi = 0

  /** The moment is now, at event i of a batch, number `event` of the stream. */
  mark(totals: Totals, batch: EventBatch, i: number, event: number): void {
    this.event = event
    this.blocks = totals.live
    this.lo = totals.liveBytes.lo
    this.hi = totals.liveBytes.hi
    this.clockLo = totals.allocated.lo
    this.clockHi = totals.allocated.hi
    this.timed = ((batch.mask[i] as number) & HAS_TIME) !== 0
    if (!this.timed) return
    this.timeLo = batch.time.words[2 * i + LO] as number
    this.timeHi = batch.time.words[2 * i + HI] as number
  }

  result(): Peak {
    return {
      blocks: this.blocks,
      bytes: wide(this.lo, this.hi),
      event: this.event,
      allocatedBytes: wide(this.clockLo, this.clockHi),
      ...(this.timed && { time: wide(this.timeLo, this.timeHi) }),
    }
  }
}
