/**
 * The strings and lists of one batch, as a StringTable has them: given by the caller when events are encoded, and
 * collected here when they are decoded.
 */

import { GROWING, GrowingTable } from '../shared/grow'

/** Tables: the bytes of all strings, the start of each, the ids in all lists, and the start of each list. */
export const BYTES: usize = memory.data(GROWING)
export const STARTS: usize = memory.data(GROWING)
export const LISTED: usize = memory.data(GROWING)
export const LISTS: usize = memory.data(GROWING)
const bytes = changetype<GrowingTable>(BYTES)
const starts = changetype<GrowingTable>(STARTS)
const listed = changetype<GrowingTable>(LISTED)
const lists = changetype<GrowingTable>(LISTS)
/** The numbers of items in a batch that is being decoded. */
export let byteCount: u32 = 0
export let stringCount: u32 = 0
export let listedCount: u32 = 0
export let listCount: u32 = 0

/** Makes room for these numbers of items. @returns false if memory is exhausted */
export function reserve(byteRoom: u32, strings: u32, listedRoom: u32, listRoom: u32): bool {
  return (
    bytes.extend(byteRoom) &&
    starts.extend((<u64>strings + 1) << 2) &&
    listed.extend((<u64>listedRoom) << 2) &&
    lists.extend((<u64>listRoom + 1) << 2)
  )
}

/** Begins an empty table. @returns false if memory is exhausted */
export function clear(): bool {
  byteCount = stringCount = listedCount = listCount = 0
  if (!reserve(1024, 64, 64, 64)) return false
  store<u32>(starts.at, 0)
  store<u32>(lists.at, 0)
  return true
}

export function startOf(id: u32): usize {
  return bytes.at + load<u32>(starts.at + ((<usize>id) << 2))
}

export function lengthOf(id: u32): u32 {
  return load<u32>(starts.at + ((<usize>id) << 2), 4) - load<u32>(starts.at + ((<usize>id) << 2))
}

export function listStart(id: u32): usize {
  return listed.at + ((<usize>load<u32>(lists.at + ((<usize>id) << 2))) << 2)
}

export function listLength(id: u32): u32 {
  return load<u32>(lists.at + ((<usize>id) << 2), 4) - load<u32>(lists.at + ((<usize>id) << 2))
}

/** Adds a string. @returns its id, or the largest number if memory is exhausted */
export function addString(from: usize, length: u32): u32 {
  if (!bytes.extend(<u64>byteCount + length) || !starts.extend((<u64>stringCount + 2) << 2)) return u32.MAX_VALUE
  memory.copy(bytes.at + byteCount, from, length)
  byteCount += length
  store<u32>(starts.at + ((<usize>stringCount) << 2), byteCount, 4)
  return stringCount++
}

/** Makes room for a list of n ids. @returns the address at which to write them before `endList`, or 0 */
export function beginList(n: u32): usize {
  if (!listed.extend((<u64>listedCount + n) << 2) || !lists.extend((<u64>listCount + 2) << 2)) return 0
  return listed.at + ((<usize>listedCount) << 2)
}

/** Adds the list of the n ids that were written. @returns its id */
export function endList(n: u32): u32 {
  listedCount += n
  store<u32>(lists.at + ((<usize>listCount) << 2), listedCount, 4)
  return listCount++
}
