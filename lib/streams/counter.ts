import type { EventEmitter } from 'node:events'
import type { EventBatch } from '../event/batch.js'
import { chain } from '../event/chain.js'
import type { BatchTransform, Stage } from '../event/stage.js'

/** What becomes of the events of a stream that reads them. */
export interface ReadOptions {
  /**
   * Nobody else reads the chunks that are written: the memory of those that come from our own streams is used again.
   * Default false.
   */
  recycle?: boolean
  /** What the events go through in this very stream, which gives its results in place of them. */
  through?: Stage<EventBatch, object>
}

/** What events go through, with `events` emitted on `emitter` before: the number of events of each batch. */
export function counted(emitter: EventEmitter, { through, recycle = false }: ReadOptions): Stage<EventBatch, object> {
  const counter = new Counter(emitter)
  return through === undefined ? counter : chain(counter, through, { recycle })
}

/** Passes batches on, and emits `events` with the number of events of each. */
export class Counter implements BatchTransform {
  readonly consumes = true
  private batch: EventBatch | null = null

  constructor(private readonly emitter: EventEmitter) {}

  feed(batch: EventBatch): void {
    this.batch = batch
    this.emitter.emit('events', batch.count)
  }

  next(): EventBatch | null {
    const { batch } = this
    this.batch = null
    return batch
  }

  end(): void {
    // Nothing is held back.
  }

  cut(): void {
    // Nothing is held back.
  }
}
