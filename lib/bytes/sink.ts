import { chunkOf, cutChunk, newChunk } from './chunks.js'

/**
 * A growing buffer that encoders write into. Hot loops call `reserve(n)` once per record, then write `bytes[pos++]`
 * without further checks. `take` returns the bytes written.
 */
export class Sink {
  bytes: Uint8Array<ArrayBuffer>
  /** The index of the next byte. */
  pos = 0

  constructor(capacity = 65_536) {
    this.bytes = newChunk(capacity)
  }

  /** Makes room for `n` more bytes. `bytes` may be another array afterwards. */
  reserve(n: number): void {
    if (this.pos + n > this.bytes.length) this.grow(n)
  }

  /** Appends a copy of `source`. */
  append(source: Uint8Array): void {
    const { length } = source
    this.reserve(length)
    // A loop is faster than `set` for few bytes.
    if (length < 32) for (let i = 0; i < length; i++) this.bytes[this.pos + i] = source[i]
    else this.bytes.set(source, this.pos)
    this.pos += length
  }

  /** A copy of the bytes written since the last call. */
  take(): Uint8Array {
    const taken = chunkOf(this.bytes.subarray(0, this.pos))
    this.pos = 0
    return taken
  }

  /**
   * The same without a copy, unless that would keep far more memory than there are bytes. `bytes` may be another array
   * afterwards.
   */
  handOver(): Uint8Array {
    const { bytes, pos } = this
    if (pos < bytes.length / 2) return this.take()
    this.bytes = newChunk(bytes.length)
    this.pos = 0
    return cutChunk(bytes, pos)
  }

  private grow(n: number): void {
    const bigger = newChunk(Math.max(this.bytes.length * 2, this.pos + n))
    bigger.set(this.bytes.subarray(0, this.pos))
    this.bytes = bigger
  }
}
