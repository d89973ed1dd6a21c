/** Blocks of events that have an index. */

import * as Layout from '../../lib/kernel/layouts/mtrc'
import { ADDRESS, OLD_ADDRESS, SIZE } from '../shared/columns'
import { HAS_ADDRESS, HAS_OLD_ADDRESS, HAS_SIZE, KIND_EXISTING, KIND_REALLOC } from '../shared/event'
import { FIRST, SECOND } from '../shared/table'
import { isAssigned } from './blocks'
import { addIndexed, findBlock, removeBlock } from './recent'

/**
 * Adds the block of an alloc or realloc with an index. When the trace is read, a free of this index gets its address
 * and size, and the next realloc gets its address.
 * @returns notes
 */
// @ts-ignore: decorator
@inline
export function beginIndexed(index: u64, kind: u8, set: u32, wide: usize): u32 {
  let said: u32 = kind == KIND_EXISTING ? Layout.EXISTING_AS_ALLOC : 0
  if (kind == KIND_REALLOC) said = checkOldAddress(index, set, wide)
  else if (isAssigned(index)) said |= Layout.INDEX_OF_OTHER
  const block = addIndexed(index)
  if (block == 0) return 0
  store<u64>(block, (set & HAS_ADDRESS) != 0 ? load<u64>(wide, ADDRESS) : 0, FIRST)
  store<u64>(block, (set & HAS_SIZE) != 0 ? load<u64>(wide, SIZE) : 0, SECOND)
  return said
}

/** Compares the old address of a realloc with the address of its block. Returns notes. */
function checkOldAddress(index: u64, set: u32, wide: usize): u32 {
  const block = findBlock(index)
  if (block == 0) {
    return (
      (isAssigned(index) ? Layout.INDEX_OF_OTHER : 0) |
      ((set & HAS_OLD_ADDRESS) != 0 ? Layout.OLD_ADDRESS_OF_UNKNOWN : 0)
    )
  }
  const differs = (set & HAS_OLD_ADDRESS) != 0 && load<u64>(wide, OLD_ADDRESS) != load<u64>(block, FIRST)
  return differs ? Layout.OTHER_OLD_ADDRESS : 0
}

const ADDRESS_AND_SIZE: u32 = HAS_ADDRESS | HAS_SIZE

/**
 * Removes the block of a free whose record has only an index.
 * @returns notes
 */
export function endIndexed(index: u64, set: u32, wide: usize): u32 {
  const block = findBlock(index)
  if (block == 0) return endUnknown(index, set)
  const differs =
    (load<u64>(wide, ADDRESS) ^ load<u64>(block, FIRST)) | (load<u64>(wide, SIZE) ^ load<u64>(block, SECOND))
  const said = differs != 0 && (set & ADDRESS_AND_SIZE) != 0 ? differencesOf(block, set, wide) : 0
  removeBlock(block, index)
  return said
}

/** The notes of a free whose block is not in the trace. */
function endUnknown(index: u64, set: u32): u32 {
  return (
    (isAssigned(index) ? Layout.INDEX_OF_OTHER : 0) |
    ((set & HAS_ADDRESS) != 0 ? Layout.ADDRESS_OF_UNKNOWN : 0) |
    ((set & HAS_SIZE) != 0 ? Layout.SIZE_OF_UNKNOWN : 0)
  )
}

/** The notes of a free that differs from its block. */
function differencesOf(block: usize, set: u32, wide: usize): u32 {
  return (
    ((set & HAS_ADDRESS) != 0 && load<u64>(wide, ADDRESS) != load<u64>(block, FIRST) ? Layout.OTHER_ADDRESS : 0) |
    ((set & HAS_SIZE) != 0 && load<u64>(wide, SIZE) != load<u64>(block, SECOND) ? Layout.OTHER_SIZE : 0)
  )
}
