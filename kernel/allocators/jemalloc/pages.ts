/**
 * Chooses the pages of arenas for new runs and large blocks. Versions 3 and 4 take the smallest free extent that fits,
 * the lowest of several; which pages were free before the trace began is unknown. In version 5 everything follows from
 * the calls.
 */
import {
  addExtent,
  DIRTY,
  dropBits,
  dropExtent,
  endPage,
  extent,
  FROM_FREE,
  FROM_NEXT,
  LARGE,
  RETAINED,
} from './extents'
import { dropStart, putStart, startingAt } from './page-map'
import * as FreePages from './free-pages'
import { hugePages, isChunk, isHuge, keepChunk, setHugeSize, takeFixed } from './chunks'
import { hasCaches, knowsPages, PAGE_LOG } from './rules'
import { addRegion, areFixed, clearRegions, noteNoAddresses } from './regions'
import { first, firstFrom, isBefore } from './sets'

/** Freed extents with at least this number of pages are not kept unchanged (5). */
const OVERSIZE: u32 = 2048
/** Extents with at least this number of pages are merged with their neighbours at once (5). */
const MERGED: u32 = 4
/** The number of pages of the first arena in use when a program begins (5): caches, and a block of the C++ library. */
const OWN_PAGES: u32 = 29
const POOL_PAGES: u32 = 21
/** A free extent that is this many times as large as the request is not split (5). */
const FIT_LOG: u32 = 6

/** The arenas of chunks of pages: the chunk's number + 1, and the arena. */
const CHUNKS: usize = memory.data(65536)
const CHUNK_LOG: u64 = 18
const CHUNK_PAGES: u64 = 64
const CHUNK_SLOTS: u64 = 4096

export function clearPages(): void {
  FreePages.clearFreePages()
  memory.fill(CHUNKS, 0, 65_536)
  clearRegions()
}

/** Takes pages with an alignment for a use. @returns the extent, 0 if memory is exhausted */
export function takePages(arena: u32, pages: u32, alignment: u64, state: u8): u32 {
  if (knowsPages) return takeKnown(pages >= OVERSIZE ? FreePages.OVERSIZE_ARENA : arena, pages, alignment, state)
  if (areFixed) return takeFixed(arena, pages, alignment, state)
  const isAligned = alignment <= 1 << PAGE_LOG
  const free = isAligned ? firstFrom(FreePages.setOf(arena, DIRTY, 0), pages) : 0
  const page = load<u64>(FreePages.nextOf(arena))
  const hasNext = isAligned && page != 0 && (page & (CHUNK_PAGES - 1)) != 0 && startingAt(page) == 0
  if (free != 0 && !(hasNext && load<u32>(FreePages.nextOf(arena), 8) != 0 && extent(free).pages > pages)) {
    const n = FreePages.take(free, 0, pages, state)
    if (n != 0) extent(n).guessed = FROM_FREE
    return n
  }
  const n = addExtent(state, arena, 0, pages, 0)
  if (n != 0 && hasNext) {
    extent(n).base = page << PAGE_LOG
    putStart(page, n)
    extent(n).guessed = FROM_NEXT
    store<u64>(FreePages.nextOf(arena), page + pages)
  }
  return n
}

function takeKnown(arena: u32, pages: u32, alignment: u64, state: u8): u32 {
  const slack = alignment > 1 << PAGE_LOG ? <u32>(alignment >> PAGE_LOG) - 1 : 0
  const free = inUseLately(arena, pages + slack)
  if (free != 0) return FreePages.take(free, FreePages.leadOf(free, slack), pages, state)
  // A new region: each is longer than the one before.
  const next = FreePages.nextOf(arena)
  let length = max(load<u32>(next), FreePages.lengthClass(512))
  while (FreePages.lengthOf(length) < pages + slack && length + 1 < FreePages.LENGTHS) length++
  store<u32>(next, length + 1)
  store<u32>(next, load<u32>(next, 4) + 1, 4)
  const base = addRegion((<u64>FreePages.lengthOf(length)) << PAGE_LOG)
  if (base == 0) return 0
  if (FreePages.lengthOf(length) < pages + slack) {
    noteNoAddresses()
    return 0
  }
  const n = addExtent(RETAINED, arena, base, FreePages.lengthOf(length), load<u32>(next, 4))
  if (n == 0) return 0
  FreePages.addFree(n, RETAINED)
  if (arena == 0 && length == FreePages.lengthClass(512)) takeOwn(n, pages == POOL_PAGES)
  const rest = inUseLately(arena, pages + slack)
  if (rest != 0) return FreePages.take(rest, FreePages.leadOf(rest, slack), pages, state)
  // Without a prediction, the trace decides.
  return areFixed ? takeKnown(arena, pages, alignment, state) : 0
}

/**
 * Takes the pages that are in use when a program begins, at the start of a region.
 * @param isPool whether the trace has one of their blocks
 */
function takeOwn(region: u32, isPool: bool): void {
  const pages = (hasCaches ? OWN_PAGES : POOL_PAGES) - (isPool ? POOL_PAGES : 0)
  if (pages != 0) FreePages.take(region, 0, pages, LARGE)
}

function inUseLately(arena: u32, pages: u32): u32 {
  const free = fitting(arena, DIRTY, pages, FIT_LOG)
  return free != 0 ? free : fitting(arena, RETAINED, pages, 31)
}

/** The oldest, or lowest, free extent with enough room. @param most its maximum length, as a shift of `pages` */
function fitting(arena: u32, state: u8, pages: u32, most: u32): u32 {
  let found: u32 = 0
  let c = FreePages.lengthClass(pages)
  if (FreePages.lengthOf(c) < pages) c++
  for (; c < FreePages.LENGTHS; c++) {
    if ((<u64>FreePages.lengthOf(c)) >> most > pages) break
    const n = first(FreePages.setOf(arena, state, c))
    if (n != 0 && (found == 0 || isBefore(n, found))) found = n
  }
  return found
}

/** Changes the length of an extent in use where it is. @returns false if there is no room after it */
export function resizePages(n: u32, pages: u32): bool {
  if (!isHuge(n)) return resizeExtent(n, pages)
  const whole = hugePages(extent(n).pages, pages)
  if (whole == 0 || !resizeExtent(n, whole)) return false
  setHugeSize(n, pages)
  return true
}

function resizeExtent(n: u32, pages: u32): bool {
  const has = extent(n).pages
  if (pages == has) return true
  if (extent(n).base == 0 || extent(n).guessed != 0) return pages <= has
  if (pages < has) {
    extent(n).pages = pages
    const rest = addExtent(LARGE, extent(n).arena, endPage(n) << PAGE_LOG, has - pages, extent(n).order)
    if (rest != 0) freePages(rest)
    return true
  }
  const next = startingAt(endPage(n))
  if (next == 0 || (extent(next).state != DIRTY && extent(next).state != RETAINED)) return false
  if (extent(next).arena != extent(n).arena || has + extent(next).pages < pages) return false
  const taken = FreePages.take(next, 0, pages - has, LARGE)
  if (taken == 0) return false
  extent(n).order = min(extent(n).order, extent(taken).order)
  forgetPages(taken)
  extent(n).pages = pages
  return true
}

/** Frees an extent's pages. */
export function freePages(n: u32): void {
  if (extent(n).base == 0 || extent(n).guessed != 0) {
    forgetPages(n)
    return
  }
  dropStart(extent(n).base >> PAGE_LOG, n)
  dropBits(n)
  const state = (knowsPages && extent(n).pages >= OVERSIZE) || isHuge(n) ? RETAINED : DIRTY
  if (state == RETAINED) FreePages.holdPages(0 - <u64>extent(n).pages)
  if (!knowsPages || state == RETAINED || extent(n).pages >= MERGED) FreePages.merge(n, state)
  if (!isChunk(n)) FreePages.addFree(n, state)
  else keepChunk(n)
}

/** Forgets an extent that was predicted wrongly. */
export function forgetPages(n: u32): void {
  const base = extent(n).base
  if (extent(n).state == DIRTY || extent(n).state == RETAINED) FreePages.removeFree(n)
  else if (base != 0) dropStart(base >> PAGE_LOG, n)
  dropExtent(n)
}

/** Marks these pages of a free extent as used; the others stay free. */
export function carve(n: u32, page: u64, pages: u32): void {
  const from = extent(n).base >> PAGE_LOG
  const to = endPage(n)
  const state = extent(n).state
  FreePages.removeFree(n)
  if (to > page + pages) {
    const rest = <u32>(to - page - pages)
    const after = addExtent(state, extent(n).arena, (page + pages) << PAGE_LOG, rest, extent(n).order)
    if (after != 0) FreePages.addFree(after, state)
  }
  if (from < page) {
    extent(n).pages = <u32>(page - from)
    FreePages.addFree(n, state)
  } else dropExtent(n)
}

/** Moves an extent in use to its actual address. */
export function movePages(n: u32, base: u64): void {
  const was = extent(n).base
  const guessed = extent(n).guessed
  if (was != 0) dropStart(was >> PAGE_LOG, n)
  extent(n).base = base
  extent(n).guessed = 0
  putStart(base >> PAGE_LOG, n)
  noteNew(n)
  // The extent was split off one that is smaller than the known free extents, so the rest is smaller, too.
  store<u32>(FreePages.nextOf(extent(n).arena), guessed == FROM_FREE ? 1 : 0, 8)
  if (guessed != FROM_FREE) return
  const free = addExtent(DIRTY, extent(n).arena, was, extent(n).pages, 0)
  if (free == 0) return
  FreePages.merge(free, DIRTY)
  FreePages.addFree(free, DIRTY)
}

/** Adds an extent at a place where none was known. */
export function noteNew(n: u32): void {
  if (knowsPages) return
  store<u64>(FreePages.nextOf(extent(n).arena), endPage(n))
  const chunk = chunkOf(extent(n).base)
  store<u64>(chunk, (extent(n).base >> CHUNK_LOG) + 1)
  store<u32>(chunk, extent(n).arena, 8)
}

function chunkOf(address: u64): usize {
  return CHUNKS + ((<usize>((address >> CHUNK_LOG) & (CHUNK_SLOTS - 1))) << 4)
}

/** The arena of the pages here. @param otherwise the result if it is not known */
export function arenaAt(address: u64, otherwise: u32): u32 {
  return load<u64>(chunkOf(address)) == (address >> CHUNK_LOG) + 1 ? load<u32>(chunkOf(address), 8) : otherwise
}
