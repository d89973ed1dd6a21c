/** The columns of the table as text. Writers may write up to 16 bytes beyond their result. */
import { eightDigits, writeDecimal } from '../shared/numbers'

const ZEROS: u64 = 0x3030_3030_3030_3030
const SPACES: u64 = 0x2020_2020_2020_2020
const LEFT_OF_10: u64 = 0x1010_1010_1010_1010

/** The types of events by their kind, with two or more spaces after them. */
const TYPES: usize = memory.data<u8>([
  0x61, 0x6c, 0x6c, 0x6f, 0x63, 0x20, 0x20, 0x20, 0x66, 0x72, 0x65, 0x65, 0x20, 0x20, 0x20, 0x20, 0x72, 0x65, 0x61,
  0x6c, 0x6c, 0x6f, 0x63, 0x20, 0x6f, 0x6c, 0x64, 0x20, 0x20, 0x20, 0x20, 0x20,
])

/** Eight bytes: the type of an alloc, free, realloc or existing. */
export function typeOf(kind: u8): u64 {
  return load<u64>(TYPES + ((<usize>kind) << 3))
}

/** Two spaces. */
export function gap(p: usize): usize {
  store<u16>(p, <u16>SPACES)
  return p + 2
}

/** A number below 10^8, right-aligned in eight bytes. */
function aligned(value: u32): u64 {
  const text = eightDigits(value)
  // The bytes below the lowest one that is not zero are leading zeros; the last digit always shows.
  const first = ctz(text | ((<u64>1) << 56)) & ~7
  return (text | ZEROS) ^ (LEFT_OF_10 & (((<u64>1) << first) - 1))
}

/** A right-aligned number in a column of 6; a wider one extends the column. */
// @ts-ignore: decorator
@inline
export function number6(p: usize, value: u64): usize {
  if (value >= 1_000_000) return writeDecimal(p, value)
  store<u64>(p, aligned(<u32>value) >> 16)
  return p + 6
}

/** The same in a column of 8. */
// @ts-ignore: decorator
@inline
export function number8(p: usize, value: u64): usize {
  if (value >= 100_000_000) return writeDecimal(p, value)
  store<u64>(p, aligned(<u32>value))
  return p + 8
}

/** The same for a sum of 128 bits. */
export function sum8(p: usize, low: u64, high: u64): usize {
  return high == 0 ? number8(p, low) : wideSum(p, low, high)
}

const BILLION: u64 = 1_000_000_000

/** A sum of more than 64 bits, nine digits at a time. @param high below 2^32 */
function wideSum(p: usize, low: u64, high: u64): usize {
  const upper = ((high % BILLION) << 32) | (low >> 32)
  const lower = ((upper % BILLION) << 32) | (low & 0xffff_ffff)
  const quotient = ((upper / BILLION) << 32) | (lower / BILLION)
  const rest = high / BILLION
  p = rest == 0 ? writeDecimal(p, quotient) : wideSum(p, quotient, rest)
  const nine = lower % BILLION
  store<u8>(p, 0x30 + <u8>(nine / 100_000_000))
  store<u64>(p + 1, eightDigits(<u32>(nine % 100_000_000)) | ZEROS)
  return p + 9
}

/** An address between two gaps, with leading zeros. It has `digits` digits (8 or 16), or 16 if that is too few. */
// @ts-ignore: decorator
@inline
export function pointer(p: usize, value: u64, digits: u32): usize {
  store<u32>(p, 0x7830_2020)
  p += 4
  // Each byte twice, the highest first; then the upper half of one and the lower half of the other.
  const bytes = i8x16.swizzle(i64x2.splat(<i64>value), i8x16(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0))
  const halves = v128.or(v128.and(i16x8.shr_u(bytes, 4), i16x8.splat(0x000f)), v128.and(bytes, i16x8.splat(0x0f00)))
  const text = i8x16.swizzle(i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 65, 66, 67, 68, 69, 70), halves)
  if (digits == 16 || value >> 32 != 0) {
    v128.store(p, text)
    return gap(p + 16)
  }
  v128.store_lane<u64>(p, text, 1)
  return gap(p + 8)
}
