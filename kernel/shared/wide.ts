/** Numbers in text, sixteen bytes at a time; otherwise like those of `numbers.ts`. Sixteen bytes can be read from any place where text begins. */

import { decimal, decimalDigits, decimalValue, hex } from './numbers'

/** From byte n on: indices that move the first n of sixteen bytes to their end, with zeros before them. */
const TO_THE_END: usize = memory.data<u8>([
  128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
])
/** From byte 16 - n on: indices that reverse the first n of sixteen bytes, with zeros behind them. */
const REVERSED: usize = memory.data<u8>([
  15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
])

/** Reads a 64-bit unsigned decimal number without leading zeros; 0 if there is none. */
// @ts-ignore: decorator
@inline
export function exactDecimal(p: usize, to: usize): usize {
  const word = load<u64>(p)
  const n = decimalDigits(word)
  // Up to 7 digits take less time on their own.
  if (n - 1 >= 7) return wideDecimal(p, to)
  store<u64>(to, decimalValue(word, n))
  return (<i32>((word & 0xff) == 0x30) & <i32>(n > 1)) != 0 ? 0 : p + <usize>n
}

/** A number without digits, or with 8 digits or more. */
function wideDecimal(p: usize, to: usize): usize {
  if (load<u8>(p) == 0x30) return 0
  const digits = i8x16.sub(v128.load(p), i8x16.splat(0x30))
  const n = ctz(~i8x16.bitmask(i8x16.eq(i8x16.min_u(digits, i8x16.splat(9)), digits)))
  if (n - 1 > 14) return decimal(p, to)
  const aligned = i8x16.swizzle(digits, v128.load(TO_THE_END + <usize>n))
  // Pairs of digits in words of 16 bits: tens * 2560 + ones * 256, and what overflows does not matter.
  const pairs = i16x8.shr_u(i16x8.mul(aligned, i16x8.splat(2561)), 8)
  const fours = i32x4.dot_i16x8_s(pairs, i32x4.splat(0x0001_0064))
  const eights = i32x4.dot_i16x8_s(i16x8.narrow_i32x4_u(fours, fours), i32x4.splat(0x0001_2710))
  const both = <u64>i64x2.extract_lane(eights, 0)
  store<u64>(to, (both & 0xffff_ffff) * 100_000_000 + (both >> 32))
  return p + <usize>n
}

/** Reads the digits of a 64-bit hex number, of either case, and the quote behind them; 0 if that is not what there is. */
// @ts-ignore: decorator
@inline
export function quotedHex(p: usize, to: usize): usize {
  const text = v128.load(p)
  // Where the number ends is known before it is known to be one, so that what follows need not wait.
  const n = ctz(i8x16.bitmask(i8x16.eq(text, i8x16.splat(0x22))) | 0x10000)
  const numbers = i8x16.sub(text, i8x16.splat(0x30))
  const letters = i8x16.sub(v128.or(text, i8x16.splat(0x20)), i8x16.splat(0x61))
  const isNumber = i8x16.eq(i8x16.min_u(numbers, i8x16.splat(9)), numbers)
  const isLetter = i8x16.eq(i8x16.min_u(letters, i8x16.splat(5)), letters)
  if (n - 1 > 14 || n != ctz(~i8x16.bitmask(v128.or(isNumber, isLetter)))) return longQuotedHex(p, to)
  const digits = i8x16.add(v128.and(text, i8x16.splat(0x0f)), v128.and(isLetter, i8x16.splat(9)))
  const reversed = i8x16.swizzle(digits, v128.load(REVERSED + 16 - <usize>n))
  const pairs = v128.and(v128.or(reversed, i16x8.shr_u(reversed, 4)), i16x8.splat(0xff))
  store<u64>(to, <u64>i64x2.extract_lane(i8x16.narrow_i16x8_u(pairs, pairs), 0))
  return p + <usize>n + 1
}

function longQuotedHex(p: usize, to: usize): usize {
  p = hex(p, to)
  return p == 0 || load<u8>(p) != 0x22 ? 0 : p + 1
}
