/**
 * The strings of one batch, laid out as in lib/event/strings.ts: each distinct string once, and lists of their ids.
 * Every string is shorter than 65,536 bytes. Sixteen bytes after every string passed to these functions must be
 * readable.
 */

import { MAX_LISTED, MAX_LISTS, MAX_STRINGS, MAX_STRING_BYTES } from '../../lib/kernel/layouts/strings'
import { hashBytes, seedHashes } from './hash'
import { HashTable, TABLE, VALUE } from './hash-table'

/** The maximum bytes of all strings: a full batch, and one more line. */
export const STRINGS: usize = memory.data(393_248)
/** Where each string starts in `STRINGS`; the entry after the last one is its end. */
export const STARTS: usize = memory.data(65_544)
/** The string ids of all lists. */
export const LISTED: usize = memory.data(262_160)
/** Where each list starts in `LISTED`; the entry after the last one is its end. */
export const LISTS: usize = memory.data(16_392)

/** Ids plus 1 by the hash of strings. On a collision, the next free slot after the hash is used. */
const byHash = changetype<HashTable>(memory.data(TABLE))
const SLOTS: usize = memory.data(524_288)
const SLOTS_LOG: u32 = 15
/** The slot of each string, for clearing. */
const SLOT_OF: usize = memory.data(65_536)
/**
 * Per string, 1 plus the string that followed it last time, or 0: names of functions, files and frames tend to follow
 * each other repeatedly.
 */
const FOLLOWERS: usize = memory.data(65_536)
/** The same for lists. */
const listsByHash = changetype<HashTable>(memory.data(TABLE))
const LIST_SLOTS: usize = memory.data(131_072)
const LIST_SLOTS_LOG: u32 = 13
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

/** @param random 64 random bits, so that no trace can contain names chosen to collide */
export function setSeed(random: u64): void {
  seedHashes(<u32>random, <u32>(random >> 32))
  byHash.useSlots(SLOTS, SLOTS_LOG)
  listsByHash.useSlots(LIST_SLOTS, LIST_SLOTS_LOG)
}

export function clearStrings(): void {
  for (let id: u32 = 0; id < strings; id++) store<u64>(load<u32>(SLOT_OF + ((<usize>id) << 2)), 0, VALUE)
  for (let id: u32 = 0; id < lists; id++) store<u64>(load<u32>(LIST_SLOT_OF + ((<usize>id) << 2)), 0, VALUE)
  byHash.used = listsByHash.used = 0
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
  let hash = hashBytes(p, length)
  while (true) {
    const slot = byHash.slotOf(hash)
    const entry = load<u32>(slot, VALUE)
    if (entry == 0) return add(p, length, slot, hash)
    const id = entry - 1
    const at = load<u32>(STARTS + ((<usize>id) << 2))
    if (load<u32>(STARTS + ((<usize>id) << 2), 4) - at == length && equal(STRINGS + at, p, length)) return id
    hash++
  }
}

function add(p: usize, length: u32, slot: usize, hash: u64): u32 {
  if (strings == MAX_STRINGS || length > MAX_STRING_BYTES - stringBytes) return NO_ROOM
  const to = STRINGS + stringBytes
  for (let i: usize = 0; i < length; i += 16) v128.store(to + i, v128.load(p + i))
  stringBytes += length
  const id = strings++
  store<u32>(STARTS + ((<usize>id) << 2), stringBytes, 4)
  store<u64>(byHash.put(slot, hash), <u64>strings, VALUE)
  store<u32>(SLOT_OF + ((<usize>id) << 2), <u32>slot)
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
  let hash = hashBytes(p, n << 2)
  let slot = listsByHash.slotOf(hash)
  while (load<u32>(slot, VALUE) != 0) {
    const id = load<u32>(slot, VALUE) - 1
    const at = load<u32>(LISTS + ((<usize>id) << 2))
    if (
      load<u32>(LISTS + ((<usize>id) << 2), 4) - at == n &&
      memory.compare(LISTED + ((<usize>at) << 2), p, (<usize>n) << 2) == 0
    )
      return id
    slot = listsByHash.slotOf(++hash)
  }
  if (lists == MAX_LISTS) return NO_ROOM
  listed += n
  const id = lists++
  store<u32>(LISTS + ((<usize>id) << 2), listed, 4)
  store<u64>(listsByHash.put(slot, hash), <u64>lists, VALUE)
  store<u32>(LIST_SLOT_OF + ((<usize>id) << 2), <u32>slot)
  return id
}
