/**
 * Names, each distinct one once, under numbers that stay the same from batch to batch. They lie in memory below the
 * table. What is not referred to is forgotten when much has come together, and the others get new numbers.
 */

import { raiseFloor, tableFloor } from './table'

/** There is room for so many names at once. */
export const MOST_NAMES: u32 = 4096
/** More than this many names, or bytes beside those that were kept, are not carried into another batch. */
const MANY_NAMES: u32 = 2048
const MANY_BYTES: usize = 262_144

const HEADS: u32 = 8192
/** By hash, a name's number and 1; 0 where there is none. */
const heads: usize = memory.data(16_384)
const hashes: usize = memory.data(16_384)
/** Where each name begins in the pool; the one behind it begins where it ends. */
const starts: usize = memory.data(16_388)
/** What a number became when others were forgotten. */
const renumbered: usize = memory.data(8_192)

/** How many names there are. */
export let names: u32 = 0
/** How many bytes they take, and how many did when others were forgotten last. */
let used: usize = 0
let kept: usize = 0
let capacity: usize = 0
let pool: usize = 0
let salt: u64 = 0

/** Makes the hashes of names differ from those in other processes. */
export function seedNames(value: u32): void {
  salt = <u64>value * FACTOR
}

/** Where a name begins. */
export function nameStart(name: u32): usize {
  return pool + <usize>load<u32>(starts + ((<usize>name) << 2))
}

/** How many bytes a name has. */
export function nameLength(name: u32): u32 {
  const at = starts + ((<usize>name) << 2)
  return load<u32>(at, 4) - load<u32>(at)
}

/** Makes sure of room for a name of so many bytes, and gives the address to put it to; 0 if there is no memory. */
export function nameRoom(length: usize): usize {
  // What looks at names looks at eight bytes at once.
  const needed = used + length + 8
  if (needed > capacity) {
    if (capacity == 0) pool = tableFloor()
    let more: usize = capacity == 0 ? 1024 : capacity
    while (capacity + more < needed) more <<= 1
    if (!raiseFloor(more)) return 0
    capacity += more
  }
  return pool + used
}

/** Whether so much has come together that the names not referred to are to be forgotten. */
export function areManyNames(): bool {
  return names > MANY_NAMES || used > 2 * kept + MANY_BYTES
}

/**
 * The number of a name, which is made if it is a new one. There must be room for it, and eight bytes behind it that can
 * be read.
 */
export function intern(from: usize, length: usize): u32 {
  const hash = hashOf(from, length)
  let slot = hash & (HEADS - 1)
  while (true) {
    const head = <u32>load<u16>(heads + ((<usize>slot) << 1))
    if (head == 0) break
    const name = head - 1
    if (
      load<u32>(hashes + ((<usize>name) << 2)) == hash &&
      nameLength(name) == <u32>length &&
      equal(nameStart(name), from, length)
    )
      return name
    slot = (slot + 1) & (HEADS - 1)
  }
  const name = names++
  const at = pool + used
  if (at != from) memory.copy(at, from, length)
  used += length
  store<u16>(heads + ((<usize>slot) << 1), <u16>(name + 1))
  store<u32>(hashes + ((<usize>name) << 2), hash)
  store<u32>(starts + ((<usize>names) << 2), <u32>used)
  return name
}

/**
 * Forgets the names that none of the references from `from` to `to` are to, and changes these to what the names'
 * numbers are now. A reference is a number and 1, or 0.
 */
export function forgetOthers(from: usize, to: usize): void {
  memory.fill(renumbered, 0, (<usize>names) << 1)
  for (let at = from; at < to; at += 4) {
    const reference = load<u32>(at)
    if (reference != 0) store<u16>(renumbered + ((<usize>(reference - 1)) << 1), 1)
  }
  memory.fill(heads, 0, (<usize>HEADS) << 1)
  const before = names
  names = 0
  used = 0
  for (let name: u32 = 0; name < before; name++) {
    const at = renumbered + ((<usize>name) << 1)
    if (load<u16>(at) == 0) continue
    const start = nameStart(name)
    const length = nameLength(name)
    const hash = load<u32>(hashes + ((<usize>name) << 2))
    memory.copy(pool + used, start, length)
    let slot = hash & (HEADS - 1)
    while (load<u16>(heads + ((<usize>slot) << 1)) != 0) slot = (slot + 1) & (HEADS - 1)
    const number = names++
    used += length
    store<u16>(heads + ((<usize>slot) << 1), <u16>names)
    store<u32>(hashes + ((<usize>number) << 2), hash)
    // Numbers never grow, and one that stays the same has its name where it was: this writes over nothing that is still
    // to be read.
    store<u32>(starts + ((<usize>names) << 2), <u32>used)
    store<u16>(at, <u16>names)
  }
  kept = used
  for (let at = from; at < to; at += 4) {
    const reference = load<u32>(at)
    if (reference != 0) store<u32>(at, <u32>load<u16>(renumbered + ((<usize>(reference - 1)) << 1)))
  }
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15

function hashOf(from: usize, length: usize): u32 {
  let h = (length ^ salt) * FACTOR
  let left = length
  for (; left > 8; left -= 8) {
    h = (h ^ load<u64>(from)) * FACTOR
    h ^= h >> 29
    from += 8
  }
  if (left > 0) {
    h = (h ^ (load<u64>(from) << ((8 - left) << 3))) * FACTOR
    h ^= h >> 29
  }
  return (<u32>(h >> 32)) ^ (<u32>h)
}

function equal(a: usize, b: usize, length: usize): bool {
  for (; length > 8; length -= 8) {
    if (load<u64>(a) != load<u64>(b)) return false
    a += 8
    b += 8
  }
  return length == 0 || (load<u64>(a) ^ load<u64>(b)) << ((8 - length) << 3) == 0
}
