/** Indices for events that have none. */

import * as Layout from '../../lib/kernel/layouts/mtrc'
import { ADDRESS, OLD_ADDRESS, OUTCOME, SIZE } from '../shared/columns'
import * as Event from '../shared/event'
import { count, entryAt, find, FIRST, remove, SECOND } from '../shared/table'
import { addBlock, lastIndex, nextIndex } from './blocks'
import { A, F, R } from './layout'

/** Per event, the bits of its address space, from `AddressSpaces.fill`; used if `hasSpaces`. */
export const SPACES: usize = memory.data(16576)
let hasSpaces: bool = false
/** The bit of an address space that says that a function of a kernel was called. */
const BY_KERNEL: u64 = 1 << 32
/** The bits of an address space that belong in a key. */
const SPACE: u64 = ~BY_KERNEL
/** Distinguishes pages of a kernel from objects, as in lib/blocks/address-spaces.ts. */
const PAGE_BIT: u64 = 1 << 63

/** Whether the events of the batch are in several address spaces. */
export function setSpaces(are: bool): void {
  hasSpaces = are
}

/** The index that `assign` found. */
export let assigned: u64 = 0

/** The notes of the event that `assign` was called with. */
export let assignedNote: u32 = 0

/**
 * Finds the index of an alloc, existing, realloc or free without one. A new block gets the next index. Other events get
 * the index of the block at their address.
 * @returns the type of the record, or 0: the event is dropped, or there is no memory
 */
export function assign(i: u32, kind: u8, set: u32): u8 {
  assignedNote = 0
  const wide = (<usize>i) << 3
  const space: u64 = hasSpaces ? spaceOf(i) : 0
  let address: u64 = (set & Event.HAS_ADDRESS) != 0 ? load<u64>(wide, ADDRESS) : 0
  const sized = (set & Event.HAS_SIZE) != 0
  const size: u64 = sized ? load<u64>(wide, SIZE) : 0
  if (kind == Event.KIND_FREE) return assignFree(address, space, sized, size, 0)
  if (kind == Event.KIND_ALLOC) return assignNew(address, space, size, 0)
  if (kind == Event.KIND_EXISTING) return assignNew(address, space, size, Layout.EXISTING_AS_ALLOC)
  const told = (set & Event.HAS_OUTCOME) != 0
  const outcome = load<u8>(i, OUTCOME)
  let old: u64 =
    (set & Event.HAS_OLD_ADDRESS) != 0 && !(told && outcome == Event.OUTCOME_ALLOCATED)
      ? load<u64>(wide, OLD_ADDRESS)
      : 0
  const stayed = told && outcome == Event.OUTCOME_NONE
  if (stayed) {
    // One address is enough for a block that did not move.
    if ((set & Event.HAS_OLD_ADDRESS) == 0) old = address
    else if ((set & Event.HAS_ADDRESS) == 0) address = old
  }
  const freed = told && outcome == Event.OUTCOME_FREED
  if (old == 0) {
    if (address != 0 && !freed) return assignNew(address, space, size, Layout.REALLOC_OF_NULL)
    assignedNote = Layout.NULL_TO_NULL
    return 0
  }
  if (address == 0 || freed) {
    // A null result for a size other than 0 means that there was no memory, and the old block stays live.
    if (!freed && (size != 0 || stayed)) {
      assignedNote = Layout.REALLOC_FAILED
      return 0
    }
    return assignFree(old, space, false, 0, Layout.REALLOC_TO_NOTHING)
  }
  const block = findPlaced(old, space)
  if (block == 0) return assignNew(address, space, size, Layout.REALLOC_OF_UNKNOWN)
  const index = load<u64>(entryAt(block), FIRST)
  remove(block)
  const before = count
  const moved = addBlock(address ^ (space & SPACE))
  if (moved == 0) return 0
  if (count == before) assignedNote = Layout.ADDRESS_IN_USE
  store<u64>(entryAt(moved), index, FIRST)
  store<u64>(entryAt(moved), size, SECOND)
  assigned = index
  return R
}

/** Gives a new block an index. */
function assignNew(address: u64, space: u64, size: u64, note: u32): u8 {
  if (address == 0) {
    assignedNote = Layout.ALLOC_NOWHERE
    return 0
  }
  if (lastIndex == u64.MAX_VALUE) {
    assignedNote = Layout.NO_INDEX_LEFT
    return 0
  }
  const before = count
  const block = addBlock(address ^ (space & SPACE))
  if (block == 0) return 0
  assignedNote = count == before ? note | Layout.ADDRESS_IN_USE : note
  assigned = nextIndex()
  store<u64>(entryAt(block), assigned, FIRST)
  store<u64>(entryAt(block), size, SECOND)
  return A
}

/** Finds the index of a block and removes the block. */
function assignFree(address: u64, space: u64, sized: bool, size: u64, note: u32): u8 {
  if (address == 0) {
    assignedNote = Layout.FREE_OF_NULL
    return 0
  }
  const block = findPlaced(address, space)
  if (block == 0) {
    assignedNote = Layout.FREE_OF_UNKNOWN
    return 0
  }
  assignedNote = sized && size != load<u64>(entryAt(block), SECOND) ? note | Layout.OTHER_SIZE : note
  assigned = load<u64>(entryAt(block), FIRST)
  remove(block)
  return F
}

function spaceOf(i: u32): u64 {
  return (<u64>load<u32>((<usize>i) << 2, SPACES)) << 32
}

/** The block at an address in its space, or 0. A kernel may free pages as an object, or an object as pages. */
// @ts-ignore: decorator
@inline
function findPlaced(address: u64, space: u64): usize {
  const key = address ^ (space & SPACE)
  const block = find(key)
  return block == 0 && (space & BY_KERNEL) != 0 ? find(key ^ PAGE_BIT) : block
}
