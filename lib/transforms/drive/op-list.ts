import { KIND_BITS, LOW_BITS, Op } from './layout.js'

/** The number of operations of the first chunk, and of the largest ones, with the link at the end. */
const FIRST_OPS = 128
const LARGEST_OPS = 8192
/** The maximum number of operations that one event adds. */
const EVENT_OPS = 16
const LOW_MASK = 2 ** LOW_BITS - 1
/** The number of other threads whose waits are remembered, so that they are not repeated. */
const WAITS = 64

/** The operations of one thread, in chunks that are passed on when they are full. */
export class OpList {
  /** The number of operations, without links. */
  ops = 0
  /** The number of calls. */
  calls = 0
  /** The epoch that the thread is in, from 1; 0 for none. */
  epoch = 0
  /** The number of operations when the thread last published it. */
  published = 0
  /** The time of the last operation of that kind, in ns. */
  timed = -1
  /** Whether the end of the thread is in the trace. */
  isOver = false
  /** The positions of the chunks, and the number of operations in each. */
  readonly offsets: number[] = []
  readonly sizes: number[] = []
  /** The slots that the thread freed, and their number. */
  readonly slots = new Uint32Array(256)
  free = 0
  private words: Uint32Array
  private used = 0
  private readonly waitThreads = new Int32Array(WAITS).fill(-1)
  private readonly waitPositions = new Float64Array(WAITS)

  /**
   * @param number of the thread, from 0
   * @param keyLo with `keyHi`, the key of the thread
   * @param flush takes a full chunk, and returns its position in the file
   */
  constructor(
    readonly number: number,
    readonly keyLo: number,
    readonly keyHi: number,
    private readonly flush: (words: Uint32Array) => number,
  ) {
    this.words = new Uint32Array(2 * FIRST_OPS)
  }

  /** Makes room for the operations of an event, all of which must be in one chunk. */
  reserve(): void {
    if (this.used + 2 * EVENT_OPS > this.words.length) this.endChunk()
  }

  /** Adds an operation; `reserve` has made room for it. */
  add(kind: number, low: number, value: number): void {
    this.words[this.used++] = (low << KIND_BITS) | kind
    this.words[this.used++] = value
    this.ops++
  }

  /** Adds an operation with a size of up to 2^46 bytes. */
  addSized(kind: number, size: number, value: number): void {
    if (size > LOW_MASK) this.add(Op.more, Math.floor(size / 2 ** LOW_BITS), 0)
    this.add(kind, size & LOW_MASK, value)
  }

  /** Adds a memalign. @param power the logarithm of the alignment */
  addAligned(size: number, power: number, slot: number): void {
    this.add(Op.more, Math.floor(size / 2 ** LOW_BITS), power)
    this.add(Op.memalign, size & LOW_MASK, slot)
  }

  /** Adds a wait until another thread has executed a number of operations, unless an earlier one covers it. */
  wait(thread: number, position: number): void {
    const at = thread % WAITS
    if (this.waitThreads[at] === thread && this.waitPositions[at] >= position) return
    this.waitThreads[at] = thread
    this.waitPositions[at] = position
    const high = Math.floor(position / 2 ** 32)
    if (high > 0) this.add(Op.more, high, 0)
    this.add(Op.wait, thread, position >>> 0)
  }

  /** Notes how many operations of another thread are known to have been executed. */
  knows(thread: number, position: number): void {
    this.waitThreads[thread % WAITS] = thread
    this.waitPositions[thread % WAITS] = position
  }

  /** Passes on the operations so far. */
  endChunk(): void {
    const ops = this.used / 2
    this.words[this.used++] = Op.link
    this.words[this.used++] = 0
    const { length } = this.words
    this.offsets.push(this.flush(this.words.slice(0, this.used)))
    this.sizes.push(ops)
    this.used = 0
    if (length < 2 * LARGEST_OPS) this.words = new Uint32Array(2 * length)
  }

  /** Passes on the last chunk. The thread has at least one. */
  close(): void {
    if (this.used > 0 || this.offsets.length === 0) this.endChunk()
    this.words = new Uint32Array(0)
  }
}
