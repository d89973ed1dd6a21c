/**
 * A hash table from 64-bit keys to two 64-bit values, for the live blocks of a trace: one for each instance, in memory that grows.
 * Open addressing, linear probing, deletion that shifts back; the keys by themselves, for they are what searches look at.
 *
 * Keys are mostly neighbours: indices that count up, addresses of one heap. The hash that a table begins with multiplies by the golden ratio, which
 * spreads rows of numbers more evenly than chance does. (To leave neighbours beside each other saves misses of the cache, but costs
 * more in searches that pass by many of them.) If a search gets long all the same, because keys were chosen to make it so, the table is filled anew by
 * a hash with a seed that nobody knows.
 */

/** Where the values are, from the address that stands for an entry. */
export const FIRST: usize = 0
export const SECOND: usize = 8

const FEWEST: u32 = 64
/** What a search may take, in bytes of keys, before keys are taken for chosen ones. */
const LONG: usize = 512 << 3
/** Between the keys and the values there is room for the values of the one key that cannot be among the others. */
const GAP: usize = 64
/** Loads from memory may reach so far behind what they mean. */
const SLACK: u64 = 64

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15

/** Where the table begins: the keys, inverted, so that 0 is a slot without one. */
let table: usize = 0
/** The values of slot n are 16 n bytes from here. */
let values: usize = 0
/** The offset of the last key, for slots are a power of two. */
let last: usize = 0
/** How many entries there are, and at how many the table grows. */
let count: u32 = 0
let most: u32 = 0
/** The key of all bits is there. */
let hasSpecial: bool = false
/** Leaves of a hash what is a place in the table. */
let shift: u64 = 0
/** Of keys that are multiples of a power of two, its logarithm. */
let keyShift: u64 = 0
/** Keys are hashed with the seed. */
let isSeeded: bool = false
let seed: u64 = 0

/** Sets what nobody knows. */
export function seedTable(value: u32): void {
  seed = <u64>value * 0xff51_afd7_ed55_8ccd
}

/** Where the table begins: what is below it belongs to others. */
export function tableFloor(): usize {
  if (table == 0) table = (__heap_base + 63) & ~63
  return table
}

/** Makes room of so many bytes, a multiple of 64, below the table by moving it up. @returns whether there is memory */
export function raiseFloor(bytes: usize): bool {
  const from = tableFloor()
  const size: u64 = most == 0 ? 0 : sizeOf(<u32>(last >> 3) + 1)
  if (!reach(from + size + bytes)) return false
  memory.copy(from + bytes, from, <usize>size)
  table = from + bytes
  values += bytes
  return true
}

/** How many bytes a table takes. */
function sizeOf(slots: u32): u64 {
  return <u64>slots * 24 + GAP
}

/** Makes sure that memory goes as far as an address. */
function reach(end: u64): bool {
  const pages = (end + SLACK + 0xffff) >> 16
  const here = <u64>memory.size()
  return pages <= here || memory.grow(<i32>min<u64>(pages - here, 0x1_0000)) >= 0
}

/**
 * Forgets all entries, at a cost that does not depend on their number.
 * @param ofKeys the logarithm of the power of two that keys are multiples of
 * @returns whether there is memory
 */
export function clearTable(ofKeys: u64): bool {
  keyShift = ofKeys
  isSeeded = false
  hasSpecial = false
  if (!reach(tableFloor() + sizeOf(FEWEST))) return false
  setSlots(FEWEST)
  return true
}

/** Makes the table one of so many slots without entries, but for the special key. */
function setSlots(slots: u32): void {
  last = (<usize>slots - 1) << 3
  values = table + (<usize>slots << 3) + GAP
  shift = <u64>(clz<u32>(slots) + 33)
  // Small tables lie in the cache as they are; of large ones memory matters.
  most = slots <= 65_536 ? slots / 4 : slots / 2
  count = hasSpecial ? 1 : 0
  memory.fill(table, 0, <usize>slots << 3)
}

/** Where the search for a key begins, as an offset. */
// @ts-ignore: decorator
@inline
function home(key: u64): usize {
  if (isSeeded) return seededHome(key)
  return <usize>((rotr(key, keyShift) * GOLDEN) >> shift << 3)
}

function seededHome(key: u64): usize {
  let h = (key ^ seed) * GOLDEN
  h ^= h >> 32
  h = (h ^ seed) * 0xbf58_476d_1ce4_e5b9
  return <usize>(h >> shift << 3)
}

/** The entry of a key, or 0. */
// @ts-ignore: decorator
@inline
export function find(key: u64): usize {
  if (~key == 0) return hasSpecial ? values - GAP : 0
  let at = home(key)
  while (true) {
    const here = load<u64>(table + at)
    if (here == ~key) return values + (at << 1)
    if (here == 0) return 0
    at = (at + 8) & last
  }
}

/** The entry of a key, made if there is none yet; 0 if there is no memory for it. Entries found before may have moved. */
// @ts-ignore: decorator
@inline
export function add(key: u64): usize {
  if (~key == 0) return addSpecial()
  const from = home(key)
  let at = from
  while (true) {
    const here = load<u64>(table + at)
    if (here == ~key) return values + (at << 1)
    if (here == 0) break
    at = (at + 8) & last
  }
  if (count >= most || ((at - from) & last) > LONG) return addSlowly(key, (at - from) & last)
  count++
  store<u64>(table + at, ~key)
  return values + (at << 1)
}

function addSpecial(): usize {
  if (!hasSpecial) count++
  hasSpecial = true
  return values - GAP
}

/** Adds a key that is not there, after a search of so many bytes, to a table that may be full. */
function addSlowly(key: u64, length: usize): usize {
  const slots = <u32>(last >> 3) + 1
  const isFull = count >= most
  const isOdd = length > LONG && !isSeeded
  if (isOdd) isSeeded = true
  if ((isFull || isOdd) && !refill(slots, isFull ? 2 * slots : slots)) return 0
  return place(key)
}

/** A new entry for a key that is not there. */
function place(key: u64): usize {
  let at = home(key)
  while (load<u64>(table + at) != 0) at = (at + 8) & last
  count++
  store<u64>(table + at, ~key)
  return values + (at << 1)
}

/** Places all entries anew. */
function refill(before: u32, slots: u32): bool {
  // They wait in memory behind the table.
  const copy = table + sizeOf(slots)
  if (!reach(copy + sizeOf(before))) return false
  const keys = <usize>copy
  memory.copy(keys, table, <usize>sizeOf(before))
  setSlots(slots)
  const end = keys + (<usize>before << 3)
  memory.copy(values - GAP, end, 16)
  let from = end + GAP
  for (let at = keys; at < end; at += 8) {
    const key = ~load<u64>(at)
    if (~key != 0) {
      const to = place(key)
      store<u64>(to, load<u64>(from, FIRST), FIRST)
      store<u64>(to, load<u64>(from, SECOND), SECOND)
    }
    from += 16
  }
  return true
}

/** Removes an entry that `find` gave. */
// @ts-ignore: decorator
@inline
export function remove(entry: usize): void {
  count--
  if (entry < values) {
    hasSpecial = false
  } else {
    const at = (entry - values) >> 1
    if (load<u64>(table + ((at + 8) & last)) == 0) store<u64>(table + at, 0)
    else shiftBack(at)
  }
}

/** Fills a place with an entry behind it whose search comes by there, and so on. */
function shiftBack(hole: usize): void {
  const first = hole
  let next = (hole + 8) & last
  let here = load<u64>(table + next)
  do {
    if (((next - home(~here)) & last) >= ((next - hole) & last)) {
      store<u64>(table + hole, here)
      store<u64>(values + (hole << 1), load<u64>(values + (next << 1), FIRST), FIRST)
      store<u64>(values + (hole << 1), load<u64>(values + (next << 1), SECOND), SECOND)
      hole = next
    }
    next = (next + 8) & last
    here = load<u64>(table + next)
  } while (here != 0)
  store<u64>(table + hole, 0)
  // Chosen keys can lie one behind another without a gap, each at home: then every removal walks past all of them.
  if (((next - first) & last) > LONG && !isSeeded) {
    const slots = <u32>(last >> 3) + 1
    isSeeded = true
    if (!refill(slots, slots)) isSeeded = false
  }
}
