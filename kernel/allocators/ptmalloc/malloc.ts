/** The choice of a chunk for a request, in glibc's order: bins by size, the end of the heap, more memory. */
import { addSorted, addUnsorted, bestOf, lastFrom, unlink, UNSORTED } from './bins'
import { fastList, headOf, HAS_FAST, MAIN_ARENA, REMAINDER } from './arenas'
import { bytesOf, IS_BLOCK, LAST, link, NEXT, placeOf, setLive, setState, USED } from './chunks'
import { split } from './heap-chunks'
import { consolidate } from './free'
import { set32, set64 } from './log'
import * as Rules from './rules'
import { cutTop, extend } from './system'
import { cached, OWN_CACHE, putCached, takeCached } from './threads'

/** The maximum number of unsorted chunks that a request sorts, as in glibc. */
const MOST_SORTED: u32 = 10_000

/** Whether a cache is being created, for which no cache is needed. */
let isMaking: bool = false

/** A chunk of an arena, or of the main arena if that has no memory. @returns 0 if there is none */
export function allocate(thread: usize, arena: usize, bytes: u64): u32 {
  const chunk = choose(thread, arena, bytes)
  return chunk != 0 || arena == MAIN_ARENA ? chunk : choose(thread, MAIN_ARENA, bytes)
}

/** A chunk of an arena. @returns 0 if it has no memory */
export function choose(thread: usize, arena: usize, bytes: u64): u32 {
  const wide = Rules.cacheBin(bytes)
  const hasList = wide < Rules.CACHE_BINS && load<u32>(thread, OWN_CACHE) != 0
  const list = <u32>min<u64>(wide, Rules.CACHE_BINS)
  if (bytes <= Rules.mostFast) {
    const chunk = fromFast(thread, arena, bytes, hasList, list)
    if (chunk != 0) return chunk
  }
  const bin = Rules.binOf(bytes)
  const isSmall = bytes < Rules.leastLarge
  if (isSmall) {
    const chunk = fromSmall(thread, arena, bin, hasList, list)
    if (chunk != 0) return chunk
  } else {
    consolidate(arena)
  }
  while (true) {
    let chunk = sort(thread, arena, bytes, hasList, list)
    if (chunk == 0 && !isSmall) {
      chunk = bestOf(arena, bin, bytes)
      if (chunk != 0) divide(arena, chunk, bytes, false)
    }
    if (chunk == 0) {
      chunk = lastFrom(arena, bin + 1)
      if (chunk != 0) divide(arena, chunk, bytes, isSmall)
    }
    if (chunk == 0) chunk = cutTop(arena, bytes)
    if (chunk != 0) return chunk
    if (load<u32>(arena, HAS_FAST) == 0) return extend(thread, arena, bytes)
    consolidate(arena)
  }
}

/** The first chunk of a fast bin; others of it fill the cache. */
function fromFast(thread: usize, arena: usize, bytes: u64, hasList: bool, list: u32): u32 {
  const place = fastList(arena, Rules.fastBin(bytes))
  const chunk = load<u32>(place)
  if (chunk == 0) return 0
  set32(place, link(chunk, NEXT))
  setState(chunk, USED)
  while (hasList && cached(thread, list) < Rules.cacheDepth) {
    const other = load<u32>(place)
    if (other == 0) break
    set32(place, link(other, NEXT))
    setState(other, USED)
    if (!putCached(thread, other)) break
  }
  return chunk
}

/** The last chunk of a small bin; others of it fill the cache. */
function fromSmall(thread: usize, arena: usize, bin: u32, hasList: bool, list: u32): u32 {
  const head = headOf(arena, bin)
  const chunk = link(head, LAST)
  if (chunk == head) return 0
  unlink(chunk)
  if (Rules.stashMakesCache && list < Rules.CACHE_BINS && load<u32>(thread, OWN_CACHE) == 0) {
    // glibc rounds the size up twice here.
    hasList = makeCache(thread, arena, Rules.chunkSize(Rules.chunkSize(Rules.cacheSize)))
  }
  while (hasList && cached(thread, list) < Rules.cacheDepth) {
    const other = link(head, LAST)
    if (other == head) break
    unlink(other)
    if (!putCached(thread, other)) break
  }
  return chunk
}

/**
 * Creates the cache of a thread that has none, from an arena, for chunks of this size.
 * @returns whether the thread has one now
 */
export function makeCache(thread: usize, arena: usize, bytes: u64): bool {
  if (isMaking) return false
  isMaking = true
  const chunk = allocate(thread, arena, bytes)
  isMaking = false
  if (chunk == 0) return false
  // It is never used for anything else.
  setLive(chunk, IS_BLOCK)
  set32(thread + OWN_CACHE, chunk)
  return true
}

/** Sorts the unsorted chunks into bins until one serves the request. @returns it, or 0 */
function sort(thread: usize, arena: usize, bytes: u64, hasList: bool, list: u32): u32 {
  const head = headOf(arena, UNSORTED)
  let isCached = false
  for (let sorted: u32 = 0; sorted < MOST_SORTED; sorted++) {
    const chunk = link(head, LAST)
    if (chunk == head) break
    const size = bytesOf(chunk)
    const isOnly = link(chunk, LAST) == head
    if (
      isOnly &&
      bytes < Rules.leastLarge &&
      size > bytes + Rules.least &&
      placeOf(chunk) == load<u64>(arena, REMAINDER)
    ) {
      divide(arena, chunk, bytes, true)
      return chunk
    }
    unlink(chunk)
    if (size != bytes) {
      addSorted(arena, chunk)
    } else if (hasList && cached(thread, list) < Rules.cacheDepth) {
      putCached(thread, chunk)
      isCached = true
    } else {
      return chunk
    }
  }
  return isCached ? takeCached(thread, list) : 0
}

/** Removes a chunk from its bin and splits it to size. @param isRemainder the rest serves the next small requests */
function divide(arena: usize, chunk: u32, bytes: u64, isRemainder: bool): void {
  unlink(chunk)
  if (bytesOf(chunk) - bytes < Rules.least) return
  const rest = split(chunk, bytes)
  addUnsorted(arena, rest)
  if (isRemainder) set64(arena + REMAINDER, placeOf(rest))
}
