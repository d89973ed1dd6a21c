import type { EventBatch } from './batch.js'
import type { Stage } from './stage.js'

/** The base of stages that process each batch at once, and hold nothing back for the next one. */
export abstract class OneBatch<Out> implements Stage<EventBatch, Out> {
  private batch: EventBatch | null = null

  feed(batch: EventBatch): void {
    this.batch = batch
  }

  abstract next(): Out | null

  end(): void {}

  endTruncated(): void {}

  /** The batch that was fed; null when it was taken. */
  protected fed(): EventBatch | null {
    const { batch } = this
    this.batch = null
    return batch
  }
}
