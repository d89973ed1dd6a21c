import { plural } from '../../event/message-text.js'
import { unpack } from './bits.js'
import { ParquetFault } from './fault.js'

/** Reads numbers in Parquet's hybrid of runs and packed numbers. No memory depends on how many it says there are. */
export class HybridReader {
  private at = 0
  /** How many numbers of the run, or of the packed numbers, are left. */
  private left = 0
  private isPacked = false
  private value = 0
  /** The position of the next packed number, in bits. */
  private bits = 0

  /** @param width of numbers in bits, at most 32 */
  constructor(
    private readonly bytes: Uint8Array,
    private readonly width: number,
  ) {
    if (width > 32) throw new ParquetFault('a page has numbers of more than 32 bits')
  }

  /** Reads `count` numbers to `target[from..]`. @throws ParquetFault if there are fewer */
  read(target: Uint32Array | Uint8Array, from: number, count: number): void {
    if (this.width === 0) {
      target.fill(0, from, from + count)
      return
    }
    const first = from
    for (const end = from + count; from < end;) {
      while (this.left === 0) {
        const fault = this.begin()
        if (fault !== undefined) throw new ParquetFault(fault).after(from - first)
      }
      const n = Math.min(this.left, end - from)
      if (this.isPacked) {
        unpack(this.bytes, this.bits, this.width, target, from, n)
        this.bits += n * this.width
      } else target.fill(this.value, from, from + n)
      this.left -= n
      from += n
    }
  }

  /** Begins a run or packed numbers. @returns the reason why there is none */
  private begin(): string | undefined {
    let head = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++]
      if (byte === undefined || shift > MAX_SHIFT) return SHORT
      head += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    const count = Math.floor(head / 2)
    this.isPacked = head % 2 === 1
    if (this.isPacked) {
      // The last group may be shorter than its eight numbers.
      const room = Math.floor(((this.bytes.length - this.at) * 8) / this.width)
      this.left = Math.min(8 * count, room)
      this.bits = 8 * this.at
      this.at = Math.min(this.at + count * this.width, this.bytes.length)
      return this.left > 0 || count === 0 ? undefined : SHORT
    }
    this.left = count
    this.value = 0
    for (let shift = 0; shift < this.width; shift += 8) {
      const byte = this.bytes[this.at++]
      if (byte === undefined) return SHORT
      this.value = (this.value | (byte << shift)) >>> 0
    }
    if (this.value < 2 ** this.width) return undefined
    return `a page has a number of more than ${plural(this.width, 'bit')}`
  }
}

/** The head of a run has at most 32 bits, in groups of 7. */
const MAX_SHIFT = 28
const SHORT = 'a page has fewer values than it says'
