/**
 * The keys of the last 262,144 blocks that ended, to distinguish a double free from a free of an unknown block.
 *
 * Most traces have few frees of unknown blocks. So an end is only noted in a ring. A free of an unknown block updates
 * an index, which has the last end of each key. Ends that have left the ring do not count.
 *
 * A key whose block begins again stays here: as long as the block is live, no free of it is unknown.
 */
import { GROWING, GrowingTable } from '../shared/grow'
import { HashTable, TABLE, VALUE } from '../shared/hash-table'

const FEWEST: u32 = 12
/** The logarithm of the largest number of ends in the ring. */
const MOST: u32 = 18
const KEY: u32 = 3

/** The ring, and the logarithm of its length: end n is at n modulo the length. */
const ring = changetype<GrowingTable>(memory.data(GROWING))
let ringLog: u32 = 0
let ends: u64 = 0
/** The index: 1 plus the last end of each key. */
const index = changetype<HashTable>(memory.data(TABLE))
/** The ends before this one are in the index. */
let indexed: u64 = 0

/** Forgets all keys. */
export function clearEnded(): void {
  ring.drop()
  ringLog = 0
  ends = indexed = 0
  dropIndex()
}

/** Remembers a key. Without memory for it, it is not remembered. */
export function remember(key: u64): void {
  if (key == 0) return
  if (ends == (<u64>1) << ringLog || ringLog == 0) {
    if (ringLog < MOST) widen()
    if (ringLog == 0) return
  }
  store<u64>(ring.at + (((<usize>ends) & (((<usize>1) << ringLog) - 1)) << KEY), key)
  ends++
}

/** Whether a key is remembered. */
export function isRemembered(key: u64): bool {
  if (key == 0 || ringLog == 0 || !readEnds()) return false
  return load<u64>(index.slotOf(key), VALUE) > firstEnd()
}

/** The first end that is in the ring. */
function firstEnd(): u64 {
  const room = (<u64>1) << ringLog
  return ends > room ? ends - room : 0
}

/** Makes room for more ends, while none has left the ring. Without memory, the ring keeps its length. */
function widen(): void {
  const log = ringLog == 0 ? FEWEST : ringLog + 1
  if (ring.extend((<u64>1) << (log + KEY))) ringLog = log
}

/** Brings the index up to date. @returns whether there is memory for it */
function readEnds(): bool {
  const first = firstEnd()
  const left = max(first, indexed)
  // Keys whose ends left the ring stay in the index until it has a quarter more keys than the ring has room for.
  if (<u64>index.used + (ends - left) > ((<u64>5) << ringLog) >> 2) {
    dropIndex()
    indexed = first
  }
  if (!index.reserve(<u32>(ends - max(first, indexed)))) return false
  for (let end = max(first, indexed); end < ends; end++) {
    const key = load<u64>(ring.at + (((<usize>end) & (((<usize>1) << ringLog) - 1)) << KEY))
    let slot = index.slotOf(key)
    if (load<u64>(slot, VALUE) == 0) slot = index.put(slot, key)
    store<u64>(slot, end + 1, VALUE)
  }
  indexed = ends
  return true
}

function dropIndex(): void {
  index.clear()
  indexed = 0
}
