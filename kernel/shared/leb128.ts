/** Unsigned LEB128: seven bits a byte, the lowest first, with the high bit set on all bytes but the last. */

const HIGHS: u64 = 0x8080_8080_8080_8080

/**
 * Which of eight bytes end a number, as their high bits; 0 if none does.
 */
// @ts-ignore: decorator
@inline
export function lebEnds(word: u64): u64 {
  return ~word & HIGHS
}

/** The value of the number of up to eight bytes that a word begins with. @param ends what `lebEnds` gave for the word, not 0 */
// @ts-ignore: decorator
@inline
export function lebValue(word: u64, ends: u64): u64 {
  return gather(word & (ends ^ (ends - 1)))
}

/** How many bytes that number takes. */
// @ts-ignore: decorator
@inline
export function lebLength(ends: u64): usize {
  return <usize>((ctz(ends) >> 3) + 1)
}

/** The seven low bits of eight bytes, put together. */
// @ts-ignore: decorator
@inline
export function gather(word: u64): u64 {
  word = (word & 0x007f_007f_007f_007f) | ((word & 0x7f00_7f00_7f00_7f00) >> 1)
  word = (word & 0x0000_3fff_0000_3fff) | ((word & 0x3fff_0000_3fff_0000) >> 2)
  return (word & 0x0fff_ffff) | ((word & 0x0fff_ffff_0000_0000) >> 4)
}

/** Writes a number in as few bytes as it can be; returns the position after it. Up to ten bytes; eight may be touched. */
// @ts-ignore: decorator
@inline
export function writeLeb(p: usize, value: u64): usize {
  if (value >> 28 == 0) return writeNarrowLeb(p, <u32>value)
  if (value >> 56 != 0) return writeLongLeb(p, value)
  // How often seven goes into the highest bit: 37 / 256 is a little more than 1 / 7.
  const more = ((63 - clz(value | 1)) * 37) >> 8
  let word = (value & 0x0fff_ffff) | ((value & 0x00ff_ffff_f000_0000) << 4)
  word = (word & 0x0000_3fff_0000_3fff) | ((word & 0x0fff_c000_0fff_c000) << 2)
  word = (word & 0x007f_007f_007f_007f) | ((word & 0x3f80_3f80_3f80_3f80) << 1)
  store<u64>(p, word | (HIGHS & ((<u64>1 << (more << 3)) - 1)))
  return p + <usize>more + 1
}

/** A number of up to four bytes. */
// @ts-ignore: decorator
@inline
function writeNarrowLeb(p: usize, value: u32): usize {
  const more = ((31 - clz(value | 1)) * 37) >> 8
  let word = (value & 0x3fff) | ((value & 0x0fff_c000) << 2)
  word = (word & 0x007f_007f) | ((word & 0x3f80_3f80) << 1)
  store<u32>(p, word | (0x8080_8080 & ((1 << (more << 3)) - 1)))
  return p + <usize>more + 1
}

/** The same of a number that mostly takes one byte. */
// @ts-ignore: decorator
@inline
export function writeShortLeb(p: usize, value: u64): usize {
  if (value > 0x7f) return writeLongLeb(p, value)
  store<u8>(p, <u8>value)
  return p + 1
}

function writeLongLeb(p: usize, value: u64): usize {
  for (; value > 0x7f; value >>= 7) store<u8>(p++, <u8>value | 0x80)
  store<u8>(p, <u8>value)
  return p + 1
}
