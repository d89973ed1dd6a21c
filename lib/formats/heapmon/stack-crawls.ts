import { widened } from '../../bytes/widened.js'
import { hashWord } from '../../bytes/hash.js'
import { HashIndex } from '../../bytes/hash-index.js'
import { LF } from '../../text/ascii.js'
import { BATCH_EVENTS } from '../../event/batch.js'
import { StringTable } from '../../event/strings.js'
import { frameEnd, trimEnd } from './frames.js'
import type { KnownNames } from './known-names.js'

/** Room for the crawls of one batch, with at most one per event, and as many from earlier batches. */
const CAPACITY = 2 * BATCH_EVENTS
/** The cache is cleared when the crawls take more than this many bytes. */
const MAX_BYTES = 1 << 22
const FOUR_LFS = 0x0a0a_0a0a

/**
 * The stack crawls of the lines. Few call sites allocate most blocks, so equal crawls are found by their bytes and
 * split into frames once. Eight bytes are compared at a time, because crawls make up most of a file. The cache outlives
 * the batches, and its memory is bounded.
 */
export class StackCrawls {
  /** The position of the line feed after the crawl found last. */
  end = 0
  private input: Uint8Array = new Uint8Array(0)
  private view: DataView = new DataView(this.input.buffer)
  private strings = new StringTable()
  /** The number of the batch, which shows whether a list below belongs to its string table. */
  private batch = 0

  /** The bytes of the cached crawls. */
  private bytes = new Uint8Array(65_536)
  private own = new DataView(this.bytes.buffer)
  private used = 0
  private readonly index = new HashIndex()
  private readonly starts = new Int32Array(CAPACITY)
  private readonly lengths = new Int32Array(CAPACITY)
  /** Per crawl, its list in the last batch it occurred in; -1 for a crawl of spaces only. */
  private readonly lists = new Int32Array(CAPACITY)
  private readonly listBatches = new Int32Array(CAPACITY)
  /** Per crawl, the numbers of its frames' names. */
  private readonly crawls: (readonly number[])[] = []

  /** @param names assigns numbers to the frames */
  constructor(private readonly names: KnownNames) {}

  /** Starts a batch whose lines are all in `input`, and whose strings go to `strings`. */
  begin(input: Uint8Array, strings: StringTable): void {
    this.input = input
    this.view = new DataView(input.buffer, input.byteOffset, input.byteLength)
    this.strings = strings
    this.batch++
    if (this.crawls.length > CAPACITY - BATCH_EVENTS || this.used > MAX_BYTES || this.names.isFull) this.forget()
    this.names.begin(strings)
  }

  /** The list of the crawl that starts at `start`, which is not a space; -1 if there is none. Sets `end`. */
  find(start: number): number {
    const { input, view, index, lengths } = this
    const last = input.length - 8
    let p = start
    let hash = 0
    for (; p <= last; p += 8) {
      const first = view.getInt32(p, true)
      const second = view.getInt32(p + 4, true)
      // A line feed becomes 0 here, which makes the subtraction borrow.
      const x = first ^ FOUR_LFS
      const y = second ^ FOUR_LFS
      if (((((x - 0x0101_0101) & ~x) | ((y - 0x0101_0101) & ~y)) & 0x8080_8080) !== 0) break
      hash = hashWord(hashWord(hash, first), second)
    }
    for (let c = input[p]; c !== LF; c = input[++p]) hash = hashWord(hash, c)
    this.end = p
    const length = p - start
    for (let crawl = index.first(hash); crawl >= 0; crawl = index.next(crawl)) {
      if (lengths[crawl] === length && this.isAt(start, crawl, length))
        return this.listBatches[crawl] === this.batch ? this.lists[crawl] : this.list(crawl)
    }
    return this.list(this.remember(start, length, hash))
  }

  private isAt(start: number, crawl: number, length: number): boolean {
    const { input, view, bytes, own } = this
    const from = this.starts[crawl]
    let i = 0
    for (; i + 8 <= length; i += 8) {
      const p = start + i
      const q = from + i
      if (
        ((view.getInt32(p, true) ^ own.getInt32(q, true)) |
          (view.getInt32(p + 4, true) ^ own.getInt32(q + 4, true))) !==
        0
      )
        return false
    }
    for (; i < length; i++) if (input[start + i] !== bytes[from + i]) return false
    return true
  }

  /** Creates the crawl's list in a batch that does not have it yet. */
  private list(crawl: number): number {
    const frames = this.crawls[crawl]
    this.listBatches[crawl] = this.batch
    if (frames.length === 0) return (this.lists[crawl] = -1)
    const list = frames.slice()
    for (let i = 0; i < list.length; i++) list[i] = this.names.id(list[i])
    return (this.lists[crawl] = this.strings.addList(list))
  }

  /** Assigns a number to a new crawl. */
  private remember(start: number, length: number, hash: number): number {
    const from = this.used
    this.keep(start, length)
    const crawl = this.crawls.length
    this.index.put(crawl, hash)
    this.starts[crawl] = from
    this.lengths[crawl] = length
    this.crawls.push(this.split(from, this.used))
    return crawl
  }

  private keep(start: number, length: number): void {
    if (this.used + length > this.bytes.length) {
      this.bytes = widened(this.bytes, Math.max(this.bytes.length * 2, this.used + length))
      this.own = new DataView(this.bytes.buffer)
    }
    this.bytes.set(this.input.subarray(start, start + length), this.used)
    this.used += length
  }

  private split(start: number, lineEnd: number): readonly number[] {
    const { bytes, names } = this
    const end = trimEnd(bytes, start, lineEnd)
    const frames: number[] = []
    for (let from = start; end > start;) {
      const to = frameEnd(bytes, from, end)
      frames.push(names.number(bytes, from, to))
      if (to === end) break
      from = to + 1
    }
    return frames
  }

  private forget(): void {
    this.names.clear()
    this.used = 0
    this.index.clear()
    this.listBatches.fill(0)
    this.crawls.length = 0
  }
}
