/**
 * Counts of blocks and sums of their bytes by a key of 64 bits, in hash tables that grow up to a limit. Further keys
 * are counted together.
 */
import { COUNT, LIMIT, REST, SUM, TABLE_BYTES } from '../../lib/kernel/layouts/pairs'
import { HashTable } from '../shared/hash-table'
import { addTo, count } from '../statistics/sums'

/** Makes room for this many more keys, up to the limit. @returns whether there is memory */
export function makePairs(table: usize, more: u32, limit: u32): bool {
  const pairs = changetype<HashTable>(table)
  pairs.extra = 1
  store<u32>(table, limit, LIMIT)
  return pairs.reserve(min<u32>(more, limit - pairs.used))
}

/** Removes everything. */
export function clearPairs(table: usize): void {
  changetype<HashTable>(table).clear()
  memory.fill(table, 0, TABLE_BYTES)
}

/** Counts a block of this size under a key. */
export function addPair(table: usize, key: u64, size: u64): void {
  const pairs = changetype<HashTable>(table)
  let slot = pairs.slotOf(key)
  if (load<u64>(slot, COUNT) == 0) {
    slot = pairs.used == load<u32>(table, LIMIT) ? table + REST - COUNT : pairs.put(slot, key)
  }
  count(slot + COUNT)
  addTo(slot + SUM, size)
}
