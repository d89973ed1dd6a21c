/**
 * Reads numbers in text, sixteen bytes at a time; otherwise like `numbers.ts`. Sixteen bytes must be readable from any
 * position in the text.
 */

import { decimal, decimalDigits, decimalValue, eightDigits, hex, writeDecimal } from './numbers'

/** From byte n on: indices that move the first n of sixteen bytes to the end, after zeros. */
const TO_THE_END: usize = memory.data<u8>([
  128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
  12, 13, 14, 15,
])
/** From byte 16 - n on: indices that reverse the first n of sixteen bytes, followed by zeros. */
const REVERSED: usize = memory.data<u8>([
  15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
  128, 128, 128,
])

/**
 * Reads an unsigned 64-bit decimal number without leading zeros.
 * @returns the position after it, or 0 if there is none
 */
// @ts-ignore: decorator
@inline
export function exactDecimal(p: usize, to: usize): usize {
  const word = load<u64>(p)
  const n = decimalDigits(word)
  if (notShort(word, n)) return wideDecimal(p, to)
  store<u64>(to, decimalValue(word, n))
  return p + <usize>n
}

/** The same for 32 bits. */
// @ts-ignore: decorator
@inline
export function exactDecimal32(p: usize, to: usize): usize {
  const word = load<u64>(p)
  const n = decimalDigits(word)
  if (notShort(word, n)) return wideDecimal32(p, to)
  store<u32>(to, <u32>decimalValue(word, n))
  return p + <usize>n
}

/**
 * Up to 7 digits are faster on their own. True if there are more digits, none, or leading zeros, as one branch, which
 * is easier to predict than two.
 */
// @ts-ignore: decorator
@inline
function notShort(word: u64, n: u64): bool {
  return ((<i32>(n - 1 >= 7)) | ((<i32>((word & 0xff) == 0x30)) & (<i32>(n > 1)))) != 0
}

function wideDecimal32(p: usize, to: usize): usize {
  p = wideDecimal(p, WIDE)
  if (p == 0 || load<u32>(WIDE, 4) != 0) return 0
  store<u32>(to, load<u32>(WIDE))
  return p
}

const WIDE: usize = memory.data(8)

/** A number without digits, with leading zeros, or with 8 or more digits. */
function wideDecimal(p: usize, to: usize): usize {
  if (load<u8>(p) == 0x30) return 0
  const digits = i8x16.sub(v128.load(p), i8x16.splat(0x30))
  const n = ctz(~i8x16.bitmask(i8x16.eq(i8x16.min_u(digits, i8x16.splat(9)), digits)))
  if (<u32>n - 1 > 14) return decimal(p, to)
  const aligned = i8x16.swizzle(digits, v128.load(TO_THE_END + <usize>n))
  // Pairs of digits in 16-bit words: tens * 2560 + ones * 256; the overflow is harmless.
  const pairs = i16x8.shr_u(i16x8.mul(aligned, i16x8.splat(2561)), 8)
  const fours = i32x4.dot_i16x8_s(pairs, i32x4.splat(0x0001_0064))
  const eights = i32x4.dot_i16x8_s(i16x8.narrow_i32x4_u(fours, fours), i32x4.splat(0x0001_2710))
  const both = <u64>i64x2.extract_lane(eights, 0)
  store<u64>(to, (both & 0xffff_ffff) * 100_000_000 + (both >> 32))
  return p + <usize>n
}

/**
 * Reads the digits of a 64-bit hex number in either case, and the closing quote.
 * @returns the position after it, or 0 if the text is something else
 */
// @ts-ignore: decorator
@inline
export function quotedHex(p: usize, to: usize): usize {
  const text = v128.load(p)
  // The end is found before the digits are checked, so that the next step need not wait.
  const n = ctz(i8x16.bitmask(i8x16.eq(text, i8x16.splat(0x22))) | 0x10000)
  const numbers = i8x16.sub(text, i8x16.splat(0x30))
  const letters = i8x16.sub(v128.or(text, i8x16.splat(0x20)), i8x16.splat(0x61))
  const isNumber = i8x16.eq(i8x16.min_u(numbers, i8x16.splat(9)), numbers)
  const isLetter = i8x16.eq(i8x16.min_u(letters, i8x16.splat(5)), letters)
  if (n != ctz(~i8x16.bitmask(v128.or(isNumber, isLetter))) || n == 0 || load<u8>(p + n) != 0x22)
    return longQuotedHex(p, to)
  const digits = i8x16.add(
    v128.and(text, i8x16.splat(0x0f)),
    v128.and(i8x16.gt_s(text, i8x16.splat(0x39)), i8x16.splat(9)),
  )
  const reversed = i8x16.swizzle(digits, v128.load(REVERSED + 16 - <usize>n))
  const pairs = v128.and(v128.or(reversed, i16x8.shr_u(reversed, 4)), i16x8.splat(0xff))
  store<u64>(to, <u64>i64x2.extract_lane(i8x16.narrow_i16x8_u(pairs, pairs), 0))
  return p + <usize>n + 1
}

function longQuotedHex(p: usize, to: usize): usize {
  p = hex(p, to)
  return p == 0 || load<u8>(p) != 0x22 ? 0 : p + 1
}

/**
 * For each bit count of a number below 2^32, less one: a value to add so that the upper half of the sum is its number
 * of decimal digits. Within one bit count the number of digits changes at most at one power of ten, where the sum
 * carries.
 */
const DIGIT_COUNTS: usize = memory.data(256)

for (let bits: u32 = 0; bits < 32; bits++) {
  let digits: u64 = 1
  let power: u64 = 10
  while (power <= (<u64>1) << bits) {
    power *= 10
    digits++
  }
  // The power is above the smallest number with this many bits; the largest one may reach it.
  const carries = power < (<u64>2) << bits
  store<u64>(DIGIT_COUNTS + ((<usize>bits) << 3), carries ? ((digits + 1) << 32) - power : digits << 32)
}

/** Writes a number in decimal, up to 20 bytes. @returns the position after it */
// @ts-ignore: decorator
@inline
export function writeShortDecimal(p: usize, value: u64): usize {
  return value < <u64>EIGHT_DIGITS ? writeUpTo8(p, value) : writeLongDecimal(p, value)
}

/** 10^8, the smallest number with more than 8 digits. */
const EIGHT_DIGITS: i64 = 100_000_000

// @ts-ignore: decorator
@inline
function writeUpTo8(p: usize, value: u64): usize {
  // The number of digits is known before the digits, so that the next step need not wait.
  const n = (value + load<u64>(DIGIT_COUNTS + ((<usize>(63 - clz(value | 1))) << 3))) >> 32
  store<u64>(p, (eightDigits(<u32>value) | 0x3030_3030_3030_3030) >> ((8 - n) << 3))
  return p + <usize>n
}

function writeLongDecimal(p: usize, value: u64): usize {
  if (value >= 9_000_000_000_000_000) return writeDecimal(p, value)
  // A division of doubles is faster and off by one at most.
  let upper = <i64>(<f64>(<i64>value) * 1e-8)
  let lower = <i64>value - upper * EIGHT_DIGITS
  if (lower < 0) {
    upper--
    lower += EIGHT_DIGITS
  } else if (lower >= EIGHT_DIGITS) {
    upper++
    lower -= EIGHT_DIGITS
  }
  p = writeUpTo8(p, <u64>upper)
  store<u64>(p, eightDigits(<u32>lower) | 0x3030_3030_3030_3030)
  return p + 8
}

/**
 * Writes a number in lower-case hex, without `0x` or leading zeros. Overwrites 16 bytes.
 * @returns the position after it
 */
// @ts-ignore: decorator
@inline
export function writeWideHex(p: usize, value: u64): usize {
  const zeros = clz(value | 1) >> 2
  // Moves the first digit to the first byte: duplicates each byte, then takes its halves.
  const bytes = i8x16.swizzle(
    i64x2.splat(<i64>(value << (zeros << 2))),
    i8x16(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0),
  )
  const digits = v128.or(v128.and(i16x8.shr_u(bytes, 4), i16x8.splat(0x000f)), v128.and(bytes, i16x8.splat(0x0f00)))
  v128.store(p, i8x16.swizzle(i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102), digits))
  return p + 16 - <usize>zeros
}
