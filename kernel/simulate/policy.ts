/** The operations of the policies on a heap: allocate, free and resize. */
import { EXHAUSTED, OVERALIGNED, TOO_LARGE } from '../../lib/kernel/layouts/simulate'
import { arenaAllocate, arenaRelease, arenas, IN_ARENA, PREDICTED } from './arenas'
import { buddyAllocate, buddyRelease, buddySize } from './buddies'
import { fitAllocate, fitRelease, fitResize } from './fits'
import { AT, nodeAt, SIZE as NODE_SIZE } from './nodes'
import * as Settings from './settings'
import { spanAllocate, spanRelease, spanResize } from './spans'
import { isWhole, wholeAllocate, wholeRelease } from './whole'

/** The maximum alignment of a block. */
const MOST_ALIGNMENT: u64 = 1 << 32

/** The bytes that a block of a size takes. */
function grossOf(size: u64): u64 {
  return max(Settings.smallest, Settings.roundUp(size + Settings.header, Settings.granule))
}

/** Allocates memory for a block, of the event of a row: see `give`. @returns 0 or a fault */
export function allocate(heap: usize, size: u64, alignment: u64, row: usize): u32 {
  if (size > Settings.ROOM) return TOO_LARGE
  if (alignment > MOST_ALIGNMENT) return OVERALIGNED
  const gross = grossOf(size)
  const wanted = alignment > Settings.granule && popcnt(alignment) == 1 ? alignment : 0
  if (arenas != 0 && load<u8>(PREDICTED + row) != 0 && arenaAllocate(heap, size, wanted)) return 0
  if (isWhole()) return wholeAllocate(row, size, alignment) ? 0 : TOO_LARGE
  if (Settings.policy < Settings.BINARY_BUDDY) {
    const node = fitAllocate(heap, gross, wanted)
    if (node == 0) return TOO_LARGE
    Settings.give(load<u64>(nodeAt(node), AT), load<u64>(nodeAt(node), NODE_SIZE), node)
    return 0
  }
  if (Settings.policy < Settings.SEGREGATED)
    return buddyAllocate(heap, max(Settings.smallest, size + Settings.header), wanted) ? 0 : TOO_LARGE
  if (Settings.policy == Settings.SEGREGATED) {
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
  if (alignment != 0) top = Settings.roundUp(top + Settings.header, alignment) - Settings.header
  const end = top + gross
  if (end > Settings.BASE + Settings.ROOM) return TOO_LARGE
  store<u64>(heap, end, TOP)
  const limit = load<u64>(heap, LIMIT)
  if (end > limit) {
    store<u64>(heap, Settings.roundUp(end - Settings.BASE, Settings.page) + Settings.BASE, LIMIT)
    Settings.addUsed(load<u64>(heap, LIMIT) - limit)
  }
  Settings.give(top, gross, 0)
  return 0
}

export function isInArena(node: u32): bool {
  return arenas != 0 && (node & IN_ARENA) != 0
}

/** Frees a block. */
export function release(heap: usize, from: u64, bytes: u64, node: u32): void {
  if (isInArena(node)) arenaRelease(heap, node)
  else if (Settings.policy < Settings.BINARY_BUDDY) fitRelease(heap, node)
  else if (Settings.policy < Settings.SEGREGATED) buddyRelease(heap, from, bytes, node)
  else if (Settings.policy == Settings.SEGREGATED) spanRelease(heap, from, node)
  else if (isWhole()) wholeRelease(node)
}

/**
 * Resizes a block in place: see `give`.
 * @param address its address, which for an aligned block may be after the start of its memory
 * @returns false if it has to move
 */
export function resize(heap: usize, from: u64, bytes: u64, node: u32, size: u64, address: u64): bool {
  if (size > Settings.ROOM) return false
  const lead = address - from
  const gross = grossOf(size)
  if (Settings.policy < Settings.BINARY_BUDDY)
    return fitResize(heap, node, gross) && Settings.give(from, load<u64>(nodeAt(node), NODE_SIZE), node)
  if (Settings.policy < Settings.SEGREGATED)
    return buddySize(max(Settings.smallest, size + lead)) == bytes && Settings.give(from, bytes, node)
  if (Settings.policy == Settings.SEGREGATED) return spanResize(heap, from, node, gross + lead - Settings.header)
  return gross <= bytes && Settings.give(from, bytes, node)
}

/** The address of the block whose memory was given. */
export function addressOf(alignment: u64): u64 {
  const from = isInArena(Settings.place) ? Settings.start : Settings.start + Settings.header
  return alignment > Settings.granule && popcnt(alignment) == 1 ? Settings.roundUp(from, alignment) : from
}
