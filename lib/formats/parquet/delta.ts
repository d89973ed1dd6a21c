import { HI, LO } from '../../bytes/u64.js'
import { unpack } from './bits.js'
import { ParquetFault } from './fault.js'

/** A block has a whole number of miniblocks, and a miniblock of packed numbers ends at a byte. */
const PACKED = 8
const MAX_VARINT = 10
/** The number of values that are unpacked at once. */
const STEP = 1024

/** Reads numbers that are stored as differences (DELTA_BINARY_PACKED). No memory depends on what the page says. */
export class DeltaReader {
  /** The total number of values. */
  readonly count: number
  private at = 0
  private readonly miniblocks: number
  private readonly perMiniblock: number
  /** The number that was read last. */
  private lo: number
  private hi: number
  private isFirst = true
  /** The number of values in miniblocks that were not begun yet. */
  private rest: number
  /** The current miniblock: the number of its remaining values, their width, and the position of the next one. */
  private left = 0
  private width = 0
  private bits = 0
  private widths: Uint8Array = new Uint8Array(0)
  private miniblock = 0
  private leastLo = 0
  private leastHi = 0
  private readonly low = new Uint32Array(STEP)
  private readonly high = new Uint32Array(STEP)

  constructor(private readonly bytes: Uint8Array) {
    const block = this.varint()
    this.miniblocks = this.varint()
    this.count = this.varint()
    this.perMiniblock = block / this.miniblocks
    if (!(Number.isInteger(this.perMiniblock) && this.perMiniblock > 0 && this.perMiniblock % PACKED === 0))
      throw new ParquetFault('a page has blocks of differences of a wrong size')
    ;[this.lo, this.hi] = this.zigzag()
    this.rest = Math.max(0, this.count - 1)
    this.miniblock = this.miniblocks
    if (this.count === 0) this.isFirst = false
  }

  /** Reads numbers as pairs of words to `target[2 * from..]`. @throws ParquetFault if there are fewer */
  read(target: Uint32Array, from: number, count: number): void {
    let at = 2 * from
    const all = count
    if (count > 0 && this.isFirst) {
      this.isFirst = false
      target[at + LO] = this.lo
      target[at + HI] = this.hi
      at += 2
      count--
    }
    const { low, high } = this
    while (count > 0) {
      if (this.left === 0) this.begin(all - count)
      const n = Math.min(this.left, count, STEP)
      const { width, bytes } = this
      if (width <= 32) {
        unpack(bytes, this.bits, width, low, 0, n)
        high.fill(0, 0, n)
      } else {
        for (let i = 0; i < n; i++) {
          unpack(bytes, this.bits + i * width, 32, low, i, 1)
          unpack(bytes, this.bits + i * width + 32, width - 32, high, i, 1)
        }
      }
      let { lo, hi } = this
      const { leastLo, leastHi } = this
      for (let i = 0; i < n; i++, at += 2) {
        const difference = leastLo + low[i]
        const sum = (difference >>> 0) + lo
        hi = (hi + leastHi + high[i] + (difference > 0xffff_ffff ? 1 : 0) + (sum > 0xffff_ffff ? 1 : 0)) >>> 0
        lo = sum >>> 0
        target[at + LO] = lo
        target[at + HI] = hi
      }
      this.lo = lo
      this.hi = hi
      this.bits += n * width
      this.left -= n
      this.rest -= n
      count -= n
    }
  }

  /** Passes over all numbers. @returns the position after them */
  end(): number {
    while (this.rest > 0) {
      this.begin()
      this.rest -= this.left
      this.left = 0
    }
    return this.at
  }

  /** Begins a miniblock. @param good the number of values that were read, for errors */
  private begin(good = 0): void {
    if (this.rest === 0) throw new ParquetFault('a page has fewer values than it says').after(good)
    if (this.miniblock === this.miniblocks) {
      ;[this.leastLo, this.leastHi] = this.zigzag()
      this.widths = this.bytes.subarray(this.at, (this.at += this.miniblocks))
      this.miniblock = 0
    }
    const width = this.widths[this.miniblock++]
    if (width === undefined || width > 64) throw new ParquetFault('a page has a wrong block of differences').after(good)
    this.width = width
    this.left = Math.min(this.perMiniblock, this.rest)
    this.bits = 8 * this.at
    // The last miniblock may be shorter.
    if (this.bits + this.left * width > 8 * this.bytes.length)
      throw new ParquetFault('a page has fewer values than it says').after(good)
    this.at = Math.min(this.at + (this.perMiniblock / 8) * width, this.bytes.length)
  }

  private varint(): number {
    const [lo, hi] = this.word()
    return hi * 0x1_0000_0000 + lo
  }

  private zigzag(): [lo: number, hi: number] {
    const [lo, hi] = this.word()
    const sign = -(lo & 1)
    return [(((lo >>> 1) | (hi << 31)) ^ sign) >>> 0, ((hi >>> 1) ^ sign) >>> 0]
  }

  /** An unsigned integer of 64 bits in groups of 7 bits. */
  private word(): [lo: number, hi: number] {
    let value = 0n
    for (let i = 0; i < MAX_VARINT; i++) {
      const byte = this.bytes[this.at++]
      if (byte === undefined) throw new ParquetFault('a page has fewer values than it says')
      value |= BigInt(byte & 0x7f) << BigInt(7 * i)
      if (byte < 0x80) return [Number(value & 0xffff_ffffn), Number((value >> 32n) & 0xffff_ffffn)]
    }
    throw new ParquetFault('a page has too long an integer')
  }
}
