import { HI, LO, WORD, hexValue } from '../bytes/u64.js'
import { MINUS, SPACE, TAB, ZERO } from './ascii.js'

/**
 * Readers for the numbers in a line of text. Each takes the position where the number must start and the index in a
 * column's words for its value. It returns the position after the number, or `~position` (a negative number) of the
 * first byte that does not match. None checks for the end of the input: the caller ensures that a byte which is no
 * digit, such as a line feed, stops them all.
 */

/** The value of each byte as a hex digit; 255 for other bytes. */
const HEX_VALUE = Uint8Array.from({ length: 256 }, (_, char) => hexValue(char) & 255)

/** The number of decimal digits that always fit 32-bit arithmetic. */
const DIGITS_32 = 9

const POWERS = Float64Array.of(1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7)

/** Skips spaces and tabs, at least one. */
export function gap(bytes: Uint8Array, p: number): number {
  let c = bytes[p]
  if (c !== SPACE && c !== TAB) return ~p
  do c = bytes[++p]
  while (c === SPACE || c === TAB)
  return p
}

/** Reads an unsigned 64-bit decimal number. A number that is too large fails at its first digit. */
export function decimal(bytes: Uint8Array, p: number, words: Uint32Array, at: number): number {
  const start = p
  let digit = bytes[p] - ZERO
  if (digit >>> 0 > 9) return ~p
  let value = 0
  do {
    value = (Math.imul(value, 10) + digit) | 0
    digit = bytes[++p] - ZERO
  } while (digit >>> 0 <= 9)
  if (p - start > DIGITS_32) return longDecimal(bytes, start, words, at)
  words[at + LO] = value
  words[at + HI] = 0
  return p
}

const LETTER_X = 0x78

/** Reads an unsigned 64-bit number, in hex after `0x` and in decimal otherwise. */
export function unsigned(bytes: Uint8Array, p: number, words: Uint32Array, at: number): number {
  return bytes[p] === ZERO && (bytes[p + 1] | 32) === LETTER_X
    ? hex(bytes, p + 2, words, at)
    : decimal(bytes, p, words, at)
}

/** Reads what `unsigned` reads, or a minus sign and a decimal magnitude of at most 2^63, as two's complement. */
export function signed(bytes: Uint8Array, p: number, words: Uint32Array, at: number): number {
  return bytes[p] === MINUS ? negative(bytes, p, words, at) : unsigned(bytes, p, words, at)
}

/** Reads a minus sign and a magnitude of at most 2^63, as two's complement. */
export function negative(bytes: Uint8Array, p: number, words: Uint32Array, at: number): number {
  const first = p + 1
  p = decimal(bytes, first, words, at)
  if (p < 0) return p
  const lo = words[at + LO]
  const hi = words[at + HI]
  if (hi > 0x8000_0000 || (hi === 0x8000_0000 && lo !== 0)) return ~first
  words[at + LO] = -lo
  words[at + HI] = lo === 0 ? -hi : ~hi
  return p
}

/**
 * A number with more digits than 32-bit arithmetic holds: 8 and 7 digits, whose value is exact in a double, and then up
 * to 5 more, for the 20 digits of a 64-bit number.
 */
function longDecimal(bytes: Uint8Array, start: number, words: Uint32Array, at: number): number {
  let p = start
  while (bytes[p] === ZERO) p++
  let digit = bytes[p] - ZERO
  let stop = p + 8
  let upper = 0
  while (digit >>> 0 <= 9 && p < stop) {
    upper = Math.imul(upper, 10) + digit
    digit = bytes[++p] - ZERO
  }
  let first = p
  stop += 7
  let lower = 0
  while (digit >>> 0 <= 9 && p < stop) {
    lower = Math.imul(lower, 10) + digit
    digit = bytes[++p] - ZERO
  }
  const value = upper * POWERS[p - first] + lower
  let hi = Math.floor(value / WORD)
  let lo = value - hi * WORD
  if (digit >>> 0 <= 9) {
    first = p
    stop += 5
    let last = 0
    while (digit >>> 0 <= 9 && p < stop) {
      last = Math.imul(last, 10) + digit
      digit = bytes[++p] - ZERO
    }
    const power = POWERS[p - first]
    const low = lo * power + last
    const carry = Math.floor(low / WORD)
    lo = low - carry * WORD
    hi = hi * power + carry
    if (hi >= WORD || digit >>> 0 <= 9) return ~start
  }
  words[at + LO] = lo
  words[at + HI] = hi
  return p
}

/** Reads the digits of a 64-bit hex number in either case. A number that is too large fails at its first digit. */
export function hex(bytes: Uint8Array, p: number, words: Uint32Array, at: number): number {
  const first = p
  let digit = HEX_VALUE[bytes[p]]
  if (digit > 15) return ~p
  let lo = 0
  let hi = 0
  do {
    hi = (hi << 4) | (lo >>> 28)
    lo = (lo << 4) | digit
    digit = HEX_VALUE[bytes[++p]]
  } while (digit <= 15)
  if (p - first > 16) {
    // Digits shifted out at the top must have been leading zeros.
    for (let i = first; i < p - 16; i++) if (bytes[i] !== ZERO) return ~first
  }
  words[at + LO] = lo
  words[at + HI] = hi
  return p
}
