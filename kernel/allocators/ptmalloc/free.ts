/** Freeing: into the thread's cache, a fast bin, or merged with its free neighbours. */
import { addSmall, addUnsorted, unlink } from './bins'
import { arenaAt, fastList, HAS_FAST, MAIN_ARENA, setTop, topOf } from './arenas'
import * as Chunks from './chunks'
import { absorb, dropChunk } from './heap-chunks'
import { set32 } from './log'
import { dropMapping } from './mappings'
import { FAST_BINS, fastBin, least, leastLarge, mostFast, sortsSmall } from './rules'
import { trimHeap, trimMain } from './trim'
import { putCached } from './threads'

/** A free chunk of at least this size, after merging, causes the fast bins to be merged and the heap to shrink. */
const OCCASION: u64 = 65_536

/**
 * Frees a used chunk that does not belong to a live block.
 * @param thread the record of the thread whose cache may take it, 0 for none
 */
export function freeChunk(thread: usize, chunk: u32): void {
  const state = Chunks.stateOf(chunk)
  if (state == Chunks.MAPPED) dropMapping(chunk)
  else if (state == Chunks.FOREIGN) dropChunk(chunk)
  if (state != Chunks.USED) return
  const bytes = Chunks.bytesOf(chunk)
  if (bytes < least || (thread != 0 && putCached(thread, chunk))) return
  const arena = arenaAt(Chunks.arenaOf(chunk))
  if (bytes > mostFast) freeMerged(arena, chunk)
  else addFast(arena, chunk)
}

/** Puts a chunk at the front of the fast bin of its size. */
export function addFast(arena: usize, chunk: u32): void {
  const list = fastList(arena, fastBin(Chunks.bytesOf(chunk)))
  Chunks.setLink(chunk, Chunks.NEXT, load<u32>(list))
  Chunks.setState(chunk, Chunks.FAST)
  set32(list, chunk)
  if (load<u32>(arena, HAS_FAST) == 0) set32(arena + HAS_FAST, 1)
}

/** Frees a used chunk, and merges it with its neighbours at once. */
export function freeMerged(arena: usize, chunk: u32): void {
  const merged = mergeNeighbours(arena, chunk)
  const bytes = Chunks.bytesOf(merged)
  if (Chunks.stateOf(merged) != Chunks.TOP) {
    if (sortsSmall && bytes < leastLarge) addSmall(arena, merged)
    else addUnsorted(arena, merged)
  }
  if (bytes < OCCASION) return
  consolidate(arena)
  if (arena == MAIN_ARENA) trimMain()
  else trimHeap(arena)
}

/**
 * Merges a used chunk with its free neighbours, possibly into the top chunk.
 * @returns the chunk, not in a bin yet
 */
function mergeNeighbours(arena: usize, chunk: u32): u32 {
  const before = Chunks.link(chunk, Chunks.BEFORE)
  if (before != 0 && Chunks.stateOf(before) == Chunks.BINNED) {
    unlink(before)
    absorb(before)
    chunk = before
  }
  const after = Chunks.link(chunk, Chunks.AFTER)
  if (after == 0) return chunk
  if (after == topOf(arena)) {
    absorb(chunk)
    setTop(arena, chunk)
  } else if (Chunks.stateOf(after) == Chunks.BINNED) {
    unlink(after)
    absorb(chunk)
  }
  return chunk
}

/** Merges the chunks of all fast bins with their neighbours. */
export function consolidate(arena: usize): void {
  if (load<u32>(arena, HAS_FAST) == 0) return
  set32(arena + HAS_FAST, 0)
  for (let bin: u32 = 0; bin < FAST_BINS; bin++) {
    const list = fastList(arena, bin)
    let chunk = load<u32>(list)
    if (chunk != 0) set32(list, 0)
    while (chunk != 0) {
      const next = Chunks.link(chunk, Chunks.NEXT)
      Chunks.setState(chunk, Chunks.USED)
      const merged = mergeNeighbours(arena, chunk)
      if (Chunks.stateOf(merged) != Chunks.TOP) addUnsorted(arena, merged)
      chunk = next
    }
  }
}
