/**
 * Interned names under numbers that stay the same from batch to batch. When much has accumulated, names without
 * references are dropped and the others renumbered. They are stored in memory below the table of blocks.
 */

import { hashBytes } from './hash'
import { HashTable, TABLE, VALUE } from './hash-table'
import { raiseFloor, tableFloor } from './table'

/** The maximum number of names. */
export const MOST_NAMES: u32 = 4096
/**
 * With more than this many names, or more than this many bytes beyond those kept, unused names are dropped before the
 * next batch.
 */
const MANY_NAMES: u32 = 2048
const MANY_BYTES: usize = 262_144

/** The number of each name plus 1, by its hash. On a collision, the next free slot after the hash is used. */
const byHash = changetype<HashTable>(memory.data(TABLE))
const SLOTS: usize = memory.data(131_072)
const SLOTS_LOG: u32 = 13
/** Where each name starts in the pool; it ends where the next one starts. */
const starts: usize = memory.data(16_388)
/** The new number of each name after a renumbering. */
const renumbered: usize = memory.data(8_192)

/** The number of names. */
export let names: u32 = 0
/** The bytes that they take, and took after the last renumbering. */
let used: usize = 0
let kept: usize = 0
let capacity: usize = 0
let pool: usize = 0

export function nameStart(name: u32): usize {
  return pool + <usize>load<u32>(starts + ((<usize>name) << 2))
}

/** The length of a name in bytes. */
export function nameLength(name: u32): u32 {
  const at = starts + ((<usize>name) << 2)
  return load<u32>(at, 4) - load<u32>(at)
}

/** Ensures room for a name of this length and returns the address for it; 0 if memory is exhausted. */
export function nameRoom(length: usize): usize {
  // Names are compared eight bytes at a time.
  const needed = used + length + 8
  if (needed > capacity) {
    if (capacity == 0) {
      pool = tableFloor()
      byHash.useSlots(SLOTS, SLOTS_LOG)
    }
    let more: usize = capacity == 0 ? 1024 : capacity
    while (capacity + more < needed) more <<= 1
    // checked: if (capacity == 0 && !raiseFloor(rooms.BETWEEN)) return 0
    if (!raiseFloor(more)) return 0
    capacity += more
    // checked: rooms.open(pool, capacity)
    // checked: rooms.close(pool + capacity, rooms.BETWEEN)
  }
  return pool + used
}

/** Whether so much has accumulated that unused names should be dropped. */
export function areManyNames(): bool {
  return names > MANY_NAMES || used > 2 * kept + MANY_BYTES
}

/** The number of a name, which is added if it is new. There must be room for it, and eight readable bytes after it. */
export function intern(from: usize, length: usize): u32 {
  let hash = hashBytes(from, <u32>length)
  let slot = byHash.slotOf(hash)
  while (load<u32>(slot, VALUE) != 0) {
    const name = load<u32>(slot, VALUE) - 1
    if (nameLength(name) == <u32>length && equal(nameStart(name), from, length)) return name
    slot = byHash.slotOf(++hash)
  }
  const at = pool + used
  if (at != from) memory.copy(at, from, length)
  return enter(slot, hash, length)
}

/** Adds the name whose bytes follow the last name's. */
function enter(slot: usize, hash: u64, length: usize): u32 {
  const name = names++
  used += length
  store<u64>(byHash.put(slot, hash), <u64>names, VALUE)
  store<u32>(starts + ((<usize>names) << 2), <u32>used)
  return name
}

/**
 * Drops the names that no reference from `from` to `to` uses, and updates these references. A reference is a number
 * plus 1, or 0.
 */
export function forgetOthers(from: usize, to: usize): void {
  memory.fill(renumbered, 0, (<usize>names) << 1)
  for (let at = from; at < to; at += 4) {
    const reference = load<u32>(at)
    if (reference != 0) store<u16>(renumbered + ((<usize>(reference - 1)) << 1), 1)
  }
  byHash.forget()
  const before = names
  names = 0
  used = 0
  for (let name: u32 = 0; name < before; name++) {
    const at = renumbered + ((<usize>name) << 1)
    if (load<u16>(at) == 0) continue
    const start = nameStart(name)
    const length = nameLength(name)
    // New numbers and addresses are never larger than the old ones, so this overwrites nothing that is still to be
    // read.
    memory.copy(pool + used, start, length)
    let hash = hashBytes(pool + used, length)
    let slot = byHash.slotOf(hash)
    while (load<u32>(slot, VALUE) != 0) slot = byHash.slotOf(++hash)
    enter(slot, hash, length)
    store<u16>(at, <u16>names)
  }
  kept = used
  for (let at = from; at < to; at += 4) {
    const reference = load<u32>(at)
    if (reference != 0) store<u32>(at, <u32>load<u16>(renumbered + ((<usize>(reference - 1)) << 1)))
  }
}

function equal(a: usize, b: usize, length: usize): bool {
  for (; length > 8; length -= 8) {
    if (load<u64>(a) != load<u64>(b)) return false
    a += 8
    b += 8
  }
  return length == 0 || (load<u64>(a) ^ load<u64>(b)) << ((8 - length) << 3) == 0
}
