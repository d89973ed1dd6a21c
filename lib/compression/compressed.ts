import { malformed, truncated, type TraceError } from '../event/error.js'

/** The compressed bytes, read on demand, with their offset. */
export class Compressed {
  /** Bytes that were read but not used yet. */
  rest: Uint8Array = new Uint8Array(0)
  /** The offset of `rest[0]`. */
  offset = 0
  private readonly chunks: AsyncIterator<Uint8Array>

  /**
   * @param format its name in errors
   * @param part the name, in errors, of the parts of which the input consists
   */
  constructor(
    source: AsyncIterable<Uint8Array>,
    private readonly format = 'gzip',
    private readonly part = 'member',
  ) {
    this.chunks = source[Symbol.asyncIterator]()
  }

  /** Makes `rest` non-empty; false at the end of the input. */
  async more(): Promise<boolean> {
    while (this.rest.length === 0) {
      const chunk = await this.chunks.next()
      if (chunk.done === true) return false
      this.rest = chunk.value
    }
    return true
  }

  /** No more input is needed. */
  async close(): Promise<void> {
    await this.chunks.return?.()
  }

  use(n: number): void {
    this.rest = this.rest.subarray(n)
    this.offset += n
  }

  /** The next `n` bytes, used up. */
  async take(n: number): Promise<Uint8Array> {
    const taken = new Uint8Array(n)
    for (let have = 0; have < n;) {
      if (!(await this.more())) throw this.truncated()
      const part = this.rest.subarray(0, n - have)
      taken.set(part, have)
      have += part.length
      this.use(part.length)
    }
    return taken
  }

  /** Skips the next `n` bytes. */
  async skip(n: number): Promise<void> {
    for (let left = n; left > 0;) {
      if (!(await this.more())) throw this.truncated()
      const passed = Math.min(left, this.rest.length)
      left -= passed
      this.use(passed)
    }
  }

  truncated(): TraceError {
    const { format, offset } = this
    return truncated(`the ${format} stream ends inside a ${this.part}`, { format, offset })
  }

  corrupt(reason: string, offset = this.offset): TraceError {
    return malformed(reason, { format: this.format, offset })
  }
}

/** The size of the first slice of input for an inflater in bytes; `nextSlice` gives the others. */
export const FIRST_SLICE = 512

/** If a slice inflates to more than this, the next slice is smaller. */
const MAX_OUTPUT_BYTES = 524_288

/**
 * The size of the next slice of input for an inflater: half of the last one if that produced very much, otherwise up to
 * twice as much. The output of a step stays small even for data that expands a thousandfold.
 * @param slice the size of the last slice in bytes
 * @param got the number of bytes that it produced
 * @param most the largest slice
 */
export function nextSlice(slice: number, got: number, most: number): number {
  return got > MAX_OUTPUT_BYTES ? Math.max(slice >> 1, 1) : Math.min(slice << 1, most)
}
