import { recycleChunk } from '../bytes/chunks.js'
import { isEventBatch, type EventBatch } from './batch.js'

/**
 * Gives the memory of a batch, or of a chunk that an encoder made, to later ones. A decoder that gets its batches back
 * fills the same few again and again, which lie in the processor's cache, where new memory has to be fetched and
 * cleared for every batch.
 *
 * Only who reads it as the last one may do this, and only once: not while a transform still holds it, nor where others
 * read the same stream. A batch is empty then; a chunk must not be looked at any more. Whatever is not recycled is left
 * to the garbage collector.
 */
export function recycle(result: EventBatch | Uint8Array): void {
  if (isEventBatch(result)) result.recycle()
  else recycleChunk(result)
}
