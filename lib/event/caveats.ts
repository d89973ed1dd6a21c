import type { EventBatch } from './batch.js'
import { earlyEnd, EARLY_END_NOTE } from './early-end.js'
import { lacksEvents, type TraceHeader } from './header.js'
import { LostCount } from './lost-events.js'
import type { BatchTransform } from './stage.js'
import { weightedEvents, weightNote } from './weights.js'

/** A note about a trace from which events were removed. */
const FILTERED =
  'events were removed from the trace, so blocks that seem to be live may have been freed; ' +
  'use --lifetimes with hf-filter and hf-split'

/**
 * Passes batches on, and warns at the end of causes of wrong results: events that the recorder lost, events that were
 * removed, sampled events, and a trace that ends before the program.
 */
export class Caveats implements BatchTransform {
  readonly consumes = true
  readonly warnings: string[] = []
  private batch: EventBatch | null = null
  private header: TraceHeader | undefined
  private readonly lost = new LostCount()
  private weighted = 0
  private isFiltered = false
  private endsEarly = false

  feed(batch: EventBatch): void {
    this.batch = batch
    this.lost.add(batch)
    this.endsEarly ||= earlyEnd(batch, 0, batch.count) >= 0
    if (batch.groups !== undefined) this.weighted += weightedEvents(batch.groups, 0, batch.count)
    if (batch.header === this.header) return
    this.header = batch.header
    this.isFiltered ||= lacksEvents(batch.header)
  }

  next(): EventBatch | null {
    const { batch } = this
    this.batch = null
    return batch
  }

  end(): void {
    this.warnings.push(...this.lost.warnings())
    if (this.isFiltered) this.warnings.push(FILTERED)
    if (this.endsEarly) this.warnings.push(EARLY_END_NOTE)
    if (this.weighted > 0) this.warnings.push(weightNote(this.weighted))
  }

  endTruncated(): void {
    this.end()
  }
}
