/**
 * Interned names under numbers that stay the same from batch to batch. They are stored in memory below the table. When
 * much has accumulated, names without references are dropped and the others renumbered.
 */

import { mix, secretFrom } from './mix'
import { raiseFloor, tableFloor } from './table'

/** The maximum number of names. */
export const MOST_NAMES: u32 = 4096
/**
 * With more than this many names, or more than this many bytes beyond those kept, unused names are dropped before the
 * next batch.
 */
const MANY_NAMES: u32 = 2048
const MANY_BYTES: usize = 262_144

const HEADS: u32 = 8192
/** By hash, a name's number plus 1; 0 for a free slot. */
const heads: usize = memory.data(16_384)
const hashes: usize = memory.data(16_384)
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
let salt: u64 = 0

/** Seeds the hashes of names, so that they differ from process to process. */
export function seedNames(value: u32): void {
  salt = secretFrom(value, 0)
}

/** The address of a name. */
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
    if (capacity == 0) pool = tableFloor()
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
 * Drops the names that no reference from `from` to `to` uses, and updates these references. A reference is a number
 * plus 1, or 0.
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
    // New numbers and addresses are never larger than the old ones, so this overwrites nothing that is still to be
    // read.
    store<u32>(starts + ((<usize>names) << 2), <u32>used)
    store<u16>(at, <u16>names)
  }
  kept = used
  for (let at = from; at < to; at += 4) {
    const reference = load<u32>(at)
    if (reference != 0) store<u32>(at, <u32>load<u16>(renumbered + ((<usize>(reference - 1)) << 1)))
  }
}

function hashOf(from: usize, length: usize): u32 {
  let h: u64 = length
  let left = length
  for (; left > 8; left -= 8) {
    h = mix(h ^ load<u64>(from), salt)
    from += 8
  }
  if (left > 0) h = mix(h ^ (load<u64>(from) << ((8 - left) << 3)), salt)
  return <u32>(h >> 32)
}

function equal(a: usize, b: usize, length: usize): bool {
  for (; length > 8; length -= 8) {
    if (load<u64>(a) != load<u64>(b)) return false
    a += 8
    b += 8
  }
  return length == 0 || (load<u64>(a) ^ load<u64>(b)) << ((8 - length) << 3) == 0
}
