import type { EventEmitter } from 'node:events'
import type { EventBatch } from '../event/batch.js'
import { chain } from '../event/chain.js'
import type { BatchTransform, Stage } from '../event/stage.js'

/** Options for the events of a decoding stream. */
export interface ReadOptions {
  /**
   * Reuse the memory of written chunks from heapflow's own streams, which must have no other consumer. Default false.
   */
  recycle?: boolean
  /** A stage within this stream that processes the events; the stream then gives the results of the stage. */
  through?: Stage<EventBatch, object>
}

/** A stage, preceded by one that emits `events` on `emitter`: the number of events of each batch. */
export function counted(emitter: EventEmitter, { through, recycle = false }: ReadOptions): Stage<EventBatch, object> {
  const counter = new EventCounter(emitter, through?.countsInfos)
  return through === undefined ? counter : chain(counter, through, { recycle })
}

/** Passes batches on, and emits `events` with the number of events of each. */
export class EventCounter implements BatchTransform {
  readonly consumes = true
  private batch: EventBatch | null = null

  /** @param countsInfos what follows takes batches with infos */
  constructor(
    private readonly emitter: EventEmitter,
    readonly countsInfos: boolean = false,
  ) {}

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

  endTruncated(): void {
    // Nothing is held back.
  }
}
