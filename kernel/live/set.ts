/**
 * The live set: a hash table from block keys to block numbers. A key is an index or an address; an index and an address
 * with the same value are different keys.
 */
import { newSecret } from '../shared/hash'
import { HashTable, KEY, TABLE, VALUE } from '../shared/hash-table'
import { giveRoom, takeRoom } from './room'

/** A value: the number of the block, which is never 0, and whether the key is an index. */
const IS_INDEX: usize = 12
const table = changetype<HashTable>(memory.data(TABLE))
/** Combined with keys that are indices. It is secret, so that no trace can contain an address with the same key. */
let mark: u64 = 0

/** The number of live blocks. */
export let live: u32 = 0
/** The number of block numbers in use or free. */
export let numbers: u32 = 0
/** A stack of free numbers: one for each number without a live block. It has room for as many as there may be keys. */
let unused: usize = 0
/** The logarithm of the size of it, in bytes. */
let unusedLog: u32 = 0
const FEWEST: u32 = 12

/** Removes all blocks, at a cost that does not depend on their number. @returns false if memory is exhausted */
export function clearSet(): bool {
  live = numbers = 0
  mark = newSecret()
  if (unusedLog > FEWEST) {
    giveRoom(unused, unusedLog)
    unusedLog = 0
  }
  return table.restart() && makeUnused()
}

/** Makes room for as many free numbers as there may be keys when the table has grown. */
function makeUnused(): bool {
  const log = max(FEWEST, table.log + 3)
  if (unusedLog >= log) return true
  const made = takeRoom(log)
  if (made == 0) return false
  if (unusedLog != 0) {
    memory.copy(made, unused, (<usize>(numbers - live)) << 2)
    giveRoom(unused, unusedLog)
  }
  unused = made
  unusedLog = log
  return true
}

// @ts-ignore: decorator
@inline
function keyOf(key: u64, isIndex: bool): u64 {
  return isIndex ? key ^ mark : key
}

/** Whether the table is larger than the processor's caches, so that reading slots ahead saves time. */
export function isLarge(): bool {
  return table.log > 16
}

/** A part of the slot where the search for a key starts. */
// @ts-ignore: decorator
@inline
export function slotAhead(key: u64, isIndex: bool): u32 {
  return load<u32>(table.slots + table.home(keyOf(key, isIndex)), VALUE)
}

/** The number of a live block, 0 if it is not live. */
export function numberOf(key: u64, isIndex: bool): u32 {
  return load<u32>(table.slotOf(keyOf(key, isIndex)), VALUE)
}

/** Whether the block returned by `begin` was live already. */
export let wasLive: bool = false

/**
 * The number of a block that is live from now on, whether or not it was before (see `wasLive`); 0 if memory is
 * exhausted.
 */
// @ts-ignore: decorator
@inline
export function begin(key: u64, isIndex: bool): u32 {
  const marked = keyOf(key, isIndex)
  let slot = table.slotOf(marked)
  const known = load<u32>(slot, VALUE)
  wasLive = known != 0
  if (known != 0) return known
  if (live >= table.most) {
    if (!makeUnused()) return 0
    slot = table.add(marked)
    if (slot == 0) return 0
  } else slot = table.put(slot, marked)
  const number = newNumber()
  store<u32>(slot, number, VALUE)
  store<u32>(slot, isIndex ? 1 : 0, IS_INDEX)
  return number
}

/** The number that was given back last, or a new one. */
// @ts-ignore: decorator
@inline
function newNumber(): u32 {
  const rest = numbers - live++
  return rest == 0 ? ++numbers : load<u32>(unused + ((<usize>(rest - 1)) << 2))
}

/** Removes a block. @returns its number, which is unused from now on; 0 if it is not live */
// @ts-ignore: decorator
@inline
export function finish(key: u64, isIndex: bool): u32 {
  const slot = table.slotOf(keyOf(key, isIndex))
  const number = load<u32>(slot, VALUE)
  if (number == 0) return 0
  table.remove(slot)
  store<u32>(unused + ((<usize>(numbers - live--)) << 2), number)
  return number
}

/** Removes a block if it has this number. @returns whether it had */
export function finishIf(key: u64, isIndex: bool, number: u32): bool {
  if (numberOf(key, isIndex) != number) return false
  finish(key, isIndex)
  return true
}

/** The number of slots of the table. */
export function slotCount(): u32 {
  return table.log == 0 ? 0 : 1 << table.log
}

// @ts-ignore: decorator
@inline
function at(slot: u32): usize {
  return table.slots + <usize>slot * table.step
}

/** The number of the block in a slot, 0 if it is empty. */
export function numberIn(slot: u32): u32 {
  return load<u32>(at(slot), VALUE)
}

/** The key in a slot. */
export function keyIn(slot: u32): u64 {
  return keyOf(load<u64>(at(slot), KEY), isIndexIn(slot))
}

/** Whether that is an index. */
export function isIndexIn(slot: u32): bool {
  return load<u32>(at(slot), IS_INDEX) != 0
}
