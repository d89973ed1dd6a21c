const NOTHING = new Uint8Array(0)

/**
 * A cursor over a stream of chunks. A decoder reads `bytes[pos..end)`; when a record does not fit it leaves `pos` at
 * the record's first byte, and the next `feed` puts the new chunk behind what was left. So a decoder tries, and
 * rewinds when the chunk ran out: no state machine, and whole chunks are read in place without a copy.
 */
export class Input {
  bytes: Uint8Array = NOTHING
  /** The next byte to read, as an index into `bytes`. */
  pos = 0
  /** One past the last byte that is there: the length of `bytes`. */
  end = 0
  /** No more chunks will come. */
  ended = false
  /** The stream's offset of `bytes[0]`. */
  private base = 0
  /** Where what was left of one chunk is joined to the next. */
  private joined = NOTHING

  /** How far into the stream `pos` is, in bytes. */
  get offset(): number {
    return this.base + this.pos
  }

  /** How many bytes are there to read. */
  get left(): number {
    return this.end - this.pos
  }

  /** Adds a chunk behind the bytes that are still unread. The chunk is not kept once it has been read. */
  feed(chunk: Uint8Array): void {
    const left = this.end - this.pos
    if (left > 0 && this.bytes.buffer === this.joined.buffer && this.end + chunk.length <= this.joined.length) {
      // Room behind what is there: a record that comes in tiny pieces is not copied again for each of them.
      this.joined.set(chunk, this.end)
      this.end += chunk.length
      this.bytes = this.joined.subarray(0, this.end)
      return
    }
    this.base += this.pos
    if (left === 0) {
      this.bytes = chunk
    } else {
      const unread = this.bytes.subarray(this.pos, this.end)
      const needed = left + chunk.length
      if (this.joined.length < needed || this.joined.length > 4 * needed + 65_536) this.joined = new Uint8Array(needed + left)
      this.joined.set(unread)
      this.joined.set(chunk, left)
      this.bytes = this.joined.subarray(0, needed)
    }
    this.pos = 0
    this.end = this.bytes.length
  }
}
