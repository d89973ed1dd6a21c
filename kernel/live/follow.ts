/**
 * Applies a batch to the live set. Input: the intended effects by block key (keys.ts). Output: the
 * actual effects by block number. A block that begins gets the most recently freed number, or the next one from 1.
 *
 * The live set persists between calls, in memory that grows with the number of live blocks.
 */
import { AGAIN, BEGAN, BY_KERNEL, DONE, FAILED, INDEXED, LEAVES, REUSED, UNKNOWN } from '../../lib/kernel/layouts/live'
import { clearEnded, isRemembered, remember } from './ended'
import { beginGone, clearOwners, isWatched, leaves, owns, watch } from './processes'
import * as LiveSet from './set'

export { gone, goneCount, nextGone, watch } from './processes'
export { isSeeded, live, numbers } from './set'
export { seedHashes as seed } from '../shared/hash'

/** Separates the pages of a kernel from its objects, as in lib/blocks/address-spaces.ts. */
export const PAGE_BIT: u64 = 1 << 63

/** Per row, the intended effect, and the keys of the block to end and of the block to begin. */
export const INTENTS: usize = memory.data(4288)
export const ENDS: usize = memory.data(32960)
export const BEGINS: usize = memory.data(32960)
/** Per row, the bits that distinguish the address space of its keys, as `AddressSpaces` gives them. */
export const SPACES: usize = memory.data(16576)
/**
 * Per row, the actual effect, and the numbers of these blocks, 0 for none; `ENDED` also has the block of a failed
 * realloc.
 */
export const EFFECTS: usize = memory.data(4288)
export const ENDED: usize = memory.data(16576)
export const BEGUN: usize = memory.data(16576)

/** Removes all blocks. @returns false if memory is exhausted */
export function clear(): bool {
  clearEnded()
  clearOwners()
  return LiveSet.clearSet()
}

/** The number of a live block, 0 if it is not live. */
export function find(low: u32, high: u32, isIndex: bool): u32 {
  return LiveSet.numberOf(((<u64>high) << 32) | (<u64>low), isIndex)
}

/** The number of rows that `list` filled. */
export let listed: u32 = 0

/**
 * Fills rows from 0 on with the live blocks in the slots from `slot` on, as blocks to begin. Another live set that
 * applies these rows has the same blocks.
 * @returns the slot to go on with; 0 if there are no more blocks
 */
export function list(slot: u32, rows: u32): u32 {
  const slots = LiveSet.slotCount()
  listed = 0
  for (; slot < slots; slot++) {
    if (LiveSet.numberIn(slot) == 0) continue
    if (listed == rows) return slot
    store<u8>(INTENTS + <usize>listed, <u8>(BEGAN | (LiveSet.isIndexIn(slot) ? INDEXED : 0)))
    store<u64>(BEGINS + ((<usize>listed) << 3), LiveSet.keyIn(slot))
    listed++
  }
  return 0
}

/** The number of rows whose slots are read ahead: together, because the processor waits for several at a time. */
const AHEAD: usize = 32
const READ: usize = memory.data(4)

/** Reads the slots of the next rows, so that they are in the processor's cache. */
function readAhead(row: usize, end: usize): void {
  let all: u32 = 0
  for (; row < end; row++) {
    const intent = <u32>load<u8>(INTENTS + row)
    all ^= LiveSet.slotAhead(load<u64>(((intent & DONE) != 0 ? ENDS : BEGINS) + (row << 3)))
  }
  // Keeps what was read, because reads without a use would be optimized away.
  store<u32>(READ, all)
}

/** Applies the rows from 0 on. @returns the number of rows applied: fewer than `rows` if memory is exhausted */
export function follow(rows: u32): u32 {
  beginGone()
  if (!LiveSet.isLarge()) return followTo(0, rows)
  for (let from: usize = 0; from < <usize>rows; from += AHEAD) {
    const to = min(from + AHEAD, <usize>rows)
    readAhead(from, to)
    const done = followTo(from, <u32>to)
    if (done < <u32>to) return done
  }
  return rows
}

/** The same for the rows from `from` to `rows`. */
function followTo(from: usize, rows: u32): u32 {
  for (let row = from; row < <usize>rows; row++) {
    const intent = <u32>load<u8>(INTENTS + row)
    const isIndex = (intent & INDEXED) != 0
    let effect = intent & ~(INDEXED | BY_KERNEL | BEGAN | DONE)
    let ended: u32 = 0
    let begun: u32 = 0
    if ((intent & DONE) != 0) {
      const key = load<u64>(ENDS + (row << 3))
      ended = end(key, isIndex)
      // A kernel may free pages as an object, or the reverse.
      if (ended == 0 && (intent & BY_KERNEL) != 0) ended = end(key ^ PAGE_BIT, isIndex)
      if (ended != 0) effect = DONE
      else effect = isRemembered(keyOf(key, isIndex)) ? UNKNOWN | AGAIN : UNKNOWN
    } else if ((intent & LEAVES) != 0) {
      if (!watch() || !leaves(<u32>row, load<u32>(SPACES + (row << 2)))) return <u32>row
      effect = 0
    } else if ((intent & FAILED) != 0) {
      // A realloc that failed is about a block, too; an allocation, which has the null key and no index, is not.
      const key = load<u64>(ENDS + (row << 3))
      if (key != 0 || isIndex) ended = LiveSet.numberOf(key, isIndex)
    }
    if ((intent & BEGAN) != 0) {
      const key = load<u64>(BEGINS + (row << 3))
      begun = LiveSet.begin(key, isIndex)
      if (begun == 0) return <u32>row
      if (isWatched && !owns(begun, key, isIndex, load<u32>(SPACES + (row << 2)))) return <u32>row
      effect |= LiveSet.wasLive ? BEGAN | REUSED : BEGAN
    }
    store<u8>(EFFECTS + row, <u8>effect)
    store<u32>(ENDED + (row << 2), ended)
    store<u32>(BEGUN + (row << 2), begun)
  }
  return rows
}

// @ts-ignore: decorator
@inline
function end(key: u64, isIndex: bool): u32 {
  const number = LiveSet.finish(key, isIndex)
  if (number != 0) remember(keyOf(key, isIndex))
  return number
}

/** A block's key in which an index and an address of the same value differ. */
function keyOf(key: u64, isIndex: bool): u64 {
  return isIndex ? key ^ 0xc2b2_ae3d_27d4_eb4f : key
}
