/**
 * 64-bit unsigned integers as pairs of 32-bit words, so that hot loops need no BigInt. A column is a `Uint32Array` over
 * the buffer of a `BigUint64Array`; `LO` and `HI` are the positions of the low and the high word on this machine.
 */
export const LO: 0 | 1 = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1
export const HI: 0 | 1 = LO === 0 ? 1 : 0

/** Whether integer `i` of a column is 0. */
export function isZero(words: Uint32Array, i: number): boolean {
  return words[2 * i + LO] === 0 && words[2 * i + HI] === 0
}

/** 2^32, the weight of the high word. */
export const WORD = 0x1_0000_0000

/** Integer `i` of a column as a double, which is exact up to 2^53. */
export function doubleAt(words: Uint32Array, i: number): number {
  return words[2 * i + HI] * WORD + words[2 * i + LO]
}

/** Two words as one integer. */
export function wide(lo: number, hi: number): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo)
}

/** A whole number below 2^53 in two words, the low one first on any machine. */
export function numberAt(words: Uint32Array, at: number): number {
  return words[at] + words[at + 1] * WORD
}

/** Writes it. */
export function setNumber(words: Uint32Array, at: number, number: number): void {
  words[at] = number >>> 0
  words[at + 1] = Math.floor(number / WORD)
}

/** The largest high word for which `hi * WORD + lo` is exact in a double. */
export const SAFE_HI = 0x1f_ffff

/** The maximum number of decimal digits of a 64-bit integer. */
export const MAX_DECIMAL = 20

/** Writes an unsigned 64-bit integer in decimal at `pos`. Needs up to 20 bytes. @returns the position after it */
export function writeDecimal(out: Uint8Array, pos: number, lo: number, hi: number): number {
  if (hi === 0) return writeDecimal32(out, pos, lo >>> 0)
  if (hi >>> 0 <= SAFE_HI) {
    const value = (hi >>> 0) * WORD + (lo >>> 0)
    const upper = Math.floor(value / 1e9)
    const lower = value - upper * 1e9
    pos = upper < WORD ? writeDecimal32(out, pos, upper) : writeDecimalDouble(out, pos, upper)
    return writeNineDigits(out, pos, lower)
  }
  // Long division by 10^9 in base 2^16, twice: 64 bits have at most 20 digits, which is 2 + 9 + 9.
  const digits = [hi >>> 16, hi & 0xffff, lo >>> 16, lo & 0xffff]
  const last = divideByBillion(digits)
  const middle = divideByBillion(digits)
  const first = (digits[2] << 16) | digits[3]
  if (first > 0) {
    pos = writeDecimal32(out, pos, first)
    pos = writeNineDigits(out, pos, middle)
  } else {
    pos = writeDecimal32(out, pos, middle)
  }
  return writeNineDigits(out, pos, last)
}

/** Divides a big-endian base-2^16 number in place by 10^9 and returns the remainder. */
function divideByBillion(digits: number[]): number {
  let rest = 0
  for (let i = 0; i < digits.length; i++) {
    const value = rest * 65_536 + digits[i]
    const quotient = Math.floor(value / 1e9)
    digits[i] = quotient
    rest = value - quotient * 1e9
  }
  return rest
}

/** Writes an unsigned 32-bit integer in decimal at `pos`. @returns the position after it */
export function writeDecimal32(out: Uint8Array, pos: number, value: number): number {
  if (value < 10) {
    out[pos] = 48 + value
    return pos + 1
  }
  const after = pos + decimalLength(value)
  let end = after
  // Below 2^31 the engine divides small integers, which is faster.
  if (value >= 0x8000_0000) {
    const rest = Math.floor(value / 10)
    out[--end] = 48 + (value - rest * 10)
    value = rest
  }
  value |= 0
  while (value >= 100) {
    const rest = (value / 100) | 0
    const pair = (value - rest * 100) << 1
    out[--end] = PAIRS[pair + 1]
    out[--end] = PAIRS[pair]
    value = rest
  }
  if (value >= 10) {
    out[--end] = PAIRS[2 * value + 1]
    out[--end] = PAIRS[2 * value]
  } else {
    out[--end] = 48 + value
  }
  return after
}

/** The two digits of each number below 100. */
const PAIRS = Uint8Array.from({ length: 200 }, (_, i) => 48 + (i % 2 === 0 ? Math.floor(i / 20) : (i >> 1) % 10))

function writeDecimalDouble(out: Uint8Array, pos: number, value: number): number {
  const upper = Math.floor(value / 1e9)
  return writeNineDigits(out, writeDecimal32(out, pos, upper), value - upper * 1e9)
}

function writeNineDigits(out: Uint8Array, pos: number, value: number): number {
  value |= 0
  for (let i = pos + 7; i > pos; i -= 2) {
    const rest = (value / 100) | 0
    const pair = (value - rest * 100) << 1
    out[i + 1] = PAIRS[pair + 1]
    out[i] = PAIRS[pair]
    value = rest
  }
  out[pos] = 48 + value
  return pos + 9
}

function decimalLength(value: number): number {
  if (value < 10) return 1
  if (value < 100) return 2
  if (value < 1000) return 3
  if (value < 10_000) return 4
  if (value < 100_000) return 5
  if (value < 1_000_000) return 6
  if (value < 10_000_000) return 7
  if (value < 100_000_000) return 8
  return value < 1_000_000_000 ? 9 : 10
}

/**
 * Writes an unsigned 64-bit integer in lower-case hex, without `0x` or leading zeros.
 * @returns the position after it
 */
export function writeHex(out: Uint8Array, pos: number, lo: number, hi: number): number {
  if (hi === 0) return writeHexDigits(out, pos, lo, lo === 0 ? 0 : 28 - (Math.clz32(lo) & 28))
  return writeHexDigits(out, writeHexDigits(out, pos, hi, 28 - (Math.clz32(hi) & 28)), lo, 28)
}

/** Writes the hex digits of a word, starting `shift` bits up. */
function writeHexDigits(out: Uint8Array, pos: number, word: number, shift: number): number {
  for (; shift >= 0; shift -= 4) out[pos++] = HEX_DIGITS[(word >>> shift) & 15]
  return pos
}

const HEX_DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** The value of an ASCII hex digit in either case; -1 for other characters. */
export function hexValue(char: number): number {
  if (char >= 48 && char <= 57) return char - 48
  const lower = char | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
