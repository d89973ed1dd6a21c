const NOTHING = new Uint8Array(0)

/**
 * A cursor over a stream of chunks. A decoder reads `bytes[pos..end)`; when a record does not fit it leaves `pos` at
 * the record's first byte, and the next `feed` puts the new chunk behind what was left. So a decoder tries, and
 * rewinds when the chunk ran out: no state machine.
 *
 * Whole chunks are read in place. A chunk behind something that was left is only copied to it when somebody asks for
 * `bytes` before that has been read: what takes the bytes elsewhere anyway uses `copyTo`, `next` and `skip`, and reads
 * the rest in place.
 */
export class Input {
  /** The next byte to read, as an index into `bytes`. */
  pos = 0
  /** One past the last byte that is there: the length of `bytes`. */
  end = 0
  /** No more chunks will come. */
  ended = false
  /** The stream's offset of the byte at index 0. */
  private base = 0
  /** What is there, but for the chunk behind it. */
  private here: Uint8Array = NOTHING
  /** A chunk that is not joined yet to what is there, which lies in `joined` then. */
  private behind: Uint8Array | undefined
  /** Where what was left of one chunk is joined to the next. */
  private joined = NOTHING

  /**
   * What was fed and not read, with or without some of what was read. Indices stay as they are until the next `feed` or
   * `skip`.
   */
  get bytes(): Uint8Array {
    const { here, behind } = this
    if (behind === undefined) return here
    this.joined.set(behind, here.length)
    this.behind = undefined
    return (this.here = this.joined.subarray(0, this.end))
  }

  /** How far into the stream `pos` is, in bytes. */
  get offset(): number {
    return this.base + this.pos
  }

  /** How many bytes are there to read. */
  get left(): number {
    return this.end - this.pos
  }

  /** The byte at `pos`, if one is left. */
  get next(): number {
    const { here, behind, pos } = this
    return (behind !== undefined && pos >= here.length ? behind[pos - here.length] : here[pos]) as number
  }

  /** Moves on by `n` bytes, of which no index is of use any more. */
  skip(n: number): void {
    this.pos += n
    const { here, behind } = this
    if (behind === undefined || this.pos < here.length) return
    this.base += here.length
    this.pos -= here.length
    this.end = behind.length
    this.here = behind
    this.behind = undefined
  }

  /** Copies what has the indices from `from` to `to` to `target[at..]`. */
  copyTo(target: Uint8Array, at: number, from: number, to: number): void {
    const { here, behind } = this
    const cut = here.length
    if (from < cut) target.set(here.subarray(from, Math.min(to, cut)), at)
    if (to > cut)
      target.set((behind as Uint8Array).subarray(Math.max(from - cut, 0), to - cut), at + Math.max(cut - from, 0))
  }

  /**
   * Adds a chunk behind the bytes that are still unread. The chunk is looked at until it has been read, or the next one
   * is fed.
   */
  feed(chunk: Uint8Array): void {
    const { bytes, pos, left } = this
    if (left === 0) {
      this.base += pos
      this.pos = 0
      this.here = chunk
      this.end = chunk.length
      return
    }
    // If there is room behind what is there, it stays: a record that comes in tiny pieces is not copied again for each
    // of them.
    if (bytes.buffer !== this.joined.buffer || this.end + chunk.length > this.joined.length) {
      const needed = left + chunk.length
      const unread = bytes.subarray(pos)
      if (this.joined.length < needed || this.joined.length > 4 * needed + 65_536)
        this.joined = new Uint8Array(needed + left)
      this.joined.set(unread)
      this.here = this.joined.subarray(0, left)
      this.base += pos
      this.pos = 0
      this.end = left
    }
    this.end += chunk.length
    this.behind = chunk
  }
}
