/**
 * The strings and lists of one batch, as a StringTable has them: given by the caller when events are encoded, and
 * collected here when they are decoded.
 */

import { giveBack, take } from './room'

/** The bytes of all strings, the start of each, the ids in all lists, and the start of each list. */
export let bytesAt: usize = 0
export let startsAt: usize = 0
export let listedAt: usize = 0
export let listsAt: usize = 0
export let byteCount: u32 = 0
export let stringCount: u32 = 0
export let listedCount: u32 = 0
export let listCount: u32 = 0

let bytesRoom: u32 = 0
let startsRoom: u32 = 0
let listedRoom: u32 = 0
let listsRoom: u32 = 0

/** A piece with room for `bytes` and the contents of the old one. A piece that grows gets twice the size. */
function grown(piece: usize, room: u32, used: u32, bytes: u32): usize {
  if (bytes <= room) return piece
  const larger = take(max<u32>(bytes, room << 1))
  if (larger == 0) return 0
  if (room != 0) {
    memory.copy(larger, piece, used)
    giveBack(piece, room)
  }
  return larger
}

// @ts-ignore: decorator
@inline
function roomOf(room: u32, bytes: u32): u32 {
  return bytes <= room ? room : max<u32>(bytes, room << 1)
}

/** Makes room for these numbers of items. @returns false if memory is exhausted */
export function reserve(bytes: u32, strings: u32, listed: u32, lists: u32): bool {
  const a = grown(bytesAt, bytesRoom, byteCount, bytes)
  if (a == 0 && bytes != 0) return false
  bytesAt = a
  bytesRoom = roomOf(bytesRoom, bytes)
  const b = grown(startsAt, startsRoom, (stringCount + 1) << 2, (strings + 1) << 2)
  if (b == 0) return false
  startsAt = b
  startsRoom = roomOf(startsRoom, (strings + 1) << 2)
  const c = grown(listedAt, listedRoom, listedCount << 2, listed << 2)
  if (c == 0 && listed != 0) return false
  listedAt = c
  listedRoom = roomOf(listedRoom, listed << 2)
  const d = grown(listsAt, listsRoom, (listCount + 1) << 2, (lists + 1) << 2)
  if (d == 0) return false
  listsAt = d
  listsRoom = roomOf(listsRoom, (lists + 1) << 2)
  return true
}

/** Sets the numbers of items after the caller has written them. */
export function setCounts(bytes: u32, strings: u32, listed: u32, lists: u32): void {
  byteCount = bytes
  stringCount = strings
  listedCount = listed
  listCount = lists
}

/** Begins an empty table. @returns false if memory is exhausted */
export function clear(): bool {
  setCounts(0, 0, 0, 0)
  if (!reserve(1024, 64, 64, 64)) return false
  store<u32>(startsAt, 0)
  store<u32>(listsAt, 0)
  return true
}

// @ts-ignore: decorator
@inline
export function startOf(id: u32): usize {
  return bytesAt + load<u32>(startsAt + ((<usize>id) << 2))
}

// @ts-ignore: decorator
@inline
export function lengthOf(id: u32): u32 {
  return load<u32>(startsAt + ((<usize>id) << 2), 4) - load<u32>(startsAt + ((<usize>id) << 2))
}

// @ts-ignore: decorator
@inline
export function listStart(id: u32): usize {
  return listedAt + ((<usize>load<u32>(listsAt + ((<usize>id) << 2))) << 2)
}

// @ts-ignore: decorator
@inline
export function listLength(id: u32): u32 {
  return load<u32>(listsAt + ((<usize>id) << 2), 4) - load<u32>(listsAt + ((<usize>id) << 2))
}

/** Adds a string. @returns its id, or the largest number if memory is exhausted */
export function addString(from: usize, length: u32): u32 {
  if (!reserve(byteCount + length, stringCount + 1, listedCount, listCount)) return u32.MAX_VALUE
  memory.copy(bytesAt + byteCount, from, length)
  byteCount += length
  store<u32>(startsAt + ((<usize>stringCount) << 2), byteCount, 4)
  return stringCount++
}

/** Makes room for a list of n ids. @returns the address at which to write them before `endList`, or 0 */
export function beginList(n: u32): usize {
  if (!reserve(byteCount, stringCount, listedCount + n + 1, listCount + 1)) return 0
  return listedAt + ((<usize>listedCount) << 2)
}

/** Adds the list of the n ids that were written. @returns its id */
export function endList(n: u32): u32 {
  listedCount += n
  store<u32>(listsAt + ((<usize>listCount) << 2), listedCount, 4)
  return listCount++
}
