/**
 * Codes names and lists of names: as the name that followed last time, as numbers in the dictionary, or with all their
 * bytes.
 */

import { MAX_FRAMES, MAX_NAME, MAX_NEW_NAMES } from '../../lib/kernel/layouts/compact'
import { GROWING, GrowingTable } from '../shared/grow'
import { listLength, listStart, lengthOf, startOf } from './batch-strings'
import { bit, entryAt, freshen, isEncoding, isOver, mixed, pairBit } from './coder'
import * as Names from './names'
import { number, pairNumber } from './numbers'

/** The last value in a context: a number plus 1. */
const LAST: usize = memory.data(65_536)
const FIRST: usize = memory.data(65_536)
const SECOND: usize = memory.data(65_536)
/** Counters for the bits of a byte, in the context of the two bytes before it, and of the expected byte. */
const BYTES_AFTER: usize = memory.data(524_288)
const BYTES_EXPECTED: usize = memory.data(524_288)
/** The previous position of the last three bytes in the pool. */
const SEEN: usize = memory.data(65_536)

/** The number of bytes of new names in this block. */
export let newBytes: u32 = 0
/** The name that was new last. */
let newest: u32 = 0
/** The reason why a name could not be read: a number or length out of bounds. */
export let isWrong: bool = false

export function resetNameCodes(): void {
  newest = 0
  memory.fill(LAST, 0, 65_536)
  memory.fill(SEEN, 0, 65_536)
  freshen(FIRST, 16_384)
  freshen(SECOND, 16_384)
  freshen(BYTES_AFTER, 131_072)
  freshen(BYTES_EXPECTED, 131_072)
}

export function beginBlock(): void {
  newBytes = 0
  isWrong = false
}

/**
 * Codes whether a value is the last one in its context.
 * @param count the number of values
 * @returns the value plus 1, or 0
 */
function codeLast(value: u64, count: u32, context: u32): u32 {
  const last = load<u32>(LAST + ((<usize>(context >> 18)) << 2))
  if (last == 0 || last > count) return 0
  const isSame = value == last - 1 ? 1 : 0
  return pairBit(isSame, entryAt(FIRST, context, 0), entryAt(SECOND, last, 0), 20) != 0 ? last : 0
}

function noteLast(context: u32, value: u32): void {
  store<u32>(LAST + ((<usize>(context >> 18)) << 2), value + 1)
}

/**
 * Codes a name.
 * @param name its number, or for a string of the batch its id with the mark `NEW`
 * @param context a hash of what the name depends on, and of its kind
 * @returns its number
 */
export function codeName(name: u64, sort: u32, context: u32): u32 {
  if (isEncoding && name >= Names.NEW) name = Names.numberOfName(<u32>name)
  context = mixed(context, sort)
  const last = codeLast(name, Names.nameCount, context)
  if (last != 0) return last - 1
  let n: u32
  if (Names.nameCount != 0 && bit(name < Names.NEW ? 1 : 0, entryAt(FIRST, sort, 1)) != 0) {
    n = codeNumber(<u32>name, Names.nameCount, sort)
    if (n >= Names.nameCount) {
      isWrong = true
      return 0
    }
  } else n = codeBytes(<u32>name, sort)
  noteLast(context, n)
  return n
}

/** Codes a number below `count`, of which some are more frequent. */
function codeNumber(n: u32, count: u32, sort: u32): u32 {
  let node: u32 = 1
  const bits = 32 - clz(count)
  for (let i = <i32>bits - 1; i >= 0; i--)
    node = (node << 1) | pairBit((n >> i) & 1, entryAt(FIRST, sort + 64, node), entryAt(SECOND, bits, node), 21)
  return node & ((1 << bits) - 1)
}

/** Codes the bytes of a string of the batch, and adds it to the dictionary. @returns its number */
function codeBytes(id: u32, sort: u32): u32 {
  const length = <u32>min<u64>(pairNumber(isEncoding ? lengthOf(id) : 0, mixed(sort, 3), 3, 22), 0xffff_ffff)
  if (length > MAX_NAME || newBytes + length > MAX_NEW_NAMES) {
    isWrong = true
    return 0
  }
  newBytes += length
  const to = Names.beginName(length)
  if (to == 0) return 0
  let expected: usize = Names.nameCount == 0 ? 0 : Names.pool.at + Names.nameAt(newest).start
  const from: usize = isEncoding ? startOf(id) : 0
  let before: u32 = mixed(sort, 5) & 0xffff
  let matched: u32 = 0
  for (let i: u32 = 0; i < length && !isOver(); i++) {
    const guess: u32 = expected != 0 && expected < to + i ? load<u8>(expected) : 256
    const byte = codeByte(isEncoding ? load<u8>(from + i) : 0, before, guess, min<u32>(matched, 15))
    store<u8>(to + i, <u8>byte)
    before = ((before << 8) | byte) & 0xff_ffff
    const seen = entryAt(SEEN, before, 9)
    if (guess == byte) {
      matched++
      expected++
    } else {
      matched = 0
      const last = load<u32>(seen)
      expected = last != 0 && last < Names.poolLength + i ? Names.pool.at + last : 0
    }
    store<u32>(seen, Names.poolLength + i + 1)
  }
  newest = Names.addName(length, isEncoding)
  return newest
}

function codeByte(byte: u32, before: u32, guess: u32, matched: u32): u32 {
  const after = mixed(before & 0xffff, 11) >> 15
  const expected = mixed((guess << 4) | matched, (before & 0xff) + 13) >> 15
  let node: u32 = 1
  for (let i = 7; i >= 0; i--)
    node =
      (node << 1) |
      pairBit(
        (byte >> i) & 1,
        BYTES_AFTER + ((<usize>((after ^ (node * 0x1f35)) & 0x1_ffff)) << 2),
        BYTES_EXPECTED + ((<usize>((expected ^ (node * 0x1f35)) & 0x1_ffff)) << 2),
        guess == 256 ? 23 : matched > 3 ? 25 : 24,
      )
  return node & 255
}

/** The numbers of the names of a new list. */
const frames = changetype<GrowingTable>(memory.data(GROWING))

/** Codes a list, like a name. Names are coded from the last to the first. */
export function codeList(list: u64, context: u32): u32 {
  if (isEncoding && list >= Names.NEW) list = Names.numberOfList(<u32>list)
  context = mixed(context, 40)
  const last = codeLast(list, Names.listsCount, context)
  if (last != 0) return last - 1
  let n: u32
  if (Names.listsCount != 0 && bit(list < Names.NEW ? 1 : 0, entryAt(FIRST, 40, 1)) != 0) {
    n = codeNumber(<u32>list, Names.listsCount, 40)
    if (n >= Names.listsCount) {
      isWrong = true
      return 0
    }
  } else n = codeFrames(<u32>list)
  noteLast(context, n)
  return n
}

function codeFrames(id: u32): u32 {
  const length = <u32>min<u64>(number(isEncoding ? listLength(id) : 0, 4, 0), 0xffff_ffff)
  if (length > MAX_FRAMES || newBytes + length > MAX_NEW_NAMES) {
    isWrong = true
    return 0
  }
  newBytes += length << 2
  if (!frames.extend((<u64>length) << 2)) {
    isWrong = true
    return 0
  }
  let outer = Names.listsCount == 0 ? 0 : Names.listAt(Names.listsCount - 1).length
  let isAlong = true
  let parent: u32 = u32.MAX_VALUE
  for (let i = <i32>length - 1; i >= 0 && !isWrong && !Names.isExhausted && !isOver(); i--) {
    // The frames that the end of the list shares with the previous list.
    const expected = isAlong && outer != 0 ? Names.listedAt(Names.listAt(Names.listsCount - 1), --outer) : u32.MAX_VALUE
    const name: u64 = isEncoding ? Names.numberOfName(load<u32>(listStart(id) + ((<usize>i) << 2))) : 0
    let frame = expected
    isAlong = false
    if (expected != u32.MAX_VALUE)
      isAlong = pairBit(name == expected ? 1 : 0, entryAt(FIRST, expected, 3), entryAt(SECOND, 0, 3), 26) != 0
    if (!isAlong) frame = codeName(name, 41, parent)
    store<u32>(frames.at + ((<usize>i) << 2), frame)
    parent = frame
  }
  return isWrong ? 0 : Names.addList(frames.at, length, isEncoding)
}
