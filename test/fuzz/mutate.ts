import type { Random } from './random.js'

/** Inputs are at most this long. */
const MAX_BYTES = 65_536
/** A seed longer than this is seldom used whole. */
const USUAL_BYTES = 1024

/** Bytes at which something changes: ends of ranges, of LEB128 numbers, of lines and strings, of UTF-8 sequences. */
const BYTES = [
  0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x30, 0x39, 0x41, 0x4d, 0x5c, 0x7b, 0x7d, 0xc3, 0xed,
]
const WORDS = [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]

/** Numbers in text. */
const NUMBERS = [
  '0',
  '-1',
  '00',
  '255',
  '4294967295',
  '4294967296',
  '9007199254740993',
  '18446744073709551615',
  '18446744073709551616',
  '99999999999999999999999999',
  '0x',
  '0xffffffffffffffff',
  '0x10000000000000000',
  '1.5',
  '1e3',
].map((text) => Buffer.from(text))

/** Makes damaged inputs of good ones. */
export class Mutator {
  private bytes = new Uint8Array(2 * MAX_BYTES)
  private length = 0

  /**
   * @param seeds good inputs, and such as once were bad ones
   * @param tokens what such inputs are made of
   */
  constructor(
    private readonly seeds: readonly Uint8Array[],
    private readonly tokens: readonly Uint8Array[],
  ) {}

  /** An input of its own. */
  make(random: Random): Uint8Array {
    this.length = 0
    if (random.oneIn(24)) this.noise(random, 0, random.length(200))
    else this.base(random)
    for (let n = random.oneIn(20) ? 0 : 1 + random.length(6); n > 0; n--) this.mutate(random)
    return this.bytes.slice(0, Math.min(this.length, MAX_BYTES))
  }

  /** The beginning of a seed, for most of what comes later is more of the same. */
  private base(random: Random): void {
    const seed = random.pick(this.seeds)
    const length = seed.length <= USUAL_BYTES || random.oneIn(200) ? seed.length : 32 + random.below(USUAL_BYTES)
    this.insert(0, seed.subarray(0, Math.min(length, MAX_BYTES / 2)))
  }

  private mutate(random: Random): void {
    const at = random.below(this.length + 1)
    const length = random.length(Math.min(this.length - at, 64))
    switch (random.below(13)) {
      case 0:
        if (at < this.length) this.bytes[at] = this.bytes[at] ^ (1 << random.below(8))
        break
      case 1:
        if (at < this.length) this.bytes[at] = random.pick(BYTES)
        break
      case 2:
        this.word(random, at)
        break
      case 3:
        this.remove(at, length)
        break
      case 4:
        this.insert(random.below(this.length + 1), this.bytes.slice(at, at + length))
        break
      case 5:
        this.noise(random, at, random.length(16))
        break
      case 6:
        this.insert(at, random.pick(this.tokens))
        break
      case 7:
        this.splice(random, at)
        break
      case 8:
        if (random.oneIn(3)) this.length = at
        break
      case 9:
        this.repeat(random, at)
        break
      case 10:
        this.number(random, at)
        break
      case 11:
        this.line(random, at)
        break
      default:
        // Two places change their contents.
        this.bytes.copyWithin(at, random.below(this.length + 1), Math.min(at + length, this.length))
    }
  }

  private insert(at: number, bytes: Uint8Array): void {
    const fitting = bytes.subarray(0, MAX_BYTES - this.length)
    this.bytes.copyWithin(at + fitting.length, at, this.length)
    this.bytes.set(fitting, at)
    this.length += fitting.length
  }

  private remove(at: number, length: number): void {
    this.bytes.copyWithin(at, at + length, this.length)
    this.length -= Math.min(length, this.length - at)
  }

  private noise(random: Random, at: number, length: number): void {
    const noise = new Uint8Array(length)
    for (let i = 0; i < length; i++) noise[i] = random.u32()
    this.insert(at, noise)
  }

  /** 2, 4 or 8 bytes of a number at an edge, in either byte order. */
  private word(random: Random, at: number): void {
    const width = random.pick([2, 4, 8])
    if (at + width > this.length) return
    const value = BigInt.asUintN(8 * width, BigInt(random.pick(WORDS)) + BigInt(random.below(3)) - 1n)
    const isBig = random.oneIn(2)
    for (let i = 0; i < width; i++) {
      this.bytes[at + (isBig ? width - 1 - i : i)] = Number((value >> BigInt(8 * i)) & 0xffn)
    }
  }

  /** A part of another seed. */
  private splice(random: Random, at: number): void {
    const seed = random.pick(this.seeds)
    const from = random.below(seed.length + 1)
    this.insert(at, seed.subarray(from, from + random.length(128)))
  }

  /** One byte many times: a long name, a long line, a number with many digits. */
  private repeat(random: Random, at: number): void {
    const run = new Uint8Array(random.oneIn(100) ? random.below(20_000) : random.length(300))
    this.insert(at, run.fill(random.oneIn(2) && at < this.length ? this.bytes[at] : random.pick(BYTES)))
  }

  /** Another number in place of the digits from here on, if there are any nearby. */
  private number(random: Random, at: number): void {
    let from = at
    while (from < this.length && from < at + 64 && !isDigit(this.bytes[from])) from++
    let to = from
    while (to < this.length && to < from + 24 && isDigit(this.bytes[to])) to++
    if (to === from) return
    this.remove(from, to - from)
    this.insert(from, random.pick(NUMBERS))
  }

  /** The line from here on once more, or away. */
  private line(random: Random, at: number): void {
    const end = this.bytes.subarray(0, this.length).indexOf(0x0a, at)
    if (end < 0 || end - at > 2000) return
    if (random.oneIn(2)) this.remove(at, end + 1 - at)
    else this.insert(random.below(this.length + 1), this.bytes.slice(at, end + 1))
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
