/**
 * The names and lists of names that events referred to so far: the dictionary. An event's names are coded as numbers in
 * it; new names with their bytes.
 */

import { addString, beginList, endList, lengthOf, listLength, listStart, startOf } from './batch-strings'
import { crcBytes, crcWord } from './checksum'
import { GROWING, GrowingTable } from '../shared/grow'
import { hashBytes, mix, newSecret } from '../shared/hash'
import { HashTable, TABLE, VALUE } from '../shared/hash-table'

/** A name, or a list of names. */
@unmanaged
class Entry {
  /** The position and number of its bytes in the pool, or of its names among all listed ones. */
  start: u32
  length: u32
  crc: u32
  /** Its id in the batch being decoded, if the epoch is this batch's. */
  out: u32
  epoch: u32
}

const BYTES: u32 = 20
/** The dictionary is cleared at this number of bytes, names or listed names, so that memory is bounded. */
const MOST_BYTES: u32 = 8_388_608
const MOST: u32 = 262_144
const MOST_LISTED: u32 = 2_097_152
/**
 * Marks a name or list that is only in the batch; the other bits are its id there, instead of a number in the
 * dictionary.
 */
export const NEW: u64 = 0x1_0000_0000

/** The names, the lists, the names in lists, and the bytes of names; and how many of each there are. */
const names = changetype<GrowingTable>(memory.data(GROWING))
const lists = changetype<GrowingTable>(memory.data(GROWING))
const listed = changetype<GrowingTable>(memory.data(GROWING))
export const pool = changetype<GrowingTable>(memory.data(GROWING))
export let nameCount: u32 = 0
export let listsCount: u32 = 0
let listedCount: u32 = 0
export let poolLength: u32 = 0
/** An unknown name or list was referred to. */
export let isStale: bool = false
/** There was no memory. */
export let isExhausted: bool = false

/**
 * For the encoder: numbers plus 1 by a hash, of names and of lists, and the number of each string and list of the
 * batch. On a collision, the next free slot after the hash is used.
 */
const nameIndex = changetype<HashTable>(memory.data(TABLE))
const listIndex = changetype<HashTable>(memory.data(TABLE))
const nameOf = changetype<GrowingTable>(memory.data(GROWING))
const listOf = changetype<GrowingTable>(memory.data(GROWING))
let secret: u64 = 1
/** The number of the batch being decoded. */
let epoch: u32 = 0

export function resetNames(): void {
  nameCount = 0
  listsCount = 0
  listedCount = 0
  poolLength = 0
  isStale = false
  isExhausted = false
  nameIndex.forget()
  listIndex.forget()
  secret = newSecret()
  forgetBatch()
}

/** Whether the dictionary must be cleared before the next event. */
export function isCrowded(): bool {
  return poolLength > MOST_BYTES || nameCount > MOST || listsCount > MOST || listedCount > MOST_LISTED
}

function forgetBatch(): void {
  if (nameOf.at != 0) memory.fill(nameOf.at, 0, (<usize>1) << nameOf.log)
  if (listOf.at != 0) memory.fill(listOf.at, 0, (<usize>1) << listOf.log)
}

/** Prepares for the strings of another batch, for the encoder. @returns false if memory is exhausted */
export function beginBatch(strings: u32, listsOfBatch: u32): bool {
  if (!nameOf.extend((<u64>strings) << 2) || !listOf.extend((<u64>listsOfBatch) << 2)) return false
  memory.fill(nameOf.at, 0, (<usize>strings) << 2)
  memory.fill(listOf.at, 0, (<usize>listsOfBatch) << 2)
  return true
}

export function nameAt(n: u32): Entry {
  return changetype<Entry>(names.at + <usize>n * BYTES)
}

export function listAt(n: u32): Entry {
  return changetype<Entry>(lists.at + <usize>n * BYTES)
}

/** Name i of a list. */
export function listedAt(list: Entry, i: u32): u32 {
  return load<u32>(listed.at + ((<usize>(list.start + i)) << 2))
}

/** A string of the batch: its number, or its id with the mark `NEW`. */
export function numberOfName(id: u32): u64 {
  const cached = load<u32>(nameOf.at + ((<usize>id) << 2))
  if (cached != 0) return cached - 1
  if (nameIndex.log == 0) return NEW | id
  const from = startOf(id)
  const length = lengthOf(id)
  let key = hashBytes(from, length)
  while (true) {
    const entry = load<u32>(nameIndex.slotOf(key++), VALUE)
    if (entry == 0) return NEW | id
    const name = nameAt(entry - 1)
    if (name.length == length && memory.compare(pool.at + name.start, from, length) == 0) {
      store<u32>(nameOf.at + ((<usize>id) << 2), entry)
      return entry - 1
    }
  }
}

/** A list of the batch: its number, or its id with the mark `NEW`. */
export function numberOfList(id: u32): u64 {
  const cached = load<u32>(listOf.at + ((<usize>id) << 2))
  if (cached != 0) return cached - 1
  const from = listStart(id)
  const length = listLength(id)
  let h: u64 = length
  for (let i: u32 = 0; i < length; i++) {
    const name = numberOfName(load<u32>(from + ((<usize>i) << 2)))
    if (name >= NEW) return NEW | id
    h = mix(h ^ name, secret)
  }
  if (listIndex.log == 0) return NEW | id
  while (true) {
    const entry = load<u32>(listIndex.slotOf(h++), VALUE)
    if (entry == 0) return NEW | id
    const list = listAt(entry - 1)
    if (list.length == length && isSameList(list, from)) {
      store<u32>(listOf.at + ((<usize>id) << 2), entry)
      return entry - 1
    }
  }
}

function isSameList(list: Entry, from: usize): bool {
  for (let i: u32 = 0; i < list.length; i++)
    if (listedAt(list, i) != <u32>numberOfName(load<u32>(from + ((<usize>i) << 2)))) return false
  return true
}

/** Makes room in a table. @returns false if memory is exhausted */
function hasRoom(table: GrowingTable, bytes: u64): bool {
  if (!table.extend(bytes)) isExhausted = true
  return !isExhausted
}

/** Makes room in the pool for a name. @returns the address at which to write its bytes, or 0 */
export function beginName(length: u32): usize {
  // Hashes and checksums read words.
  return hasRoom(pool, <u64>poolLength + length + 16) ? pool.at + poolLength : 0
}

/** Adds a name whose bytes were written, or are in a string of the batch. @returns its number */
export function addName(length: u32, indexes: bool): u32 {
  if (!hasRoom(names, (<u64>nameCount + 1) * BYTES)) return 0
  const n = nameCount++
  const name = nameAt(n)
  name.start = poolLength
  name.length = length
  name.crc = ~crcBytes(u32.MAX_VALUE, pool.at + poolLength, length)
  name.epoch = 0
  if (indexes) enter(nameIndex, hashBytes(pool.at + poolLength, length), n)
  poolLength += length
  return n
}

/** Adds the list whose numbers of names are at an address. @returns its number */
export function addList(from: usize, length: u32, indexes: bool): u32 {
  if (!hasRoom(lists, (<u64>listsCount + 1) * BYTES) || !hasRoom(listed, (<u64>listedCount + length) << 2)) return 0
  memory.copy(listed.at + ((<usize>listedCount) << 2), from, (<usize>length) << 2)
  const n = listsCount++
  const list = listAt(n)
  list.start = listedCount
  list.length = length
  list.epoch = 0
  listedCount += length
  let crc = u32.MAX_VALUE
  let h: u64 = length
  for (let i: u32 = 0; i < length; i++) {
    crc = crcWord(crc, wordOfName(listedAt(list, i)))
    h = mix(h ^ listedAt(list, i), secret)
  }
  list.crc = ~crc
  if (indexes) enter(listIndex, h, n)
  return n
}

/** Adds a name or list that is not there. */
function enter(index: HashTable, key: u64, n: u32): void {
  if (!index.reserve(1)) {
    isExhausted = true
    return
  }
  let slot = index.slotOf(key)
  while (load<u32>(slot, VALUE) != 0) slot = index.slotOf(++key)
  store<u64>(index.put(slot, key), <u64>n + 1, VALUE)
}

/** Represents a name in the checksum of events: its checksum and its length. */
export function wordOfName(n: u32): u64 {
  const name = nameAt(n)
  return ((<u64>name.length) << 32) | name.crc
}

/** Represents a list in it: the checksum of its names' words, and its length. */
export function wordOfList(n: u32): u64 {
  const list = listAt(n)
  return ((<u64>list.length) << 32) | list.crc
}

/** Begins the strings of another batch, for the decoder. */
export function beginOutput(): void {
  isStale = false
  epoch++
}

/** The id of a name among the strings of the batch being decoded, to which it is added if necessary. */
export function outName(n: u32): u32 {
  // The descriptor was removed.
  if (n >= nameCount) {
    isStale = true
    return 0
  }
  const name = nameAt(n)
  if (name.epoch == epoch) return name.out
  const id = addString(pool.at + name.start, name.length)
  if (id == u32.MAX_VALUE) {
    isExhausted = true
    return 0
  }
  name.epoch = epoch
  name.out = id
  return id
}

/** The same for a list. */
export function outList(n: u32): u32 {
  if (n >= listsCount) {
    isStale = true
    return 0
  }
  const list = listAt(n)
  if (list.epoch == epoch) return list.out
  const to = beginList(list.length)
  if (to == 0) {
    isExhausted = true
    return 0
  }
  // Adding names does not move the ids of lists.
  for (let i: u32 = 0; i < list.length; i++) store<u32>(to + ((<usize>i) << 2), outName(listedAt(list, i)))
  list.epoch = epoch
  list.out = endList(list.length)
  return list.out
}
