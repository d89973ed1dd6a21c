import type { EventBatch } from './batch.js'
import { packColumns, packedLength, viewColumns } from './pack.js'

/** Memory is taken in pieces of this size. */
const CHUNK_BYTES = 1_048_576

/** What a batch takes beside its columns, about. */
const BATCH_BYTES = 2000

/**
 * Holds batches in memory that is used again and again. Batches that are kept long and then dropped would else pile up
 * until the garbage collector sees them, which it does late, for it does not count the bytes of typed arrays as its
 * own.
 */
export class BatchArena {
  /** How many bytes of memory the batches take, about. */
  bytes = 0
  private readonly chunks: ArrayBuffer[] = []
  /** How many chunks are in use. */
  private used = 0
  /** How much of the last one is. */
  private end = 0

  /** Copies a batch. The copy shares the strings, and is valid until `clear` is called. */
  copy(batch: EventBatch): EventBatch {
    const length = packedLength(batch)
    const buffer = this.chunk(length)
    packColumns(batch, buffer, this.end)
    const copy = viewColumns(buffer, this.end, batch.header, batch.strings)
    this.end += length
    this.bytes += BATCH_BYTES + batch.strings.memory
    return copy
  }

  /** Gives up all copies at once. */
  clear(): void {
    this.bytes = 0
    this.used = 0
    this.end = 0
  }

  /** The last chunk, if it has so much room; else the next one. */
  private chunk(length: number): ArrayBuffer {
    const last = this.chunks[this.used - 1]
    if (last !== undefined && this.end + length <= last.byteLength) return last
    let next = this.chunks[this.used]
    if (next === undefined || next.byteLength < length) {
      next = new ArrayBuffer(Math.max(CHUNK_BYTES, length))
      this.chunks[this.used] = next
    }
    this.used++
    this.end = 0
    this.bytes += next.byteLength
    return next
  }
}
