import { cSource } from '../../../lib/exports/c-source/index.js'
import { batchesOf, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import type { CSourceOptions } from '../../../lib/exports/c-source/encode.js'
import { drive } from '../../support/drive.js'

/** The C source of events. @throws what the encoder throws */
export function sourceOf(events: Iterable<TraceEvent> | readonly EventBatch[], options: CSourceOptions = {}): string {
  const isBatches = Array.isArray(events) && events.length > 0 && 'mask' in events[0]
  const batches = isBatches ? (events as EventBatch[]) : batchesOf(events as Iterable<TraceEvent>)
  const { out, error } = drive(cSource.encoder(options), batches)
  if (error !== undefined) throw error
  return Buffer.concat(out).toString('latin1')
}
