import type { EventBatch } from './batch.js'
import { Doubts } from './doubts.js'
import { EARLY_END_NOTE } from './early-end.js'
import type { BatchTransform } from './stage.js'
import { weightNote } from './weights.js'

/** A note about a trace from which events were removed. */
const FILTERED =
  'events were removed from the trace, so blocks that seem to be live may have been freed; use --lifetimes with ' +
  'hf-filter and hf-split'

/**
 * Passes batches on, and warns at the end of causes of wrong results: events that the recorder lost, events that were
 * removed, sampled events, and a trace that ends before the program.
 */
export class Caveats implements BatchTransform {
  readonly consumes = true
  readonly warnings: string[] = []
  private batch: EventBatch | null = null
  private readonly doubts = new Doubts()

  feed(batch: EventBatch): void {
    this.batch = batch
    this.doubts.add(batch)
  }

  next(): EventBatch | null {
    const { batch } = this
    this.batch = null
    return batch
  }

  end(): void {
    const { lost, isFiltered, endsEarly, weighted } = this.doubts
    this.warnings.push(...lost.warnings())
    if (isFiltered) this.warnings.push(FILTERED)
    if (endsEarly) this.warnings.push(EARLY_END_NOTE)
    if (weighted > 0) this.warnings.push(weightNote(weighted))
  }

  endTruncated(): void {
    this.end()
  }
}
