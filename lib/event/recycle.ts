import { recycleChunk } from '../bytes/chunks.js'
import { isEventBatch, type EventBatch } from './batch.js'

/**
 * Returns the memory of a batch, or of a chunk that an encoder made, for later ones. A decoder whose batches are
 * recycled fills the same few repeatedly, which stay in the processor's cache, while new memory has to be fetched and
 * cleared for every batch.
 *
 * Call this once, as the last consumer: never while a transform still holds the batch, or while another consumer reads
 * the same stream. The batch is then empty; a chunk must not be read again. Batches and chunks that are not recycled
 * are left to the garbage collector.
 */
export function recycle(result: EventBatch | Uint8Array): void {
  if (isEventBatch(result)) result.recycle()
  else recycleChunk(result)
}
