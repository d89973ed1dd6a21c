/**
 * The keys of blocks that ended, to tell a double free from a free of an unknown block: those of the last 262,144 ends.
 *
 * Most traces have few frees of unknown blocks. So an end is only noted in a ring, and a free of an unknown block
 * brings an index up to date, which has the last end of each key. Ends that have left the ring do not count.
 *
 * A key whose block begins again stays here: as long as the block is live, no free of it is unknown.
 */
import { mix, secretFrom } from '../shared/mix'
import { giveRoom, takeRoom } from './room'

const FEWEST: u32 = 12
/** The logarithm of the largest number of ends in the ring. */
const MOST: u32 = 18
const KEY: u32 = 3
/** Slots of the index: a key, and the number of its last end. There are two for each end that the ring has room for. */
const SLOT: u32 = 4
const SLOTS: u32 = 1

/** The ring: end n is at n modulo its length. */
let ring: usize = 0
let ringLog: u32 = 0
let ends: u64 = 0
/** The index: a table with open addressing and linear probing; the null key marks an empty slot. */
let index: usize = 0
let indexLog: u32 = 0
let keys: u32 = 0
/** The ends before this one are in the index. */
let indexed: u64 = 0
let secret: u64 = 0

/** Sets the random seed. */
export function seedEnded(low: u32, high: u32): void {
  secret = secretFrom(low, high)
}

/** Forgets all keys. */
export function clearEnded(): void {
  if (ring != 0) giveRoom(ring, ringLog + KEY)
  ring = 0
  ringLog = 0
  ends = indexed = 0
  dropIndex()
}

/** Remembers a key. Without memory for it, it is not remembered. */
export function remember(key: u64): void {
  if (key == 0) return
  if (ends == (<u64>1) << ringLog || ring == 0) {
    if (ringLog < MOST) widen()
    if (ring == 0) return
  }
  store<u64>(ring + (((<usize>ends) & (((<usize>1) << ringLog) - 1)) << KEY), key)
  ends++
}

/** Whether a key is remembered. */
export function isRemembered(key: u64): bool {
  if (key == 0 || ring == 0 || !readEnds()) return false
  const slot = slotOf(key)
  return load<u64>(slot) == key && load<u64>(slot, 8) >= firstEnd()
}

/** The first end that is in the ring. */
// @ts-ignore: decorator
@inline
function firstEnd(): u64 {
  const room = (<u64>1) << ringLog
  return ends > room ? ends - room : 0
}

/** Makes room for more ends, while none has left the ring. Without memory, the ring keeps its length. */
function widen(): void {
  const log = ring == 0 ? FEWEST : ringLog + 1
  const wider = takeRoom(log + KEY)
  if (wider == 0) return
  if (ring != 0) {
    memory.copy(wider, ring, (<usize>1) << (ringLog + KEY))
    giveRoom(ring, ringLog + KEY)
  }
  ring = wider
  ringLog = log
}

/** Brings the index up to date. @returns whether there is memory for it */
function readEnds(): bool {
  const first = firstEnd()
  const left = max(first, indexed)
  // Keys whose ends left the ring stay in the index until it is made again, when three quarters of its slots have one.
  const isFull = <u64>keys + (ends - left) > ((<u64>3) << indexLog) >> 1
  if (index == 0 || indexLog != ringLog || isFull) {
    dropIndex()
    index = takeRoom(ringLog + SLOTS + SLOT)
    if (index == 0) return false
    indexLog = ringLog
    memory.fill(index, 0, (<usize>1) << (indexLog + SLOTS + SLOT))
    indexed = first
  }
  for (let end = max(first, indexed); end < ends; end++) {
    const key = load<u64>(ring + (((<usize>end) & (((<usize>1) << ringLog) - 1)) << KEY))
    const slot = slotOf(key)
    if (load<u64>(slot) == 0) {
      store<u64>(slot, key)
      keys++
    }
    store<u64>(slot, end, 8)
  }
  indexed = ends
  return true
}

function dropIndex(): void {
  if (index != 0) giveRoom(index, indexLog + SLOTS + SLOT)
  index = 0
  indexLog = keys = 0
  indexed = 0
}

/** The slot of a key, or the empty one where it would be. */
// @ts-ignore: decorator
@inline
function slotOf(key: u64): usize {
  const log = indexLog + SLOTS
  const last = ((<usize>1) << log) - 1
  let n = <usize>(mix(key, secret) >> (64 - <u64>log))
  while (true) {
    const slot = index + (n << SLOT)
    const found = load<u64>(slot)
    if (found == key || found == 0) return slot
    n = (n + 1) & last
  }
}
