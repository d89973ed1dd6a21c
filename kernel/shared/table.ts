/**
 * A hash table from 64-bit keys to two 64-bit values, for the live blocks of a trace: one for each instance, in memory that grows.
 *
 * Keys are mostly neighbours: indices that count up, addresses of one heap. So a key's place in the first part of the table is its low bits,
 * which keeps neighbours in the same lines of the cache and apart from each other. A key whose place is taken goes to the second part, where places
 * are scattered by a hash with a seed, so that nobody can choose keys that make it slow. Each place of the first part knows how
 * many keys went on from there; most searches end at the first look.
 *
 * The first part lies behind the second one, at the end of memory, where it doubles without being copied.
 */

/** One entry, or room for one: the key, the values, whether it is used, and how many keys went to the second part from here. */
const SLOT: usize = 32
export const FIRST: usize = 8
export const SECOND: usize = 16
const USED: usize = 24
const SPILLED: usize = 28

const FEWEST: u32 = 64
/** Loads from memory may reach so far behind what they mean. */
const SLACK: u64 = 64

/** Where the second part begins, how many slots it has (a power of two, or 0) and how many are used. */
let spill: usize = 0
let spillSlots: u32 = 0
let spillCount: u32 = 0
let spillShift: u64 = 64
/** Where the first part begins, its number of slots less one, and how many entries both parts have. */
let table: usize = 0
let mask: u32 = 0
let count: u32 = 0
/** Of keys that are multiples of a power of two, its logarithm. */
let keyShift: u64 = 0

let seed: u64 = 0

/** Makes the places of the second part differ from those in other processes. */
export function seedTable(value: u32): void {
  seed = <u64>value * 0xff51_afd7_ed55_8ccd
}

/** Forgets all entries, at a cost that does not depend on their number. @returns whether there is memory */
export function clearTable(shift: u64): bool {
  keyShift = shift
  if (spill == 0) spill = tableFloor()
  spillSlots = 0
  spillCount = 0
  spillShift = 64
  table = spill
  mask = FEWEST - 1
  count = 0
  if (!reach(<u64>(table + <usize>FEWEST * SLOT))) return false
  memory.fill(table, 0, <usize>FEWEST * SLOT)
  return true
}

/** Where the table begins: what is below it belongs to others. */
export function tableFloor(): usize {
  return spill == 0 ? (__heap_base + 63) & ~63 : spill
}

/** Makes room of so many bytes, a multiple of 64, below the table by moving it up. @returns whether there is memory */
export function raiseFloor(bytes: usize): bool {
  if (spill == 0) spill = tableFloor()
  if (table == 0) {
    if (!reach(<u64>spill + bytes)) return false
    spill += bytes
    return true
  }
  const end = table + (<usize>mask + 1) * SLOT
  if (!reach(<u64>end + bytes)) return false
  memory.copy(spill + bytes, spill, end - spill)
  spill += bytes
  table += bytes
  return true
}

/** Makes sure that memory goes as far as an address. */
function reach(end: u64): bool {
  const pages = (end + SLACK + 0xffff) >> 16
  const here = <u64>memory.size()
  return pages <= here || memory.grow(<i32>min<u64>(pages - here, 0x1_0000)) >= 0
}

// @ts-ignore: decorator
@inline
function home(key: u64): usize {
  const k = key >> keyShift
  return table + (<usize>(<u32>(k ^ (k >> 11)) & mask)) * SLOT
}

// @ts-ignore: decorator
@inline
function spillHome(key: u64): u32 {
  let h = (key ^ seed) * 0x9e37_79b9_7f4a_7c15
  h ^= h >> 32
  h = (h ^ seed) * 0xbf58_476d_1ce4_e5b9
  return <u32>(h >> spillShift)
}

/** The entry of a key, or 0. */
// @ts-ignore: decorator
@inline
export function find(key: u64): usize {
  const at = home(key)
  if (load<u64>(at) == key && load<u32>(at, USED) != 0) return at
  return load<u32>(at, SPILLED) == 0 ? 0 : findSpilled(key)
}

function findSpilled(key: u64): usize {
  const last = spillSlots - 1
  let slot = spillHome(key)
  while (true) {
    const at = spill + <usize>slot * SLOT
    if (load<u32>(at, USED) == 0) return 0
    if (load<u64>(at) == key) return at
    slot = (slot + 1) & last
  }
}

/** The entry of a key, made if there is none yet; 0 if there is no memory for it. Entries found before may have moved. */
// @ts-ignore: decorator
@inline
export function add(key: u64): usize {
  const at = home(key)
  const used = load<u32>(at, USED)
  if (used != 0 && load<u64>(at) == key) return at
  if (used == 0 && load<u32>(at, SPILLED) == 0 && count * 8 < mask * 5) {
    store<u64>(at, key)
    store<u32>(at, 1, USED)
    count++
    return at
  }
  return addSlowly(key)
}

function addSlowly(key: u64): usize {
  const known = find(key)
  if (known != 0) return known
  if (<u64>count * 8 >= <u64>mask * 5 && !double()) return 0
  const at = home(key)
  count++
  if (load<u32>(at, USED) == 0) {
    store<u64>(at, key)
    store<u32>(at, 1, USED)
    return at
  }
  if ((spillCount + 1) * 2 > spillSlots && !enlargeSpill()) return 0
  // The table may have moved.
  const place = home(key)
  store<u32>(place, load<u32>(place, SPILLED) + 1, SPILLED)
  return addSpilled(key)
}

/** A new entry of the second part, which has room for it. */
function addSpilled(key: u64): usize {
  const last = spillSlots - 1
  let slot = spillHome(key)
  let at = spill + <usize>slot * SLOT
  while (load<u32>(at, USED) != 0) {
    slot = (slot + 1) & last
    at = spill + <usize>slot * SLOT
  }
  store<u64>(at, key)
  store<u32>(at, 1, USED)
  spillCount++
  return at
}

/** Removes an entry that `find` gave. */
// @ts-ignore: decorator
@inline
export function remove(at: usize): void {
  count--
  if (at >= table) store<u32>(at, 0, USED)
  else removeSpilled(at)
}

function removeSpilled(at: usize): void {
  const place = home(load<u64>(at))
  store<u32>(place, load<u32>(place, SPILLED) - 1, SPILLED)
  spillCount--
  const last = spillSlots - 1
  let hole = <u32>((at - spill) / SLOT)
  let next = (hole + 1) & last
  while (true) {
    const from = spill + <usize>next * SLOT
    if (load<u32>(from, USED) == 0) break
    // An entry may move to where its search comes by.
    if (((next - spillHome(load<u64>(from))) & last) >= ((next - hole) & last)) {
      memory.copy(spill + <usize>hole * SLOT, from, SLOT)
      hole = next
    }
    next = (next + 1) & last
  }
  store<u32>(spill + <usize>hole * SLOT, 0, USED)
}

/** Doubles the first part. */
function double(): bool {
  const slots = mask + 1
  const bytes = <usize>slots * SLOT
  if (!reach(<u64>table + 2 * <u64>bytes + <u64>spillSlots * SLOT)) return false
  memory.fill(table + bytes, 0, bytes)
  mask = 2 * slots - 1
  for (let at = table; at < table + bytes; at += SLOT) {
    store<u32>(at, 0, SPILLED)
    if (load<u32>(at, USED) == 0 || home(load<u64>(at)) == at) continue
    memory.copy(at + bytes, at, SLOT)
    store<u32>(at, 0, USED)
  }
  settleSpilled(spillSlots)
  return true
}

/** Doubles the second part. */
function enlargeSpill(): bool {
  const slots = spillSlots
  const more = slots == 0 ? FEWEST : slots
  const end = table + (<usize>mask + 1) * SLOT
  if (!reach(<u64>end + (<u64>more + slots) * SLOT)) return false
  memory.copy(table + <usize>more * SLOT, table, end - table)
  table += <usize>more * SLOT
  for (let at = table; at <= table + <usize>mask * SLOT; at += SLOT) store<u32>(at, 0, SPILLED)
  spillSlots = slots + more
  spillShift = <u64>clz<u64>(<u64>spillSlots) + 1
  settleSpilled(slots)
  return true
}

/** Places the entries in the first slots of the second part anew. No place of the first part says that anything went on from there. */
function settleSpilled(slots: u32): void {
  const bytes = <usize>slots * SLOT
  // They make room in memory behind the table, which is there.
  const copy = table + (<usize>mask + 1) * SLOT
  memory.copy(copy, spill, bytes)
  memory.fill(spill, 0, <usize>spillSlots * SLOT)
  spillCount = 0
  for (let from = copy; from < copy + bytes; from += SLOT) {
    if (load<u32>(from, USED) == 0) continue
    const key = load<u64>(from)
    let at = home(key)
    if (load<u32>(at, USED) == 0) {
      store<u64>(at, key)
      store<u32>(at, 1, USED)
    } else {
      store<u32>(at, load<u32>(at, SPILLED) + 1, SPILLED)
      at = addSpilled(key)
    }
    store<u64>(at, load<u64>(from, FIRST), FIRST)
    store<u64>(at, load<u64>(from, SECOND), SECOND)
  }
}
