/** The bits of a stream that is read from its end (RFC 8878, section 4.1): bit n of byte b has number 8 b + n. */

/** The number of bits before the one that marks the end of the stream; -1 if there is no such bit. */
export function countBits(start: usize, end: usize): i32 {
  if (start >= end) return -1
  const last = load<u8>(end - 1)
  return last == 0 ? -1 : ((<i32>(end - start)) << 3) - 8 + (31 - clz<u32>(last))
}

/** The `count` bits from number `at` on, at most 32. Before the start, where `at` is below 0, they are arbitrary. */
export function bitsAt(start: usize, at: i32, count: u32): u32 {
  return <u32>((load<u64>(start + <usize>(at >> 3)) >> (<u64>(at & 7))) & (((<u64>1) << (<u64>count)) - 1))
}
