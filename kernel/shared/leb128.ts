/**
 * Unsigned LEB128: seven bits per byte, least significant first, with the high bit set on all bytes except the last.
 */

const HIGHS: u64 = 0x8080_8080_8080_8080

/** Typical lengths of numbers in bytes, as a set. */
export const OF_1: u32 = 1 << 1
export const OF_3: u32 = 1 << 3
export const OF_7: u32 = 1 << 7

/** Which of eight bytes end a number, as their high bits; 0 if none does. */
// @ts-ignore: decorator
@inline
export function lebEnds(word: u64): u64 {
  return ~word & HIGHS
}

/**
 * The value of the number of up to eight bytes at the start of a word.
 * @param ends the result of `lebEnds` for the word, not 0
 */
// @ts-ignore: decorator
@inline
export function lebValue(word: u64, ends: u64): u64 {
  return gather(word & (ends ^ (ends - 1)) & ~HIGHS)
}

/** The number of bytes of that number. */
// @ts-ignore: decorator
@inline
export function lebLength(ends: u64): usize {
  return <usize>((ctz(ends) >> 3) + 1)
}

/**
 * Packs the seven low bits of each of eight bytes; the high bits must be zero. First pairs, then fours, then all eight
 * are joined. Each upper half moves down by subtracting the difference.
 */
// @ts-ignore: decorator
@inline
export function gather(word: u64): u64 {
  word -= (word & 0x7f00_7f00_7f00_7f00) >> 1
  word -= ((word & 0x3fff_0000_3fff_0000) >> 2) * 3
  return (<u64>(<u32>word)) | ((word >> 32) << 28)
}

/**
 * Writes a number in the fewest possible bytes. A number takes up to ten bytes; at least eight may be overwritten.
 * @param usual the typical lengths of such numbers: some of `OF_3` and `OF_7`, or 0 if unknown. If the guess is right,
 *   the next write does not wait for the length: the processor predicts a branch, but would have to wait for a sum.
 * @returns the position after it
 */
// @ts-ignore: decorator
@inline
export function writeLeb(p: usize, value: u64, usual: u32): usize {
  if ((usual & OF_3) != 0 && value - 0x4000 < 0x1f_c000) {
    store<u32>(p, spreadNarrow(<u32>value) | 0x8080)
    return p + 3
  }
  if ((usual & OF_7) != 0 && value - 0x400_0000_0000 < 0x1_fc00_0000_0000) {
    store<u64>(p, spread(value) | 0x8080_8080_8080)
    return p + 7
  }
  if (value >> 28 == 0) return writeNarrowLeb(p, <u32>value)
  if (value >> 56 != 0) return writeLongLeb(p, value)
  const word = spread(value)
  const zeros = clz(word | 1)
  store<u64>(p, word | ((HIGHS >> 8) >> (zeros & 56)))
  return p + 8 - <usize>(zeros >> 3)
}

/** Distributes 56 bits to eight bytes, seven bits each: the reverse of `gather`. */
// @ts-ignore: decorator
@inline
function spread(value: u64): u64 {
  let word = (value & 0x0fff_ffff) | ((value >> 28) << 32)
  word += (word & 0x0fff_c000_0fff_c000) * 3
  return word + (word & 0x3f80_3f80_3f80_3f80)
}

/** Distributes 28 bits to four bytes, seven bits each. */
// @ts-ignore: decorator
@inline
function spreadNarrow(value: u32): u32 {
  const word = value + (value & 0x0fff_c000) * 3
  return word + (word & 0x3f80_3f80)
}

/** A number of up to four bytes. */
// @ts-ignore: decorator
@inline
function writeNarrowLeb(p: usize, value: u32): usize {
  const word = spreadNarrow(value)
  const zeros = clz(word | 1)
  store<u32>(p, word | (((<u32>HIGHS) >> 8) >> (zeros & 24)))
  return p + 4 - <usize>(zeros >> 3)
}

function writeLongLeb(p: usize, value: u64): usize {
  for (; value > 0x7f; value >>= 7) store<u8>(p++, (<u8>value) | 0x80)
  store<u8>(p, <u8>value)
  return p + 1
}
