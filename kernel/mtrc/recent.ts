/**
 * The live blocks of events that have an index. Most programs free a block soon, and traces number blocks in sequence,
 * so the blocks of recent indices are in an array by index, where finding one takes a comparison and no hash. A block
 * whose place another one needs moves to the table.
 */

import { entryAt, find, FIRST, remove, SECOND } from '../shared/table'
import { addBlock, indexMark } from './blocks'

/** The number of places: a power of two. */
const PLACES: u64 = 8192
/** A key and two values, as in an entry of the table. */
const ENTRY: usize = 24
/** The entry at the place of an index. A free place has a key that belongs to another place. */
const RECENT: usize = memory.data(196_608, 64)

/** The largest index that was added. */
let newest: u64 = 0
/** The place in the table of the block that `findBlock` or `addIndexed` found there. */
let olderPlace: usize = 0

/** Removes all blocks from the array. */
export function clearRecent(): void {
  newest = 0
  for (let i: u64 = 0; i < PLACES; i++) store<u64>(recentAt(i), ~i)
}

function recentAt(index: u64): usize {
  return RECENT + <usize>(index & (PLACES - 1)) * ENTRY
}

/** The entry of the block with this index, with its address as `FIRST` and its size as `SECOND`; 0 if there is none. */
// @ts-ignore: decorator
@inline
export function findBlock(index: u64): usize {
  const entry = recentAt(index)
  return load<u64>(entry) == index ? entry : findOlder(index)
}

/** The entry in the table of the block with this index, or 0. */
function findOlder(index: u64): usize {
  olderPlace = find(index ^ indexMark)
  return olderPlace == 0 ? 0 : entryAt(olderPlace)
}

/**
 * The entry of the block with this index, which is added if there is none; 0, and `isFull`, if there is no memory.
 * Entries found before may have moved.
 */
// @ts-ignore: decorator
@inline
export function addIndexed(index: u64): usize {
  const entry = recentAt(index)
  const key = load<u64>(entry)
  if (index <= newest || ((key ^ index) & (PLACES - 1)) == 0) return addSlowly(index)
  newest = index
  store<u64>(entry, index)
  return entry
}

/** The entry of a block that may be known, or whose place may be taken. */
function addSlowly(index: u64): usize {
  const known = findBlock(index)
  if (known != 0) return known
  newest = max<u64>(newest, index)
  const entry = recentAt(index)
  const key = load<u64>(entry)
  if (((key ^ index) & (PLACES - 1)) == 0) {
    const place = addBlock(key ^ indexMark)
    if (place == 0) return 0
    store<u64>(entryAt(place), load<u64>(entry, FIRST), FIRST)
    store<u64>(entryAt(place), load<u64>(entry, SECOND), SECOND)
  }
  store<u64>(entry, index)
  return entry
}

/** Removes the block that `findBlock` found last. */
// @ts-ignore: decorator
@inline
export function removeBlock(entry: usize, index: u64): void {
  if (entry == recentAt(index)) store<u64>(entry, ~index)
  else remove(olderPlace)
}
