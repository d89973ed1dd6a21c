/**
 * Numbers in text, eight bytes at a time. Readers may read up to 24 bytes beyond a number. They take the position of
 * the number and the address for its value. They return the position after it, or 0, with the first byte that does not
 * match in `misfit`.
 */

/** The position of the byte that did not match. */
export let misfit: usize = 0

export function setMisfit(p: usize): void {
  misfit = p
}

const ONES: u64 = 0x0101_0101_0101_0101
const HIGHS: u64 = 0x8080_8080_8080_8080

/** The number of the first bytes of a word that are decimal digits: 0 to 8. */
// @ts-ignore: decorator
@inline
export function decimalDigits(word: u64): u64 {
  const digits = word ^ (0x30 * ONES)
  // Bytes of 10 or more, or with the high bit set, are not digits.
  return ctz(((digits + 0x76 * ONES) | digits) & HIGHS) >> 3
}

/** The value of the first n bytes (1 to 8) of a word, which are decimal digits. */
// @ts-ignore: decorator
@inline
export function decimalValue(word: u64, n: u64): u64 {
  word = (word << ((8 - n) << 3)) & (0x0f * ONES)
  word = (word * 10 + (word >> 8)) & 0x00ff_00ff_00ff_00ff
  word = (word * 100 + (word >> 16)) & 0x0000_ffff_0000_ffff
  return (word * 10_000 + (word >> 32)) & 0xffff_ffff
}

/** Reads an unsigned 64-bit decimal number. A number that is too large fails at its first digit. */
// @ts-ignore: decorator
@inline
export function decimal(p: usize, to: usize): usize {
  const word = load<u64>(p)
  const n = decimalDigits(word)
  if (n - 1 >= 7) return longDecimal(p, to)
  store<u64>(to, decimalValue(word, n))
  return p + <usize>n
}

/** A number without digits, or with 8 or more. */
function longDecimal(start: usize, to: usize): usize {
  let p = start
  while (load<u8>(p) == 0x30) p++
  let value: u64 = 0
  const first = p
  for (let left: u64 = 24; left > 0; left -= 8) {
    const word = load<u64>(p)
    const n = decimalDigits(word)
    if (n > 0) {
      p += <usize>n
      // Numbers with more than 20 digits overflow; the rest is decided below.
      if (p - first > 19) return largestDecimal(start, first, to)
      value = value * power(n) + decimalValue(word, n)
    }
    if (n < 8) break
  }
  if (p == start) {
    misfit = p
    return 0
  }
  store<u64>(to, value)
  return p
}

// @ts-ignore: decorator
@inline
function power(n: u64): u64 {
  return n == 8
    ? 100_000_000
    : n == 7
      ? 10_000_000
      : n == 6
        ? 1_000_000
        : n == 5
          ? 100_000
          : n == 4
            ? 10_000
            : n == 3
              ? 1000
              : n == 2
                ? 100
                : 10
}

/** A number of at least 20 digits, the first of which is not 0. */
function largestDecimal(start: usize, first: usize, to: usize): usize {
  let value: u64 = 0
  let p = first
  for (; p < first + 19; p++) value = value * 10 + (load<u8>(p) - 0x30)
  const last = <u64>load<u8>(p) - 0x30
  const after = load<u8>(p + 1) - 0x30
  if (value > 1_844_674_407_370_955_161 || (value == 1_844_674_407_370_955_161 && last > 5) || after <= 9) {
    misfit = start
    return 0
  }
  store<u64>(to, value * 10 + last)
  return p + 1
}

/** The number of the first bytes of a word that are hex digits of either case: 0 to 8. */
// @ts-ignore: decorator
@inline
function hexDigits(word: u64): u64 {
  const digits = word ^ (0x30 * ONES)
  const letters = (word | (0x20 * ONES)) ^ (0x60 * ONES)
  // The high bits of bytes up to 9, and of bytes from 1 to 6. Sums never carry into the next byte before the first one
  // that is not a digit.
  const isDigit = ~(digits + 0x76 * ONES)
  const isLetter = ~(letters + 0x79 * ONES) & (letters + 0x7f * ONES)
  return ctz((~(isDigit | isLetter) | word) & HIGHS) >> 3
}

/** The value of the first n bytes (1 to 8) of a word, which are hex digits. */
// @ts-ignore: decorator
@inline
function hexValue(word: u64, n: u64): u64 {
  word = ((word & (0x0f * ONES)) + 9 * ((word >> 6) & ONES)) << ((8 - n) << 3)
  word = ((word << 4) | (word >> 8)) & 0x00ff_00ff_00ff_00ff
  word = ((word << 8) | (word >> 16)) & 0x0000_ffff_0000_ffff
  return ((word << 16) | (word >> 32)) & 0xffff_ffff
}

/** Reads the digits of a 64-bit hex number in either case. A number that is too large fails at its first digit. */
// @ts-ignore: decorator
@inline
export function hex(p: usize, to: usize): usize {
  const first = load<u64>(p)
  const n = hexDigits(first)
  if (n == 0) {
    misfit = p
    return 0
  }
  let value = hexValue(first, n)
  if (n == 8) {
    const second = load<u64>(p + 8)
    const m = hexDigits(second)
    if (m > 0) {
      if (m == 8) return longHex(p, to)
      value = (value << (m << 2)) | hexValue(second, m)
      p += <usize>m
    }
  }
  store<u64>(to, value)
  return p + <usize>n
}

/** A number of at least 16 hex digits. */
function longHex(start: usize, to: usize): usize {
  let p = start
  while (load<u8>(p) == 0x30) p++
  const first = p
  let value: u64 = 0
  for (;;) {
    const c = <u32>load<u8>(p)
    const letter = (c | 0x20) - 0x61
    const digit = c - 0x30 <= 9 ? c - 0x30 : letter <= 5 ? letter + 10 : 16
    if (digit == 16) break
    if (p - first == 16) {
      misfit = start
      return 0
    }
    value = (value << 4) | digit
    p++
  }
  store<u64>(to, value)
  return p
}

/** Writes a number in decimal, up to 20 bytes. @returns the position after it */
export function writeDecimal(p: usize, value: u64): usize {
  if (value < 10) {
    store<u8>(p, 0x30 + <u8>value)
    return p + 1
  }
  if (value < 100_000_000) return writeUpTo8(p, <u32>value)
  const upper = value / 100_000_000
  p =
    upper < 100_000_000
      ? writeUpTo8(p, <u32>upper)
      : write8(writeUpTo8(p, <u32>(upper / 100_000_000)), <u32>(upper % 100_000_000))
  return write8(p, <u32>(value % 100_000_000))
}

/** The eight digits of a number below 10^8, the first in the lowest byte. */
// @ts-ignore: decorator
@inline
export function eightDigits(value: u32): u64 {
  // Splits into halves of 4 digits, then of 2, then single digits, each pair by one multiplication with a reciprocal.
  const upper: u64 = value / 10_000
  let word = upper | ((<u64>value - upper * 10_000) << 32)
  const hundreds = ((word * 10_486) >> 20) & 0x0000_007f_0000_007f
  word = hundreds | ((word - hundreds * 100) << 16)
  const tens = ((word * 103) >> 10) & 0x000f_000f_000f_000f
  return tens | ((word - tens * 10) << 8)
}

// @ts-ignore: decorator
@inline
function writeUpTo8(p: usize, value: u32): usize {
  const digits = eightDigits(value)
  // Leading zeros are zero low bytes. The number 0 has one digit.
  const zeros = digits == 0 ? 7 : ctz(digits) >> 3
  store<u64>(p, (digits | (0x30 * ONES)) >> (zeros << 3))
  return p + <usize>(8 - zeros)
}

// @ts-ignore: decorator
@inline
function write8(p: usize, value: u32): usize {
  store<u64>(p, eightDigits(value) | (0x30 * ONES))
  return p + 8
}

/**
 * Writes a number in lower-case hex, without `0x` or leading zeros. May overwrite 16 bytes.
 * @returns the position after it
 */
export function writeHex(p: usize, value: u64): usize {
  const n: usize = value == 0 ? 1 : <usize>((67 - clz(value)) >> 2)
  if (n > 8) {
    store<u64>(p, eightHex(value >> 32) >> ((16 - n) << 3))
    store<u64>(p + n - 8, eightHex(value & 0xffff_ffff))
  } else {
    store<u64>(p, eightHex(value) >> ((8 - n) << 3))
  }
  return p + n
}

/** The eight hex digits of 32 bits, the first in the lowest byte. */
// @ts-ignore: decorator
@inline
function eightHex(value: u64): u64 {
  value = ((value << 32) | (value >> 16)) & 0x0000_ffff_0000_ffff
  value = ((value << 16) | (value >> 8)) & 0x00ff_00ff_00ff_00ff
  value = ((value << 8) | (value >> 4)) & (0x0f * ONES)
  // 39 is the distance from the character after 9 to the letter a.
  return value + 0x30 * ONES + (((value + 6 * ONES) >> 4) & ONES) * 39
}
