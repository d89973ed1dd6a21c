/**
 * The strings of one batch, laid out as in lib/event/strings.ts: each distinct string once, and lists of their ids.
 * Every string is shorter than 65,536 bytes. Sixteen bytes after every string passed to these functions must be
 * readable.
 */

import { MAX_LISTED, MAX_LISTS, MAX_STRINGS, MAX_STRING_BYTES } from '../../lib/kernel/layouts/strings'

/** The bytes of all strings: those of a full batch, plus one more line. */
export const STRINGS: usize = memory.data(393_248)
/** Where each string starts in `STRINGS`; the entry after the last one is its end. */
export const STARTS: usize = memory.data(65_544)
/** The string ids of all lists. */
export const LISTED: usize = memory.data(262_160)
/** Where each list starts in `LISTED`; the entry after the last one is its end. */
export const LISTS: usize = memory.data(16_392)

/** Open addressing with twice as many slots as strings: 16 bits of the hash, and the id plus 1; 0 is free. */
const SLOTS: usize = memory.data(131_072)
const SLOT_MASK: u32 = 0x7fff
/** The slot of each string in `SLOTS`, for clearing. */
const SLOT_OF: usize = memory.data(65_536)
/**
 * Per string, 1 plus the string that followed it last time, or 0: names of functions, files and frames tend to follow
 * each other repeatedly.
 */
const FOLLOWERS: usize = memory.data(65_536)
/** The slots of lists. */
const LIST_SLOTS: usize = memory.data(32_768)
const LIST_SLOT_MASK: u32 = 0x1fff
const LIST_SLOT_OF: usize = memory.data(16_384)

/** The result when there is no room. */
export const NO_ROOM: u32 = 0xffff_ffff

/** The number of strings. */
export let strings: u32 = 0
/** The bytes that they take. */
export let stringBytes: u32 = 0
/** The number of lists. */
export let lists: u32 = 0
/** The number of ids in them. */
export let listed: u32 = 0

/** Random odd factors that differ from process to process, so that no trace can contain names chosen to collide. */
let factor0: u64 = 0x9e37_79b9_7f4a_7c15
let factor1: u64 = 0xbf58_476d_1ce4_e5b9
let factor2: u64 = 0x94d0_49bb_1331_11eb
let factor3: u64 = 0xd6e8_feb8_6659_fd93

/** @param random 64 random bits */
export function setSeed(random: u64): void {
  factor0 = (factor0 * (random | 1)) | 1
  factor1 = (factor1 * (factor0 ^ (random >> 32))) | 1
  factor2 = (factor2 * (factor1 ^ (factor0 >> 32))) | 1
  factor3 = (factor3 * (factor2 ^ (factor1 >> 32))) | 1
}

/** Clears all strings and lists. */
export function clearStrings(): void {
  for (let id: u32 = 0; id < strings; id++)
    store<u32>(SLOTS + ((<usize>load<u32>(SLOT_OF + ((<usize>id) << 2))) << 2), 0)
  for (let id: u32 = 0; id < lists; id++)
    store<u32>(LIST_SLOTS + ((<usize>load<u32>(LIST_SLOT_OF + ((<usize>id) << 2))) << 2), 0)
  strings = 0
  stringBytes = 0
  lists = 0
  listed = 0
  store<u32>(STARTS, 0)
  store<u32>(LISTS, 0)
}

/** Whether the strings of one more line may not fit, so that the batch must be closed. */
// @ts-ignore: decorator
@inline
export function stringsFull(bytes: u32): bool {
  return stringBytes > bytes || strings > MAX_STRINGS - 1024 || listed > MAX_LISTED - 8192
}

/**
 * A hash in the upper bits. For up to 32 bytes it is a sum of products of words, without dependencies between them and
 * with few branches on the length: words may overlap.
 */
// @ts-ignore: decorator
@inline
function hash(p: usize, length: u32): u64 {
  const h = <u64>length * factor3
  if (length > 16) {
    const end = p + length
    if (length <= 32)
      return (
        h +
        load<u64>(p) * factor0 +
        load<u64>(p + 8) * factor1 +
        load<u64>(end - 16) * factor2 +
        (load<u64>(end - 8) ^ factor1) * factor3
      )
    return longHash(p, end, h)
  }
  if (length >= 8) return h + load<u64>(p) * factor0 + load<u64>(p + length - 8) * factor1
  return length == 0 ? 0 : h + (load<u64>(p) << (64 - ((<u64>length) << 3))) * factor0
}

function longHash(p: usize, end: usize, h: u64): u64 {
  const tail = end - 16
  for (; p < tail; p += 16) h = (h ^ (h >> 32)) * factor2 + load<u64>(p) * factor0 + load<u64>(p + 8) * factor1
  return (h ^ (h >> 32)) * factor2 + load<u64>(tail) * factor0 + load<u64>(tail + 8) * factor1
}

// @ts-ignore: decorator
@inline
function equal(a: usize, b: usize, length: u32): bool {
  if (length < 8) return length == 0 || (load<u64>(a) ^ load<u64>(b)) << (64 - ((<u64>length) << 3)) == 0
  if (length < 16) {
    const rest = <usize>length - 8
    return ((load<u64>(a) ^ load<u64>(b)) | (load<u64>(a + rest) ^ load<u64>(b + rest))) == 0
  }
  const tail = a + length - 16
  const tailB = b + length - 16
  for (; a < tail; a += 16, b += 16) if (v128.any_true(v128.xor(v128.load(a), v128.load(b)))) return false
  return !v128.any_true(v128.xor(v128.load(tail), v128.load(tailB)))
}

/** The id of a string, which is added if it is new; `NO_ROOM` if there is no room for it. */
// @ts-ignore: decorator
@inline
export function intern(p: usize, length: u32): u32 {
  const h = hash(p, length)
  const tag = <u32>(h >> 48)
  let slot = (<u32>(h >> 33)) & SLOT_MASK
  let entry = load<u32>(SLOTS + ((<usize>slot) << 2))
  while (entry != 0) {
    if (entry >> 16 == tag) {
      const id = (entry & 0xffff) - 1
      const at = load<u32>(STARTS + ((<usize>id) << 2))
      if (load<u32>(STARTS + ((<usize>id) << 2), 4) - at == length && equal(STRINGS + at, p, length)) return id
    }
    slot = (slot + 1) & SLOT_MASK
    entry = load<u32>(SLOTS + ((<usize>slot) << 2))
  }
  return add(p, length, slot, tag)
}

function add(p: usize, length: u32, slot: u32, tag: u32): u32 {
  if (strings == MAX_STRINGS || length > MAX_STRING_BYTES - stringBytes) return NO_ROOM
  const to = STRINGS + stringBytes
  for (let i: usize = 0; i < length; i += 16) v128.store(to + i, v128.load(p + i))
  stringBytes += length
  const id = strings++
  store<u32>(STARTS + ((<usize>id) << 2), stringBytes, 4)
  store<u32>(SLOTS + ((<usize>slot) << 2), (tag << 16) | (id + 1))
  store<u32>(SLOT_OF + ((<usize>id) << 2), slot)
  store<u32>(FOLLOWERS + ((<usize>id) << 2), 0)
  return id
}

/** 1 plus the string whose follower is searched for, or 0. */
let last: u32 = 0

/** Starts a sequence of strings that is unrelated to those before. */
// @ts-ignore: decorator
@inline
export function beginRow(): void {
  last = 0
}

/** 1 plus the id of the next string in the sequence, if it followed last time and ends with a quote; otherwise 0. */
// @ts-ignore: decorator
@inline
export function guess(p: usize): u32 {
  if (last == 0) return 0
  const follower = load<u32>(FOLLOWERS + ((<usize>(last - 1)) << 2))
  if (follower == 0) return 0
  const at = load<u32>(STARTS + ((<usize>(follower - 1)) << 2))
  const length = load<u32>(STARTS + ((<usize>follower) << 2)) - at
  if (load<u8>(p + length) != 0x22 || !equal(STRINGS + at, p, length)) return 0
  last = follower
  return follower
}

/** Records the next string of the sequence. It must appear in the text without escapes. */
// @ts-ignore: decorator
@inline
export function follow(id: u32): void {
  if (last != 0) store<u32>(FOLLOWERS + ((<usize>(last - 1)) << 2), id + 1)
  last = id + 1
}

/** The length of a string. */
// @ts-ignore: decorator
@inline
export function lengthOfString(id: u32): u32 {
  return load<u32>(STARTS + ((<usize>id) << 2), 4) - load<u32>(STARTS + ((<usize>id) << 2))
}

/** The address for the next list's ids, with room for `listRoom` of them. */
// @ts-ignore: decorator
@inline
export function nextList(): usize {
  return LISTED + ((<usize>listed) << 2)
}

// @ts-ignore: decorator
@inline
export function listRoom(): u32 {
  return MAX_LISTED - listed
}

/** The id of the list of the `n` ids at the address of the next list. */
export function internList(n: u32): u32 {
  const p = nextList()
  let h: u64 = n
  for (let i: u32 = 0; i < n; i++) h = ((h ^ (h >> 32)) + load<u32>(p + ((<usize>i) << 2)) + 1) * factor0
  const tag = <u32>(h >> 48)
  let slot = (<u32>(h >> 33)) & LIST_SLOT_MASK
  let entry = load<u32>(LIST_SLOTS + ((<usize>slot) << 2))
  while (entry != 0) {
    const id = (entry & 0xffff) - 1
    if (entry >> 16 == tag) {
      const at = load<u32>(LISTS + ((<usize>id) << 2))
      if (
        load<u32>(LISTS + ((<usize>id) << 2), 4) - at == n &&
        memory.compare(LISTED + ((<usize>at) << 2), p, (<usize>n) << 2) == 0
      )
        return id
    }
    slot = (slot + 1) & LIST_SLOT_MASK
    entry = load<u32>(LIST_SLOTS + ((<usize>slot) << 2))
  }
  if (lists == MAX_LISTS) return NO_ROOM
  listed += n
  const id = lists++
  store<u32>(LISTS + ((<usize>id) << 2), listed, 4)
  store<u32>(LIST_SLOTS + ((<usize>slot) << 2), (tag << 16) | (id + 1))
  store<u32>(LIST_SLOT_OF + ((<usize>id) << 2), slot)
  return id
}
