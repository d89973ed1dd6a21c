/** Creation and growth of heaps. */
import { heapLength, LAST_CHUNK, MAIN_ARENA, mapHeap, numberOf, REGION, setTop, topOf, unmapHeap } from './arenas'
import { unlink } from './bins'
import * as Chunks from './chunks'
import { absorb, dropChunk, newChunk, split } from './heap-chunks'
import { freeChunk } from './free'
import { set32 } from './log'
import { isMapped, newMapping, trimThreshold } from './mappings'
import * as Regions from './regions'
import { alignment, cachesRests, header, heapHead, heapRoom, least, PAGE, pages, TOP_PAD } from './rules'

/** The maximum size of heaps and chunks. */
const MOST_BYTES: u64 = 1 << 46

/** Splits a chunk off the top chunk. @returns 0 if that is too small */
export function cutTop(arena: usize, bytes: u64): u32 {
  const top = topOf(arena)
  if (top == 0 || Chunks.bytesOf(top) < bytes + least) return 0
  const rest = split(top, bytes)
  Chunks.setState(top, Chunks.USED)
  setTop(arena, rest)
  return top
}

/**
 * A chunk for a request that no free chunk satisfies: a mapping, or from an extended heap.
 * @returns 0 if there is no memory
 */
export function extend(thread: usize, arena: usize, bytes: u64): u32 {
  if (isMapped(bytes)) return newMapping(bytes)
  if (arena == MAIN_ARENA ? !growMain(bytes) : !growHeap(thread, arena, bytes)) {
    return arena == MAIN_ARENA ? 0 : newMapping(bytes)
  }
  return cutTop(arena, bytes)
}

function growMain(bytes: u64): bool {
  const top = topOf(MAIN_ARENA)
  if (top == 0) {
    // The first chunk is aligned, and the heap ends at a page boundary.
    const first = alignment - header
    const size = pages(bytes + TOP_PAD + least) + (first == 0 ? 0 : PAGE - first)
    set32(MAIN_ARENA + LAST_CHUNK, newChunk(Regions.startOfRegion(Regions.MAIN) + first, size, Chunks.TOP, 0))
    return true
  }
  const size = Chunks.bytesOf(top) + pages(bytes + TOP_PAD + least - Chunks.bytesOf(top))
  if (Regions.offsetOf(top) + size > MOST_BYTES) return false
  Chunks.setBytes(top, size)
  return true
}

function growHeap(thread: usize, arena: usize, bytes: u64): bool {
  const top = topOf(arena)
  const region = load<u32>(arena, REGION)
  const more = pages(least + bytes - Chunks.bytesOf(top))
  if (Regions.lengthOf(region) + more <= heapRoom) {
    Regions.setLength(region, Regions.lengthOf(region) + more)
    Chunks.setBytes(top, Regions.startOfRegion(region) + Regions.lengthOf(region) - Chunks.placeOf(top))
    return true
  }
  const length = heapLength(bytes + least + heapHead)
  if (length == 0) return false
  const number = numberOf(arena)
  const next = Regions.newRegion(number, length, region, mapHeap())
  if (next == 0) return false
  set32(arena + LAST_CHUNK, newChunk(Regions.startOfRegion(next) + heapHead, length - heapHead, Chunks.TOP, number))
  set32(arena + REGION, next)
  leaveTop(thread, region, top)
  return true
}

/** The top chunk of the old heap is freed, except for a fence at the end. */
function leaveTop(thread: usize, region: u32, top: u32): void {
  Chunks.setState(top, Chunks.USED)
  const bytes = (Chunks.bytesOf(top) - least) & ~(alignment - 1)
  const fence = bytes >= least ? split(top, bytes) : top
  Regions.setFence(region, fence)
  // It is never used for anything else.
  Chunks.setLive(fence, Chunks.IS_BLOCK)
  if (fence != top) freeChunk(cachesRests ? thread : 0, top)
}

/** Enlarges the top chunk of an arena, because the heap is larger than assumed. @returns whether that is possible */
export function stretchTop(arena: usize, bytes: u64): bool {
  const top = topOf(arena)
  if (top == 0) return false
  const end = pages(Regions.offsetOf(top) + bytes)
  if (end > (arena == MAIN_ARENA ? MOST_BYTES : heapRoom)) return false
  if (Chunks.bytesOf(top) >= end - Regions.offsetOf(top)) return true
  Chunks.setBytes(top, end - Regions.offsetOf(top))
  if (arena != MAIN_ARENA) Regions.setLength(load<u32>(arena, REGION), end)
  return true
}
