/** The functions that programs call. */
import { arenaAt, chooseArena, enterArena, leaveArena, MAIN_ARENA, setTop, topOf } from './arenas'
import { unlink } from './bins'
import * as Chunks from './chunks'
import { absorb, dropChunk, split } from './heap-chunks'
import { freeChunk, freeMerged } from './free'
import { knowsArea, mapBytes, unmapBytes } from './gaps'
import { set32, set64 } from './log'
import { allocate, choose, makeCache } from './malloc'
import { advanceMapping, isPlaced, leadOf, resizeMapping, trimThreshold } from './mappings'
import { baseOf, MAIN, offsetOf, regionOf } from './regions'
import * as Rules from './rules'
import * as Threads from './threads'

/** Requests, and alignments, above these are refused. */
const MOST_REQUEST: u64 = 1 << 46
export const MOST_ALIGNMENT: u64 = 1 << 26

/** The table of thread-local storage of a new thread: the number of its elements, each of two words. */
const FEWEST_ELEMENTS: u64 = 17
const MOST_ELEMENTS: u64 = 40

/** The size of the mapping for a thread's stack, 0 if unknown. */
let stackSize: u64 = 0

export function setStack(bytes: u64): void {
  stackSize = bytes
}

/** The arena of a thread, chosen now if it has none. The first thread uses the main one. */
function arenaFor(number: u32, thread: usize): usize {
  let arena = <usize>load<u32>(thread, Threads.OWN_ARENA)
  if (arena != 0) return arena
  if (number == 0) {
    arena = MAIN_ARENA
  } else {
    arena = chooseArena()
    enterArena(arena)
  }
  set32(thread + Threads.OWN_ARENA, <u32>arena)
  return arena
}

/** Creates a thread's cache unless it has one. */
function prepare(number: u32, thread: usize): void {
  if (Rules.cacheSize == 0 || load<u32>(thread, Threads.OWN_CACHE) != 0) return
  makeCache(thread, arenaFor(number, thread), Rules.chunkSize(Rules.cacheSize))
}

/** malloc. @returns the chunk; 0 if there is none */
export function callMalloc(number: u32, request: u64): u32 {
  const thread = Threads.threadAt(number)
  if (thread == 0 || request >= MOST_REQUEST) return 0
  if (Rules.mallocMakesCache) prepare(number, thread)
  return fromCacheOr(number, thread, Rules.chunkSize(request), true)
}

/** calloc. @param elements the number of elements, 0 if unknown */
export function callCalloc(number: u32, elements: u64, request: u64): u32 {
  const thread = Threads.threadAt(number)
  if (thread == 0 || request >= MOST_REQUEST) return 0
  // A thread's stack is mapped just before its table is allocated.
  const isTable = stackSize != 0 && isThreadTable(elements, request) && knowsArea()
  const stack = isTable ? mapBytes(stackSize) : 0
  if (Rules.mallocMakesCache) prepare(number, thread)
  const chunk = fromCacheOr(number, thread, Rules.chunkSize(request), Rules.callocUsesCache)
  if (stack != 0 && chunk != 0 && Chunks.stateOf(chunk) == Chunks.USED) {
    set64(Chunks.linkAt(chunk, Chunks.STACK), stack)
    Chunks.setLive(chunk, Chunks.HAS_STACK)
  }
  return chunk
}

function isThreadTable(elements: u64, request: u64): bool {
  return elements >= FEWEST_ELEMENTS && elements <= MOST_ELEMENTS && request == elements * 2 * Rules.word
}

function fromCacheOr(number: u32, thread: usize, bytes: u64, usesCache: bool): u32 {
  const bin = Rules.cacheBin(bytes)
  if (usesCache && bin < Rules.CACHE_BINS && Threads.cached(thread, <u32>bin) != 0)
    return Threads.takeCached(thread, <u32>bin)
  return allocate(thread, arenaFor(number, thread), bytes)
}

/** memalign, posix_memalign and aligned_alloc. */
export function callMemalign(number: u32, alignment: u64, request: u64): u32 {
  if (alignment <= Rules.alignment) return callMalloc(number, request)
  const thread = Threads.threadAt(number)
  if (thread == 0 || request >= MOST_REQUEST || alignment > MOST_ALIGNMENT) return 0
  let power: u64 = Rules.least
  while (power < alignment) power <<= 1
  const bytes = Rules.chunkSize(request)
  if (Rules.memalignUsesCache) {
    if (Rules.mallocMakesCache) prepare(number, thread)
    const ready = alignedCached(thread, bytes, power)
    if (ready != 0) return ready
  }
  let chunk = allocate(thread, arenaFor(number, thread), Rules.chunkSize(bytes + power + Rules.least))
  if (chunk == 0) return 0
  const lead = leadFor(chunk, power)
  if (Chunks.stateOf(chunk) == Chunks.MAPPED) {
    if (lead != 0) advanceMapping(chunk, lead)
    return chunk
  }
  const arena = arenaAt(Chunks.arenaOf(chunk))
  if (lead != 0) {
    const rest = split(chunk, lead)
    if (Rules.memalignUsesCache) freeMerged(arena, chunk)
    else freeChunk(thread, chunk)
    chunk = rest
  }
  const surplus = Chunks.bytesOf(chunk) - bytes
  if (Rules.memalignUsesCache) {
    const after = Chunks.link(chunk, Chunks.AFTER)
    const joins = after != 0 && (Chunks.stateOf(after) == Chunks.TOP || Chunks.stateOf(after) == Chunks.BINNED)
    if (surplus >= Rules.least || (surplus > 0 && joins)) freeMerged(arena, split(chunk, bytes))
  } else if (surplus > Rules.least) {
    freeChunk(thread, split(chunk, bytes))
  }
  return chunk
}

/** The first chunk of the cache's list that is aligned, 0 if there is none. */
function alignedCached(thread: usize, bytes: u64, alignment: u64): u32 {
  const bin = Rules.cacheBin(bytes)
  if (bin >= Rules.CACHE_BINS) return 0
  let chunk = Threads.firstCached(thread, <u32>bin)
  for (let i = Threads.cached(thread, <u32>bin); i > 0; i--) {
    if ((positionOf(chunk) & (alignment - 1)) == 0) {
      Threads.pullCached(chunk)
      return chunk
    }
    chunk = Chunks.link(chunk, Chunks.NEXT)
  }
  return 0
}

/** The distance by which a block must move to be aligned. */
function leadFor(chunk: u32, alignment: u64): u64 {
  const over = positionOf(chunk) & (alignment - 1)
  if (over == 0) return 0
  const lead = alignment - over
  return lead < Rules.least ? lead + alignment : lead
}

/** The address of a block, or one with the same alignment, as far as that is known. */
function positionOf(chunk: u32): u64 {
  if (Chunks.stateOf(chunk) == Chunks.MAPPED)
    return (isPlaced(chunk) ? Chunks.placeOf(chunk) : leadOf(chunk)) + Rules.header
  const region = regionOf(chunk)
  // Heaps of threads are aligned to their size.
  return (region == MAIN ? baseOf(MAIN) : 0) + offsetOf(chunk) + Rules.header
}

/** realloc of a block that is live. */
export function callRealloc(number: u32, chunk: u32, request: u64): u32 {
  const thread = Threads.threadAt(number)
  if (thread == 0 || request >= MOST_REQUEST) return 0
  Chunks.setLive(chunk, 0)
  const state = Chunks.stateOf(chunk)
  if (state == Chunks.FOREIGN) {
    dropChunk(chunk)
    return callMalloc(number, request)
  }
  if (keeps(chunk, request)) return chunk
  const bytes = Rules.chunkSize(request)
  if (state == Chunks.MAPPED) return resizeMapping(chunk, bytes)
  if (Rules.reallocMakesCache) prepare(number, thread)
  const arena = arenaAt(Chunks.arenaOf(chunk))
  if (Chunks.bytesOf(chunk) < bytes) {
    const after = Chunks.link(chunk, Chunks.AFTER)
    const isTop = after != 0 && after == topOf(arena)
    if (isTop && Chunks.bytesOf(chunk) + Chunks.bytesOf(after) >= bytes + Rules.least) {
      takeFromTop(arena, chunk, bytes)
      return chunk
    }
    if (
      !isTop &&
      after != 0 &&
      Chunks.stateOf(after) == Chunks.BINNED &&
      Chunks.bytesOf(chunk) + Chunks.bytesOf(after) >= bytes
    ) {
      unlink(after)
      absorb(chunk)
    } else {
      const moved = choose(thread, arena, bytes)
      if (moved == 0 || moved != Chunks.link(chunk, Chunks.AFTER)) return moveTo(number, thread, chunk, moved, request)
      absorb(chunk)
    }
  }
  if (Chunks.bytesOf(chunk) - bytes >= Rules.least) freeChunk(Rules.cachesRests ? thread : 0, split(chunk, bytes))
  return chunk
}

/** Whether realloc returns a block unchanged because it has room for the request and not much more. */
function keeps(chunk: u32, request: u64): bool {
  if (Rules.keepsBelow == 0) return false
  const isMapping = Chunks.stateOf(chunk) == Chunks.MAPPED
  const usable = Chunks.bytesOf(chunk) - (isMapping && !Rules.mapsNormally ? Rules.header : Rules.word)
  if (request > usable) return false
  const surplus = usable - request
  if (Rules.keepsToTrim) return surplus <= trimThreshold()
  return surplus < Rules.keepsBelow || (isMapping && surplus <= Rules.PAGE)
}

/** Extends a chunk to this size, with a part of the top chunk after it. */
export function takeFromTop(arena: usize, chunk: u32, bytes: u64): void {
  absorb(chunk)
  setTop(arena, split(chunk, bytes))
}

/** Moves a block. @param moved its new chunk, 0 if its arena has none, in which case malloc chooses one */
function moveTo(number: u32, thread: usize, chunk: u32, moved: u32, request: u64): u32 {
  if (moved == 0) moved = callMalloc(number, request)
  if (moved != 0) freeChunk(Rules.cachesRests ? thread : 0, chunk)
  return moved
}

/** free of a block that is live. */
export function callFree(number: u32, chunk: u32): void {
  const thread = Threads.threadAt(number)
  if (thread == 0) return
  const state = Chunks.stateOf(chunk)
  const stack =
    load<u8>(Chunks.records + chunk, Chunks.LIVE) == Chunks.HAS_STACK
      ? load<u64>(Chunks.records + chunk, Chunks.STACK)
      : 0
  Chunks.setLive(chunk, 0)
  if (Rules.freeMakesCache && state != Chunks.MAPPED && state != Chunks.FOREIGN) {
    if (Rules.mallocMakesCache || Rules.cacheBin(Chunks.bytesOf(chunk)) < Rules.CACHE_BINS) prepare(number, thread)
  }
  freeChunk(thread, chunk)
  // A thread's table is freed when its stack is unmapped.
  if (stack != 0) unmapBytes(stack, stackSize)
}

/** A thread ends. */
export function callEnd(number: u32): void {
  if (!Threads.knowsThread(number)) return
  retire(Threads.threadAt(number))
  Threads.endThread(number)
}

/** Frees the chunks of a thread's cache, list by list, then the cache itself; the thread's arena may become idle. */
export function retire(thread: usize): void {
  const cache = load<u32>(thread, Threads.OWN_CACHE)
  set32(thread + Threads.OWN_CACHE, 0)
  for (let bin: u32 = 0; bin < Rules.CACHE_BINS; bin++)
    while (Threads.cached(thread, bin) != 0) freeChunk(0, Threads.takeCached(thread, bin))
  if (cache != 0) {
    Chunks.setLive(cache, 0)
    freeChunk(0, cache)
  }
  const arena = <usize>load<u32>(thread, Threads.OWN_ARENA)
  if (arena != 0) leaveArena(arena)
  set32(thread + Threads.OWN_ARENA, 0)
}
