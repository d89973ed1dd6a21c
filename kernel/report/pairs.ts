/**
 * Counts of blocks and sums of their bytes by a key of 64 bits, in hash tables that grow up to a limit. Further keys
 * are counted together.
 */
import { COUNT, KEY, LIMIT, LOG, REST, SLOT_SHIFT, SLOTS, SUM, TABLE_BYTES, USED } from '../../lib/kernel/layouts/pairs'
import { giveRoom, takeRoom } from '../live/room'
import { mix, secretFrom } from '../shared/mix'
import { addTo, count } from '../statistics/sums'

const SLOT: u32 = SLOT_SHIFT
const FEWEST: u32 = 8

let seed: u64 = 0

/** Sets a random seed, so that the author of a trace cannot choose keys that collide. */
export function seedPairs(low: u32, high: u32): void {
  seed = secretFrom(low, high)
}

/** Makes room for this many more keys, up to the limit. @returns whether there is memory */
export function makePairs(table: usize, more: u32, limit: u32): bool {
  store<u32>(table, limit, LIMIT)
  const wanted = min<u32>(load<u32>(table, USED) + more, limit)
  const log = load<u32>(table, LOG)
  // At most half of the slots are in use.
  const needed = max<u32>(FEWEST, 33 - clz(max<u32>(1, wanted) - 1))
  if (log >= needed) return true
  const slots = takeRoom(needed + SLOT)
  if (slots == 0) return false
  memory.fill(slots, 0, (<usize>1) << (needed + SLOT))
  const from = load<u32>(table, SLOTS)
  store<u32>(table, <u32>slots, SLOTS)
  store<u32>(table, needed, LOG)
  if (from == 0) return true
  const end = <usize>from + ((<usize>1) << (log + SLOT))
  for (let slot = <usize>from; slot < end; slot += 1 << SLOT) {
    if (load<u64>(slot) != 0) memory.copy(find(table, load<u64>(slot)), slot, 1 << SLOT)
  }
  giveRoom(<usize>from, log + SLOT)
  return true
}

/** Removes everything. */
export function clearPairs(table: usize): void {
  if (load<u32>(table, SLOTS) != 0) giveRoom(<usize>load<u32>(table, SLOTS), load<u32>(table, LOG) + SLOT)
  memory.fill(table, 0, TABLE_BYTES)
}

/** The offset at which the search for a key begins. */
// @ts-ignore: decorator
@inline
function home(key: u64, log: u32): usize {
  return (<usize>(mix(key, seed) >> (<u64>(64 - log)))) << SLOT
}

/** The slot with a key plus 1, otherwise an empty one. */
// @ts-ignore: decorator
@inline
function find(table: usize, key: u64): usize {
  const log = load<u32>(table, LOG)
  const slots = <usize>load<u32>(table, SLOTS)
  const last = (((<usize>1) << log) - 1) << SLOT
  let at = home(key, log)
  while (true) {
    const there = load<u64>(slots + at)
    if (there == key || there == 0) return slots + at
    at = (at + (1 << SLOT)) & last
  }
}

/** Counts a block of this size under a key. */
export function addPair(table: usize, key: u64, size: u64): void {
  let slot = find(table, key + 1)
  if (load<u64>(slot) == 0) {
    const used = load<u32>(table, USED)
    if (used == load<u32>(table, LIMIT)) {
      slot = table + REST - COUNT
    } else {
      store<u32>(table, used + 1, USED)
      store<u64>(slot, key + 1, KEY)
    }
  }
  count(slot + COUNT)
  addTo(slot + SUM, size)
}
