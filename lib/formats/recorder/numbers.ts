import { HI, LO } from '../../bytes/u64.js'

/** The bytes are not all there yet. */
export const SHORT = -1
/** A number has more than 64 bits. */
export const TOO_LARGE = -2

/**
 * Reads numbers of 7 bits a byte, the lowest first, into pairs of words.
 * @param n how many numbers to read
 * @returns the position after them, `SHORT` or `TOO_LARGE`
 */
export function readNumbers(bytes: Uint8Array, p: number, end: number, target: Uint32Array, n: number): number {
  for (let i = 0; i < n; i++) {
    if (p >= end) return SHORT
    let byte = bytes[p++]
    let lo = byte & 0x7f
    let hi = 0
    let shift = 7
    while (byte > 0x7f) {
      if (p >= end) return SHORT
      byte = bytes[p++]
      const bits = byte & 0x7f
      if (shift < 28) lo |= bits << shift
      else if (shift === 28) {
        lo |= bits << 28
        hi = bits >>> 4
      } else if (shift < 63) hi |= bits << (shift - 32)
      else if (shift === 63 && byte <= 1) hi |= byte << 31
      else return TOO_LARGE
      shift += 7
    }
    target[2 * i + LO] = lo
    target[2 * i + HI] = hi
  }
  return p
}

/** Adds the number at `from` to the pair of words at `at`. */
export function add(words: Uint32Array, numbers: Uint32Array, from: number, at = 0): void {
  addWords(words, numbers[2 * from + LO], numbers[2 * from + HI], at)
}

/** Adds the difference at `from`, whose lowest bit is its sign, to the pair of words at `at`. */
export function addDifference(words: Uint32Array, numbers: Uint32Array, from: number, at = 0): void {
  const lo = numbers[2 * from + LO]
  const hi = numbers[2 * from + HI]
  const sign = -(lo & 1)
  addWords(words, (((lo >>> 1) | (hi << 31)) ^ sign) >>> 0, ((hi >>> 1) ^ sign) >>> 0, at)
}

function addWords(words: Uint32Array, lo: number, hi: number, at: number): void {
  const sum = words[at + LO] + lo
  words[at + LO] = sum
  words[at + HI] = words[at + HI] + hi + (sum > 0xffff_ffff ? 1 : 0)
}
