import type { EventBatch } from './batch.js'
import { packColumns, packedLength, viewColumns } from './pack.js'

/** Memory is allocated in pieces of this size. */
const CHUNK_BYTES = 1_048_576

/** The approximate memory of a batch besides its columns. */
const BATCH_BYTES = 2000

/**
 * Holds batches in reusable memory. Batches that are kept for long and then dropped would otherwise pile up until the
 * garbage collector runs, which it does late because it does not count the bytes of typed arrays as its own.
 */
export class BatchArena {
  /** The approximate memory of the batches in bytes. */
  bytes = 0
  private readonly chunks: ArrayBuffer[] = []
  /** The number of chunks in use. */
  private used = 0
  /** The used part of the last chunk. */
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

  /** Drops all copies. */
  clear(): void {
    this.bytes = 0
    this.used = 0
    this.end = 0
  }

  /** The last chunk if it has enough room; otherwise the next one. */
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
