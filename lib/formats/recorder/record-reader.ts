import { InputReader } from '../../bytes/input.js'
import { HI, LO } from '../../bytes/u64.js'
import { limit, malformed, truncated, type TraceError, type TracePosition } from '../../event/error.js'
import { MAX_STRING, NAME, OLD_VERSION, VERSION } from './layout.js'
import { readNumbers, SHORT } from './numbers.js'
import { MAGIC } from './sniff.js'

/** The input of a decoder: its chunks, the numbers and strings of records, and what is wrong with them. */
export abstract class RecordReader extends InputReader {
  /** The numbers of the record that is read, as pairs of words. */
  protected readonly numbers = new Uint32Array(16)
  protected starved = false
  protected wasCut = false
  /** The number of events delivered. */
  protected delivered = 0
  protected fault: TraceError | undefined
  /** The version of the format. */
  protected version = VERSION

  override feed(chunk: Uint8Array): void {
    super.feed(chunk)
    this.starved = false
  }

  override end(): void {
    super.end()
    this.starved = false
  }

  endTruncated(): void {
    this.wasCut = true
  }

  /** Reads the magic number and the version. @returns false if more input is needed, or they are wrong */
  protected begin(): boolean {
    const { input } = this
    const { bytes, pos, left } = input
    const length = MAGIC.length + 1
    const wrong = MAGIC.findIndex((byte, i) => i < left && bytes[pos + i] !== byte)
    if (wrong >= 0) this.fault = malformed('not the beginning of a recording', this.here(0))
    else if (left < length) this.starve(0, left === 0 ? 'the input is empty' : 'the input ends within its beginning')
    else if (bytes[pos + length - 1] !== VERSION && bytes[pos + length - 1] !== OLD_VERSION)
      this.fault = malformed(`version ${bytes[pos + length - 1]} of the format is not known`, this.here(0))
    else {
      this.version = bytes[pos + length - 1]
      input.pos += length
      return true
    }
    return false
  }

  /**
   * Reads the numbers of a record.
   * @param from where they begin, after the tag
   * @param pending how many events came before it since those delivered
   * @returns the position after them, or a negative number if they are incomplete or wrong
   */
  protected read(from: number, count: number, pending: number): number {
    const { input, numbers } = this
    const next = readNumbers(input.bytes, from, input.end, numbers, count)
    if (next === SHORT) this.starve(pending)
    else if (next < 0) this.fault = malformed('a number of more than 64 bits', this.here(pending))
    return next
  }

  /**
   * The end of a string whose length is the number at `i`.
   * @param from where it begins
   * @returns a negative number if it is not all there, or too long
   */
  protected stringEnd(i: number, from: number, pending: number): number {
    const length = this.small(i)
    if (length < 0 || length > MAX_STRING) {
      this.fault = limit(`a string of more than ${MAX_STRING} bytes`, this.here(pending))
      return -1
    }
    if (this.input.end - from >= length) return from + length
    this.starve(pending)
    return -1
  }

  /** The number at `i`, if it has at most 32 bits; otherwise -1. */
  protected small(i: number): number {
    return this.numbers[2 * i + HI] === 0 ? this.numbers[2 * i + LO] : -1
  }

  /** Nothing more can be read until more input arrives; at the end of the input, that is a fault. */
  protected starve(pending: number, reason?: string): void {
    const { input } = this
    this.starved = true
    if (!input.ended) return
    const missing = input.left === 0 ? 'the end mark is missing' : 'the input ends within a record'
    this.fault = truncated(reason ?? missing, this.here(pending))
  }

  protected malformed(reason: string, pending: number): void {
    this.fault = malformed(reason, this.here(pending))
  }

  /** The place of the event after those delivered and `pending` more. */
  protected here(pending: number): TracePosition {
    return { format: NAME, offset: this.input.offset, event: this.delivered + pending + 1 }
  }
}
