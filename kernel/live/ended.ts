/**
 * The keys of blocks that ended, to tell a double free from a free of an unknown block. At least the last 262,144
 * different keys are remembered: there are two sets, and when the newer one is full, the older one is forgotten and the
 * newer one becomes the older.
 *
 * A key whose block begins again stays here: as long as the block is live, no free of it is unknown.
 */
import { giveRoom, takeRoom } from './room'

const FEWEST: u32 = 12
/** The logarithm of the largest number of slots. Sets are at most half full. */
const MOST: u32 = 19
const KEY: u32 = 3
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15

/** The sets: tables with open addressing and linear probing; the null key marks an empty slot. */
let newer: usize = 0
let newerLog: u32 = 0
let keys: u32 = 0
let older: usize = 0
let olderLog: u32 = 0
let seed: u64 = 0

/** Sets the random seed. */
export function seedEnded(low: u32, high: u32): void {
  seed = ((<u64>high) << 32) | (<u64>low)
}

/** Forgets all keys. */
export function clearEnded(): void {
  if (newer != 0) giveRoom(newer, newerLog + KEY)
  if (older != 0) giveRoom(older, olderLog + KEY)
  newer = older = 0
  newerLog = olderLog = keys = 0
}

/** Remembers a key. Without memory for it, it is not remembered. */
export function remember(key: u64): void {
  if (key == 0) return
  if (newer == 0 && !begin()) return
  const slot = slotOf(key, newer, newerLog)
  if (load<u64>(slot) == key) return
  store<u64>(slot, key)
  keys++
  if (keys << 1 == (<u32>1) << newerLog) widen()
}

/** Whether a key is remembered. */
export function isRemembered(key: u64): bool {
  if (key == 0) return false
  return (
    (newer != 0 && load<u64>(slotOf(key, newer, newerLog)) == key) ||
    (older != 0 && load<u64>(slotOf(key, older, olderLog)) == key)
  )
}

/** The slot of a key, or the empty one where it would be. */
// @ts-ignore: decorator
@inline
function slotOf(key: u64, table: usize, log: u32): usize {
  const last = ((<usize>1) << log) - 1
  // Chosen keys must not collide: the product depends on the seed in all of its bits.
  let h = (key ^ seed) * 0xff51_afd7_ed55_8ccd
  h ^= h >> 32
  h = (h ^ seed) * GOLDEN
  let n = <usize>(h >> (64 - <u64>log))
  while (true) {
    const slot = table + (n << KEY)
    const found = load<u64>(slot)
    if (found == key || found == 0) return slot
    n = (n + 1) & last
  }
}

function begin(): bool {
  newer = emptyTable(FEWEST)
  newerLog = FEWEST
  keys = 0
  return newer != 0
}

function emptyTable(log: u32): usize {
  const table = takeRoom(log + KEY)
  if (table != 0) memory.fill(table, 0, (<usize>1) << (log + KEY))
  return table
}

/** Makes room for more keys. */
function widen(): void {
  const table = newerLog < MOST ? emptyTable(newerLog + 1) : 0
  if (table == 0) {
    if (older != 0) giveRoom(older, olderLog + KEY)
    older = newer
    olderLog = newerLog
    newer = 0
    return
  }
  const end = newer + ((<usize>1) << (newerLog + KEY))
  for (let at = newer; at < end; at += 1 << KEY) {
    const key = load<u64>(at)
    if (key != 0) store<u64>(slotOf(key, table, newerLog + 1), key)
  }
  giveRoom(newer, newerLog + KEY)
  newer = table
  newerLog++
}
