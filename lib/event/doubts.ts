import type { EventBatch } from './batch.js'
import { earlyEnd } from './early-end.js'
import { lacksEvents, type TraceHeader } from './header.js'
import { LostCount } from './lost-events.js'
import { weightedEvents } from './weights.js'

/** What makes results uncertain or wrong. Takes all batches of the trace. */
export class Doubts {
  readonly lost = new LostCount()
  /** Events were removed regardless of blocks. */
  isFiltered = false
  /** The recording ended while its program ran on. */
  endsEarly = false
  /** The number of sampled events. */
  weighted = 0
  private header: TraceHeader | undefined

  add(batch: EventBatch): void {
    this.lost.add(batch)
    this.endsEarly ||= earlyEnd(batch, 0, batch.count) >= 0
    if (batch.groups !== undefined) this.weighted += weightedEvents(batch.groups, 0, batch.count)
    if (batch.header === this.header) return
    this.header = batch.header
    this.isFiltered ||= lacksEvents(batch.header)
  }
}
