/** The live blocks of a trace, and the indices that a writer gives to blocks without one. */

import { add, clearTable, seedTable } from '../shared/table'

/** Addresses are mostly multiples of 16. */
const ADDRESS_SHIFT: u64 = 4

/** Whether memory for blocks ran out. */
export let isFull: bool = false

/** The largest index so far. The next block that has no index gets this one plus 1. */
export let lastIndex: u64 = 0
/** The first and the last index that was given to a block without one. */
let firstAssigned: u64 = u64.MAX_VALUE
let lastAssigned: u64 = 0
/**
 * Distinguishes the two sorts of keys in the table. The key of a block without an index is its address, and the entry
 * has its index and size. The key of a block with an index is the index combined with this mark, and the entry has its
 * address and size. If there are addresses, the mark is random, so that no trace can know it; otherwise it is 0.
 */
export let indexMark: u64 = 0
let secretMark: u64 = 0

/** Whether an index of an event may have been given to a block without one. */
export function isAssigned(index: u64): bool {
  return index >= firstAssigned && index <= lastAssigned
}

/** Chosen at random, so that no trace can contain keys chosen to collide. */
export function seedBlocks(value: u32): void {
  seedTable(value)
  secretMark = (<u64>value * 0x9e37_79b9_7f4a_7c15) | ((<u64>1) << 63)
}

/**
 * Begins a trace without blocks.
 * @param byAddress whether keys are mostly addresses; otherwise all are indices
 * @returns whether there is memory
 */
export function clearBlocks(byAddress: bool): bool {
  lastIndex = 0
  firstAssigned = u64.MAX_VALUE
  lastAssigned = 0
  indexMark = byAddress ? secretMark : 0
  return clearTable(byAddress ? ADDRESS_SHIFT : 0)
}

export function setLastIndex(index: u64): void {
  lastIndex = index
}

/** The index of a new block without one. */
export function nextIndex(): u64 {
  const index = ++lastIndex
  firstAssigned = min<u64>(firstAssigned, index)
  lastAssigned = index
  return index
}

/** The entry of a block with this key, which is added if there is none; 0, and `isFull`, if there is no memory. */
// @ts-ignore: decorator
@inline
export function addBlock(key: u64): usize {
  const block = add(key)
  if (block == 0) isFull = true
  return block
}
