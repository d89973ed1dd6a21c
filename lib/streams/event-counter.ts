import type { EventEmitter } from 'node:events'
import type { EventBatch } from '../event/batch.js'
import { passOn } from '../event/pass-on.js'
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

/**
 * A stage that passes batches on, and emits `events` with the number of events of each.
 * @param countsInfos whether the next stage takes batches with infos
 */
export function eventCounter(emitter: EventEmitter, countsInfos = false): BatchTransform {
  return passOn((batch) => emitter.emit('events', batch.count), { countsInfos })
}
