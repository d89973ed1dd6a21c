/** The operations of the policies on a heap: allocate, free and resize. */
import { EXHAUSTED, OVERALIGNED, TOO_LARGE } from '../../lib/kernel/layouts/simulate'
import { arenaAllocate, arenaRelease, arenas, IN_ARENA, PREDICTED } from './arenas'
import { buddyAllocate, buddyRelease, buddySize } from './buddies'
import { fitAllocate, fitRelease, fitResize } from './fits'
import { AT, nodeAt, SIZE as NODE_SIZE } from './nodes'
import {
  addUsed,
  BASE,
  BINARY_BUDDY,
  give,
  granule,
  header,
  page,
  place,
  policy,
  ROOM,
  roundUp,
  SEGREGATED,
  smallest,
  start,
} from './settings'
import { spanAllocate, spanRelease, spanResize } from './spans'
import { isWhole, wholeAllocate, wholeRelease } from './whole'

/** The maximum alignment of a block. */
const MOST_ALIGNMENT: u64 = 1 << 32

/** The bytes that a block of a size takes. */
function grossOf(size: u64): u64 {
  return max(smallest, roundUp(size + header, granule))
}

/** Allocates memory for a block, of the event of a row: see `give`. @returns 0 or a fault */
export function allocate(heap: usize, size: u64, alignment: u64, row: usize): u32 {
  if (size > ROOM) return TOO_LARGE
  if (alignment > MOST_ALIGNMENT) return OVERALIGNED
  const gross = grossOf(size)
  const wanted = alignment > granule && popcnt(alignment) == 1 ? alignment : 0
  if (arenas != 0 && load<u8>(PREDICTED + row) != 0 && arenaAllocate(heap, size, wanted)) return 0
  if (isWhole()) return wholeAllocate(row, size, alignment) ? 0 : TOO_LARGE
  if (policy < BINARY_BUDDY) {
    const node = fitAllocate(heap, gross, wanted)
    if (node == 0) return TOO_LARGE
    give(load<u64>(nodeAt(node), AT), load<u64>(nodeAt(node), NODE_SIZE), node)
    return 0
  }
  if (policy < SEGREGATED) return buddyAllocate(heap, max(smallest, size + header), wanted) ? 0 : TOO_LARGE
  if (policy == SEGREGATED) {
    const done = spanAllocate(heap, gross, wanted)
    return done == 1 ? 0 : done == 0 ? TOO_LARGE : EXHAUSTED
  }
  return bump(heap, gross, wanted)
}

/** The end of a heap that only grows, and the end of its memory from the system, as in fits.ts. */
const TOP: usize = 8
const LIMIT: usize = 16

function bump(heap: usize, gross: u64, alignment: u64): u32 {
  let top = load<u64>(heap, TOP)
  if (alignment != 0) top = roundUp(top + header, alignment) - header
  const end = top + gross
  if (end > BASE + ROOM) return TOO_LARGE
  store<u64>(heap, end, TOP)
  const limit = load<u64>(heap, LIMIT)
  if (end > limit) {
    store<u64>(heap, roundUp(end - BASE, page) + BASE, LIMIT)
    addUsed(load<u64>(heap, LIMIT) - limit)
  }
  give(top, gross, 0)
  return 0
}

export function isInArena(node: u32): bool {
  return arenas != 0 && (node & IN_ARENA) != 0
}

/** Frees a block. */
export function release(heap: usize, from: u64, bytes: u64, node: u32): void {
  if (isInArena(node)) arenaRelease(heap, node)
  else if (policy < BINARY_BUDDY) fitRelease(heap, node)
  else if (policy < SEGREGATED) buddyRelease(heap, from, bytes, node)
  else if (policy == SEGREGATED) spanRelease(heap, from, node)
  else if (isWhole()) wholeRelease(node)
}

/**
 * Resizes a block in place: see `give`.
 * @param address its address, which for an aligned block may be after the start of its memory
 * @returns false if it has to move
 */
export function resize(heap: usize, from: u64, bytes: u64, node: u32, size: u64, address: u64): bool {
  if (size > ROOM) return false
  const lead = address - from
  const gross = grossOf(size)
  if (policy < BINARY_BUDDY) return fitResize(heap, node, gross) && give(from, load<u64>(nodeAt(node), NODE_SIZE), node)
  if (policy < SEGREGATED) return buddySize(max(smallest, size + lead)) == bytes && give(from, bytes, node)
  if (policy == SEGREGATED) return spanResize(heap, from, node, gross + lead - header)
  return gross <= bytes && give(from, bytes, node)
}

/** The address of the block whose memory was given. */
export function addressOf(alignment: u64): u64 {
  const from = isInArena(place) ? start : start + header
  return alignment > granule && popcnt(alignment) == 1 ? roundUp(from, alignment) : from
}
