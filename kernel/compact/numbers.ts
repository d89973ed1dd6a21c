/**
 * Numbers: the length in bits by a tree of decisions, then the bits below the top one, of which the first ones are
 * modelled.
 */

import { bit, codeTree, freshen, isEncoding, mixed, pairBit, plainBit } from './coder'

/** Contexts of short numbers: 32 groups of 32. Each has 32 counters for the length, one of them for "more than 31". */
const LENGTHS: usize = memory.data(131_072)
/** Counters for the three bits below the top one, by group, length and the bits before. */
const TOPS: usize = memory.data(32_768)
/** Counters of numbers with two contexts, and of numbers in new descriptors, found by a hash. */
const FIRST: usize = memory.data(262_144)
const SECOND: usize = memory.data(262_144)
const HASH_SHIFT: u32 = 16

export function resetNumbers(): void {
  freshen(LENGTHS, 32_768)
  freshen(TOPS, 8192)
  freshen(FIRST, 65_536)
  freshen(SECOND, 65_536)
}

function lengthOf(value: u64): u32 {
  return 64 - <u32>clz<u64>(value)
}

/** Maps a signed difference to an unsigned number, small if the difference is small. */
export function folded(difference: u64): u64 {
  return (difference << 1) ^ (<u64>((<i64>difference) >> 63))
}

/** The inverse of `folded`. */
export function unfolded(value: u64): u64 {
  return (value >> 1) ^ (0 - (value & 1))
}

/** Codes a number that is usually short, in one of 32 contexts of one of 32 groups. */
export function number(value: u64, group: u32, context: u32): u64 {
  const lengths = LENGTHS + ((<usize>((group << 5) | context)) << 7)
  let length: u32 = isEncoding ? lengthOf(value) : 0
  if (bit(length > 31 ? 1 : 0, lengths) != 0) {
    let node: u32 = 1
    for (let i = 6; i >= 0; i--) node = (node << 1) | plainBit((length >> i) & 1)
    return rest(value, min<u32>(node & 127, 64), 1, 0)
  }
  length = codeTree(length, 5, lengths)
  if (length < 2) return length
  const tops = TOPS + ((<usize>((group << 5) | length)) << 5)
  let top: u32 = 1
  const known = min<u32>(3, length - 1)
  for (let i: u32 = 1; i <= known; i++)
    top = (top << 1) | bit((<u32>(value >> (length - 1 - i))) & 1, tops + ((<usize>top) << 2))
  return rest(value, length, known + 1, top)
}

/** The bits of a number below the `known` upper ones, which are in `top`. */
function rest(value: u64, length: u32, known: u32, top: u64): u64 {
  if (length == 0) return 0
  if (top == 0) top = 1
  for (let i = <i32>(length - known) - 1; i >= 0; i--) top = (top << 1) | plainBit((<u32>(value >> i)) & 1)
  return top
}

/** The number of modelled bits below the top one, and at the lower end. */
const LEARNED_TOPS: u32 = 6
const LEARNED_ENDS: u32 = 3

/** Codes a number of any length by two contexts. */
export function pairNumber(value: u64, first: u32, second: u32, sort: u32): u64 {
  let length: u32 = isEncoding ? lengthOf(value) : 0
  let node: u32 = 1
  for (let i = 6; i >= 0; i--)
    node = (node << 1) | pairBit((length >> i) & 1, place(FIRST, first, node), place(SECOND, second, node), sort)
  length = min<u32>(node & 127, 64)
  if (length < 2) return length
  let top: u64 = 1
  for (let i = <i32>length - 2; i >= 0; i--) {
    const done = length - 2 - <u32>i
    const y = (<u32>(value >> i)) & 1
    if (done < LEARNED_TOPS) {
      const path = (length << 8) | (<u32>top)
      top = (top << 1) | pairBit(y, place(FIRST, first, path), place(SECOND, second, path), sort + 1)
    } else if (<u32>i < LEARNED_ENDS) {
      const path = 0x8000 | (length << 8) | ((<u32>i) << 4) | ((<u32>top) & 3)
      top = (top << 1) | pairBit(y, place(FIRST, first, path), place(SECOND, second, path), sort + 1)
    } else top = (top << 1) | plainBit(y)
  }
  return top
}

function place(counters: usize, context: u32, node: u32): usize {
  return counters + ((<usize>(mixed(context, node) >> (32 - HASH_SHIFT))) << 2)
}
