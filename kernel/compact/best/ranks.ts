/**
 * Ranks of live blocks in an array with holes: a bit for each position says whether it has a block. A count of blocks
 * for every 4096 positions makes long distances quick to count.
 */

import { giveBack, take } from '../room'

const GROUP_LOG: u32 = 12
const GROUP: u32 = 4096
const ONE: u64 = 1

/** The bytes of the bits and counts for a number of positions, a multiple of 16. */
function bytesFor(room: u32): u32 {
  return wordBytes(room) + (((room >> GROUP_LOG) + 1) << 2)
}

function wordBytes(room: u32): u32 {
  return ((room + 63) >> 6) << 3
}

/** Bits for an array without blocks. @returns 0 if memory is exhausted */
export function takeRanks(room: u32): usize {
  return take(bytesFor(room))
}

export function giveRanks(bits: usize, room: u32): void {
  giveBack(bits, bytesFor(room))
}

function wordAt(bits: usize, position: u32): usize {
  return bits + ((<usize>(position >> 6)) << 3)
}

function groupAt(bits: usize, room: u32, position: u32): usize {
  return bits + wordBytes(room) + ((<usize>(position >> GROUP_LOG)) << 2)
}

export function setRank(bits: usize, room: u32, position: u32): void {
  const word = wordAt(bits, position)
  store<u64>(word, load<u64>(word) | (ONE << (position & 63)))
  const group = groupAt(bits, room, position)
  store<u32>(group, load<u32>(group) + 1)
}

export function clearRank(bits: usize, room: u32, position: u32): void {
  const word = wordAt(bits, position)
  store<u64>(word, load<u64>(word) & ~(ONE << (position & 63)))
  const group = groupAt(bits, room, position)
  store<u32>(group, load<u32>(group) - 1)
}

/** Sets the bits of the first positions, and no others. */
export function fillRanks(bits: usize, room: u32, count: u32): void {
  memory.fill(bits, 0, bytesFor(room))
  memory.fill(bits, 0xff, count >> 3)
  if ((count & 7) != 0) store<u8>(bits + (count >> 3), <u8>(((<u32>1) << (count & 7)) - 1))
  for (let position: u32 = 0; position < count; position += GROUP)
    store<u32>(groupAt(bits, room, position), min<u32>(GROUP, count - position))
}

/** The number of blocks at positions from one up to, but not including, another. */
export function countBetween(bits: usize, room: u32, from: u32, to: u32): u32 {
  if (from >= to) return 0
  let count: u32 = 0
  while (from < to) {
    if ((from & (GROUP - 1)) == 0 && to - from >= GROUP) {
      count += load<u32>(groupAt(bits, room, from))
      from += GROUP
      continue
    }
    const next = min<u32>((from | 63) + 1, to)
    let word = load<u64>(wordAt(bits, from)) >> ((<u64>from) & 63)
    if (next - from < 64) word &= (ONE << (next - from)) - 1
    count += <u32>popcnt(word)
    from = next
  }
  return count
}

/**
 * The position of the first block, at or after a position, with this number of other blocks before it.
 * @returns `end` if none
 */
export function findUp(bits: usize, room: u32, from: u32, end: u32, others: u32): u32 {
  while (from < end) {
    if ((from & (GROUP - 1)) == 0) {
      const inGroup = load<u32>(groupAt(bits, room, from))
      if (inGroup <= others) {
        others -= inGroup
        from += GROUP
        continue
      }
    }
    let word = load<u64>(wordAt(bits, from)) >> ((<u64>from) & 63)
    const inWord = <u32>popcnt(word)
    if (inWord <= others) {
      others -= inWord
      from = (from | 63) + 1
      continue
    }
    for (; others > 0; others--) word &= word - 1
    return from + <u32>ctz(word)
  }
  return end
}

/**
 * The position of the block before a position with this number of other blocks between them.
 * @returns u32.MAX_VALUE if none
 */
export function findDown(bits: usize, room: u32, before: u32, others: u32): u32 {
  while (before > 0) {
    if ((before & (GROUP - 1)) == 0) {
      const inGroup = load<u32>(groupAt(bits, room, before - 1))
      if (inGroup <= others) {
        others -= inGroup
        before -= GROUP
        continue
      }
    }
    const above = <u64>(63 - ((before - 1) & 63))
    let word = load<u64>(wordAt(bits, before - 1))
    word <<= above
    const inWord = <u32>popcnt(word)
    if (inWord <= others) {
      others -= inWord
      before = (before - 1) & ~63
      continue
    }
    for (; others > 0; others--) word &= ~(ONE << (63 - clz<u64>(word)))
    return before - 1 - <u32>clz<u64>(word)
  }
  return u32.MAX_VALUE
}
