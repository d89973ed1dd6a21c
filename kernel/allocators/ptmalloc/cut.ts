/**
 * The last resort of repairs: a block is cut out of the chunk or area that contains its address, and the heap around it
 * is adjusted.
 */
import { addUnsorted, unlink } from './bins'
import { arenaAt, fastList, MAIN_ARENA, setTop, topOf } from './arenas'
import { takeFromTop } from './calls'
import * as Chunks from './chunks'
import { absorb, newChunk, split } from './heap-chunks'
import { chunkAt } from './chunk-map'
import { freeChunk, freeMerged } from './free'
import { seeMapping } from './gaps'
import { set32 } from './log'
import { lengthFor, placeMapping } from './mappings'
import { blockAt, regionAt, regionOf, virtual } from './regions'
import { alignment, CACHE_BINS, cacheBin, chunkSize, fastBin, header, least, PAGE } from './rules'
import { request, resized, usesCache } from './simulator'
import { stretchTop } from './system'
import { cached, pullCached, takeCached } from './threads'
import { isOftenWrong } from './wrong'

/** The maximum number of neighbours that a chunk may absorb, and the maximum length of a search in a fast bin. */
const MOST_NEIGHBOURS: u32 = 64
const MOST_FAST: u32 = 65_536

/** Frees a predicted chunk that was not used, when the call cannot be undone. */
export function giveBack(chunk: u32): void {
  Chunks.setLive(chunk, 0)
  freeChunk(0, chunk)
}

/**
 * The chunk of a block at this address.
 * @param thread that made the call, 0 if the call was not undone
 * @param wrong the address that was predicted, 0 if none
 */
export function cutOut(thread: usize, actual: u64, wrong: u64): u32 {
  if (thread != 0) {
    const chunk = fromCache(thread, actual)
    if (chunk != 0) return chunk
  }
  // A chunk that is predicted repeatedly without success is not free.
  if (isOftenWrong(wrong, thread != 0)) hide(wrong)
  const chunk = cut(actual, chunkSize(request))
  Chunks.setLive(chunk, Chunks.IS_BLOCK)
  if (thread != 0 && resized != 0 && resized != chunk && Chunks.stateOf(resized) != Chunks.NO_CHUNK) {
    Chunks.setLive(resized, 0)
    freeChunk(thread, resized)
  }
  return chunk
}

/**
 * If the cache has chunks of this size, unseen calls took those before the block's, so the block's chunk becomes the
 * first.
 */
function fromCache(thread: usize, actual: u64): u32 {
  if (resized != 0 || !usesCache()) return 0
  const bin = cacheBin(chunkSize(request))
  if (bin >= CACHE_BINS) return 0
  while (cached(thread, <u32>bin) != 0) {
    const chunk = takeCached(thread, <u32>bin)
    if (blockAt(chunk) != actual) continue
    Chunks.setLive(chunk, Chunks.IS_BLOCK)
    return chunk
  }
  return 0
}

/** Removes a chunk from its list; unseen calls use it. */
function hide(block: u64): void {
  const region = regionAt(block - header, topOf(MAIN_ARENA))
  if (region != 0) pull(chunkAt(virtual(region, block - header)))
}

/** Removes a chunk from its list. @returns whether it is now used, but not by a block */
function pull(chunk: u32): bool {
  if (chunk == 0 || Chunks.isLive(chunk)) return false
  const state = Chunks.stateOf(chunk)
  if (state == Chunks.BINNED) unlink(chunk)
  else if (state == Chunks.CACHED) return pullCached(chunk)
  else if (state == Chunks.FAST) return pullFast(chunk)
  else return state == Chunks.USED
  return true
}

function pullFast(chunk: u32): bool {
  let at = fastList(arenaAt(Chunks.arenaOf(chunk)), fastBin(Chunks.bytesOf(chunk)))
  for (let i: u32 = 0; i < MOST_FAST; i++) {
    const here = load<u32>(at)
    if (here == 0) return false
    if (here == chunk) {
      set32(at, Chunks.link(chunk, Chunks.NEXT))
      Chunks.setState(chunk, Chunks.USED)
      return true
    }
    at = Chunks.linkAt(here, Chunks.NEXT)
  }
  return false
}

/** Cuts out a block. @returns its chunk, which belongs to no heap if cutting is impossible */
function cut(actual: u64, bytes: u64): u32 {
  const place = actual - header
  const region = regionAt(place, topOf(MAIN_ARENA))
  if (region == 0) return newMappingAt(place, bytes)
  const at = virtual(region, place)
  if (((at + header) & (alignment - 1)) != 0) return newForeign(place, bytes)
  if (resized != 0 && Chunks.stateOf(resized) == Chunks.USED && Chunks.placeOf(resized) == at) {
    fit(resized, bytes, true)
    return resized
  }
  let chunk = chunkAt(at)
  if (chunk == 0) chunk = topBefore(region, at)
  if (chunk == 0) return newForeign(place, bytes)
  if (Chunks.stateOf(chunk) == Chunks.TOP) return cutFromTop(chunk, at, bytes, place)
  const isFree = Chunks.stateOf(chunk) == Chunks.BINNED
  if (!pull(chunk)) return newForeign(place, bytes)
  if (at != Chunks.placeOf(chunk)) {
    const rest = split(chunk, at - Chunks.placeOf(chunk))
    if (isFree && Chunks.bytesOf(chunk) >= least) addUnsorted(arenaAt(Chunks.arenaOf(chunk)), chunk)
    chunk = rest
  }
  fit(chunk, bytes, isFree)
  return chunk
}

/** The top chunk of the arena whose last heap a region is, if it ends before an address; 0 if not. */
function topBefore(region: u32, at: u64): u32 {
  const top = topOf(MAIN_ARENA)
  return top != 0 && regionOf(top) == region && Chunks.placeOf(top) < at ? top : 0
}

/** Cuts a block out of a top chunk. Unseen calls took the memory before it. */
function cutFromTop(top: u32, at: u64, bytes: u64, place: u64): u32 {
  const arena = arenaAt(Chunks.arenaOf(top))
  const needed = at - Chunks.placeOf(top) + bytes + least
  if (Chunks.bytesOf(top) < needed && !stretchTop(arena, needed)) return newForeign(place, bytes)
  if (at == Chunks.placeOf(top)) {
    setTop(arena, split(top, bytes))
    Chunks.setState(top, Chunks.USED)
    return top
  }
  const chunk = split(top, at - Chunks.placeOf(top))
  Chunks.setState(top, Chunks.USED)
  setTop(arena, split(chunk, bytes))
  return chunk
}

/** Resizes a used chunk to this size, as far as its neighbours allow. @param frees whether to free the excess */
function fit(chunk: u32, bytes: u64, frees: bool): void {
  const arena = arenaAt(Chunks.arenaOf(chunk))
  for (let i: u32 = 0; i < MOST_NEIGHBOURS && Chunks.bytesOf(chunk) < bytes; i++) {
    const after = Chunks.link(chunk, Chunks.AFTER)
    if (after == 0) return
    if (after == topOf(arena)) {
      const needed = bytes - Chunks.bytesOf(chunk) + least
      if (Chunks.bytesOf(after) >= needed || stretchTop(arena, needed)) takeFromTop(arena, chunk, bytes)
      return
    }
    if (!pull(after)) return
    absorb(chunk)
  }
  if (frees && Chunks.bytesOf(chunk) >= bytes + least) freeMerged(arena, split(chunk, bytes))
}

/** A block outside all heaps: a mapping if it looks like one. */
function newMappingAt(place: u64, bytes: u64): u32 {
  const lead = alignment - header
  if (((place - lead) & (PAGE - 1)) != 0) return newForeign(place, bytes)
  const length = lengthFor(bytes)
  seeMapping(place - lead, length)
  return placeMapping(place - lead, lead, length)
}

function newForeign(place: u64, bytes: u64): u32 {
  return newChunk(place, bytes, Chunks.FOREIGN, 0)
}
