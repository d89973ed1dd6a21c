/**
 * The live set: a hash table from block keys to block numbers. Open addressing with linear probing and backward-shift
 * deletion, 16 bytes per slot, so that a search usually touches one cache line. A key is an index or an address; an
 * index and an address with the same value are different keys.
 *
 * Keys are mostly neighbours: consecutive indices, addresses of one heap. The initial hash multiplies by the golden
 * ratio, which spreads such sequences more evenly than a random function, so that most searches end in the first slot.
 * Keys can be chosen to collide. When a search gets long, the table is rehashed with a random seed.
 *
 * With shared/hash-table.ts in its place, hf-stats took 12 % more processor time for a trace of 4 million events with
 * many live blocks.
 */
import { mix, newSecret } from '../shared/hash'
import { giveRoom, takeRoom } from './room'

/**
 * The offsets in a slot: the key, and the number of its block, which is never 0, combined with `INDEX`. A slot with the
 * number 0 is empty.
 */
const KEY: usize = 0
const NUMBER: usize = 8
const SLOT: u32 = 4
/** The logarithm of the size of a free number, in bytes. There is room for as many as the table has slots. */
const UNUSED: u32 = 2
/** A bit of the number: the key is an index. */
const INDEX: u32 = 1 << 31

const FEWEST: u32 = 10
/** The maximum length of a search, in bytes of slots, before the table is rehashed. */
const LONG: usize = 256 << SLOT
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15

let table: usize = 0
/** The logarithm of the number of slots. */
let slots: u32 = 0
/** The offset of the last slot. The number of slots is a power of two. */
let last: usize = 0
/** Shifts a hash to a slot number. */
let shift: u64 = 0
/** The number of entries at which the table grows. */
let most: u32 = 0
/** Whether keys are hashed with the seed. */
export let isSeeded: bool = false
let seed: u64 = 0

/** The number of live blocks. */
export let live: u32 = 0
/** The number of block numbers in use or free. */
export let numbers: u32 = 0
/** A stack of free numbers: one for each number without a live block. */
let unused: usize = 0

/** Removes all blocks, at a cost that does not depend on their number. @returns false if memory is exhausted */
export function clearSet(): bool {
  isSeeded = false
  seed = newSecret()
  numbers = 0
  if (slots == FEWEST) {
    if (live > 0) memory.fill(table, 0, (<usize>1) << (FEWEST + SLOT))
    live = 0
    return true
  }
  live = 0
  if (slots != 0) giveBack()
  return makeTable(FEWEST)
}

/** Creates an empty table with `1 << log` slots, and room for a free number for each slot. */
function makeTable(log: u32): bool {
  slots = 0
  table = takeRoom(log + SLOT)
  if (table == 0) return false
  unused = takeRoom(log + UNUSED)
  if (unused == 0) return false
  slots = log
  last = (((<usize>1) << log) - 1) << SLOT
  shift = <u64>(64 - log)
  // Small tables fit the cache, where an empty slot costs less than a longer search; for large ones memory matters
  // more.
  most = log <= 16 ? 1 << (log - 2) : 5 << (log - 3)
  memory.fill(table, 0, (<usize>1) << (log + SLOT))
  return true
}

function giveBack(): void {
  giveRoom(table, slots + SLOT)
  giveRoom(unused, slots + UNUSED)
}

/** The offset at which the search for a key starts. */
// @ts-ignore: decorator
@inline
function home(key: u64): usize {
  return (<usize>((isSeeded ? mix(key, seed) : key * GOLDEN) >> shift)) << SLOT
}

/** The entry of a live block, 0 if it is not live. @param index `INDEX` or 0 */
// @ts-ignore: decorator
@inline
function find(key: u64, index: u32): usize {
  const from = home(key)
  let at = from
  while (true) {
    const number = load<u32>(table + at, NUMBER)
    if (load<u64>(table + at, KEY) == key && number != 0 && (number & INDEX) == index) return table + at
    if (number == 0) break
    at = (at + (1 << SLOT)) & last
  }
  if (((at - from) & last) > LONG) suspect()
  return 0
}

/** Whether the table is larger than the processor's caches, so that reading slots ahead saves time. */
export function isLarge(): bool {
  return slots > 16
}

/** A part of the slot where the search for a key starts. */
export function slotAhead(key: u64): u32 {
  return load<u32>(table + home(key), NUMBER)
}

/** The number of a live block, 0 if it is not live. */
export function numberOf(key: u64, isIndex: bool): u32 {
  const entry = find(key, isIndex ? INDEX : 0)
  return entry == 0 ? 0 : load<u32>(entry, NUMBER) & ~INDEX
}

/** Whether the block returned by `begin` was live already. */
export let wasLive: bool = false

/**
 * The number of a block that is live from now on, whether or not it was before (see `wasLive`); 0 if memory is
 * exhausted.
 */
export function begin(key: u64, isIndex: bool): u32 {
  const index: u32 = isIndex ? INDEX : 0
  const from = home(key)
  let at = from
  wasLive = false
  while (true) {
    const number = load<u32>(table + at, NUMBER)
    if (number == 0) break
    if (load<u64>(table + at, KEY) == key && (number & INDEX) == index) {
      wasLive = true
      return number & ~INDEX
    }
    at = (at + (1 << SLOT)) & last
  }
  if (live >= most || ((at - from) & last) > LONG) return beginSlowly(key, index, (at - from) & last)
  const number = newNumber()
  store<u64>(table + at, key, KEY)
  store<u32>(table + at, number | index, NUMBER)
  return number
}

/** Adds a new key to a table that may be full, after a search of this length in bytes. */
function beginSlowly(key: u64, index: u32, length: usize): u32 {
  if (live >= most && !refill(slots + 1)) return 0
  if (length > LONG) suspect()
  const number = newNumber()
  place(key, number | index)
  return number
}

/** The number that was freed last, or a new one. */
// @ts-ignore: decorator
@inline
function newNumber(): u32 {
  const rest = numbers - live++
  return rest == 0 ? ++numbers : load<u32>(unused + ((<usize>(rest - 1)) << 2))
}

function place(key: u64, number: u32): void {
  let at = home(key)
  while (load<u32>(table + at, NUMBER) != 0) at = (at + (1 << SLOT)) & last
  store<u64>(table + at, key, KEY)
  store<u32>(table + at, number, NUMBER)
}

/** Removes a block. @returns its number, which is unused from now on; 0 if it is not live */
// @ts-ignore: decorator
@inline
export function finish(key: u64, isIndex: bool): u32 {
  const entry = find(key, isIndex ? INDEX : 0)
  if (entry == 0) return 0
  const number = load<u32>(entry, NUMBER) & ~INDEX
  const at = entry - table
  if (load<u32>(table + ((at + (1 << SLOT)) & last), NUMBER) == 0) store<u32>(entry, 0, NUMBER)
  else shiftBack(at)
  store<u32>(unused + ((<usize>(numbers - live--)) << 2), number)
  return number
}

/** Fills a free slot with a later entry of the same probe sequence, and so on. */
function shiftBack(hole: usize): void {
  const first = hole
  let next = hole
  while (true) {
    next = (next + (1 << SLOT)) & last
    const number = load<u32>(table + next, NUMBER)
    if (number == 0) break
    const key = load<u64>(table + next, KEY)
    if (((next - home(key)) & last) >= ((next - hole) & last)) {
      store<u64>(table + hole, key, KEY)
      store<u32>(table + hole, number, NUMBER)
      hole = next
    }
  }
  store<u32>(table + hole, 0, NUMBER)
  if (((next - first) & last) > LONG) suspect()
}

/** Removes a block if it has this number. @returns whether it had */
export function finishIf(key: u64, isIndex: bool, number: u32): bool {
  if (numberOf(key, isIndex) != number) return false
  finish(key, isIndex)
  return true
}

/** The number of slots of the table. */
export function slotCount(): u32 {
  return slots == 0 ? 0 : 1 << slots
}

/** The number of the block in a slot, 0 if it is empty. */
export function numberIn(slot: u32): u32 {
  return load<u32>(table + ((<usize>slot) << SLOT), NUMBER) & ~INDEX
}

export function keyIn(slot: u32): u64 {
  return load<u64>(table + ((<usize>slot) << SLOT), KEY)
}

/** Whether that is an index. */
export function isIndexIn(slot: u32): bool {
  return (load<u32>(table + ((<usize>slot) << SLOT), NUMBER) & INDEX) != 0
}

/** Hashes keys with the seed from now on. */
function suspect(): void {
  if (isSeeded) return
  isSeeded = true
  if (!refill(slots)) isSeeded = false
}

/** Rehashes all entries into a table of `slots` slots. @returns false, with no change, if there is no memory */
function refill(log: u32): bool {
  const fromTable = table
  const fromUnused = unused
  const fromSlots = slots
  if (!makeTable(log)) {
    if (table != 0) giveRoom(table, log + SLOT)
    table = fromTable
    unused = fromUnused
    slots = fromSlots
    return false
  }
  const end = fromTable + ((<usize>1) << (fromSlots + SLOT))
  for (let at = fromTable; at < end; at += 1 << SLOT) {
    const number = load<u32>(at, NUMBER)
    if (number != 0) place(load<u64>(at, KEY), number)
  }
  memory.copy(unused, fromUnused, (<usize>(numbers - live)) << 2)
  giveRoom(fromTable, fromSlots + SLOT)
  giveRoom(fromUnused, fromSlots + UNUSED)
  return true
}
