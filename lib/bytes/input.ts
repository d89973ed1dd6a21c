const NOTHING = new Uint8Array(0)

/**
 * A cursor over a stream of chunks. A decoder reads `bytes[pos..end)`. When a record is incomplete, it leaves `pos` at
 * the record's first byte, and the next `feed` appends the new chunk. So a decoder tries, and rewinds when the chunk
 * runs out; it needs no state machine.
 *
 * Whole chunks are read in place. A chunk that follows unread bytes is copied only if `bytes` is used before they have
 * been read. Code that copies the bytes anyway uses `copyTo`, `next` and `skip`, and reads the rest in place.
 */
export class Input {
  /** The next byte to read, as an index into `bytes`. */
  pos = 0
  /** The position after the last available byte: the length of `bytes`. */
  end = 0
  /** No more chunks will arrive. */
  ended = false
  /** The available bytes, without the chunk after them. */
  private here: Uint8Array = NOTHING
  /** A chunk that has not been joined to the available bytes yet. These are in `joined` then. */
  private behind: Uint8Array | undefined
  /** Where the rest of one chunk is joined to the next. */
  private joined = NOTHING

  /** @param base the stream's offset of the byte at index 0; at first, of the first byte that is fed */
  constructor(private base = 0) {}

  /** The unread bytes, possibly after some that were read. Indices remain valid until the next `feed` or `skip`. */
  get bytes(): Uint8Array {
    const { here, behind } = this
    if (behind === undefined) return here
    this.joined.set(behind, here.length)
    this.behind = undefined
    return (this.here = this.joined.subarray(0, this.end))
  }

  /** The offset of `pos` in the stream, in bytes. */
  get offset(): number {
    return this.base + this.pos
  }

  /** The number of unread bytes. */
  get left(): number {
    return this.end - this.pos
  }

  /** The byte at `pos`, if one is left. */
  get next(): number {
    const { here, behind, pos } = this
    return (behind !== undefined && pos >= here.length ? behind[pos - here.length] : here[pos]) as number
  }

  /** Advances by `n` bytes. Indices become invalid. */
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

  /** Copies the unread bytes, so that the owner of the chunks may change these. Indices become invalid. */
  detach(): void {
    const { bytes, pos, left } = this
    if (left === 0 || bytes.buffer === this.joined.buffer) return
    const joined = new Uint8Array(2 * left)
    joined.set(bytes.subarray(pos))
    this.joined = joined
    this.here = joined.subarray(0, left)
    this.base += pos
    this.pos = 0
    this.end = left
  }

  /** Copies the bytes at the indices from `from` to `to` to `target[at..]`. */
  copyTo(target: Uint8Array, at: number, from: number, to: number): void {
    const { here, behind } = this
    const cut = here.length
    if (from < cut) target.set(here.subarray(from, Math.min(to, cut)), at)
    if (to > cut)
      target.set((behind as Uint8Array).subarray(Math.max(from - cut, 0), to - cut), at + Math.max(cut - from, 0))
  }

  /**
   * Appends a chunk to the unread bytes. The chunk must stay unchanged until it has been read or the next one is fed.
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
    // If there is room after the available bytes, they stay in place: a record that arrives in tiny pieces is not
    // copied again for each of them.
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

/** The base of stages that read an `Input`. */
export abstract class InputReader {
  constructor(protected readonly input = new Input()) {}

  feed(chunk: Uint8Array): void {
    this.input.feed(chunk)
  }

  end(): void {
    this.input.ended = true
  }

  detach(): void {
    this.input.detach()
  }
}
