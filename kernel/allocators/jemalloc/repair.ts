/** Corrects the simulation after a wrong prediction. The block's address shows in which run it is, known or new. */
import {
  addressOf,
  claim,
  forgetRun,
  isRegion,
  makeCurrent,
  moveRun,
  drain,
  REGION_LOG,
  regionOf,
  passOver,
  runOf,
  takeAfter,
} from './bins'
import * as Caches from './caches'
import {
  addExtent,
  DIRTY,
  extent,
  isFree,
  isLive,
  KEPT,
  LARGE,
  makeRun,
  RETAINED,
  RUN,
  setLive,
  useRegion,
} from './extents'
import { putStart, startingAt } from './page-map'
import { arenaAt, carve, forgetPages, freePages, movePages, noteNew } from './pages'
import { areTogether, isPlaced, placeRegion, trueAddress, virtualAddress } from './regions'
import { cachedClasses, isSmall, largePad, PAGE, PAGE_LOG, sizeClass } from './rules'
import {
  caller,
  classOfBlock,
  close,
  free,
  guess,
  isBlock,
  isMoved,
  isOpen,
  resized,
  setInUse,
  wantedClass,
  wantedPages,
} from './simulator'

/** The number of pages that are searched for other extents. */
const LONGEST: u64 = 64
/** Programs have addresses from the first up to, but not including, the second. */
const LEAST_ADDRESS: u64 = 1 << 18
const MOST_ADDRESS: u64 = 1 << 56

/** Sets the address of the last call's block. @returns the block's handle, 0 if such a block is not simulated */
export function settle(actual: u64): u32 {
  if (!isOpen) return 0
  close()
  const isKnown = actual >= LEAST_ADDRESS && actual < MOST_ADDRESS
  if (isKnown && isMoved && addressOf(resized) == actual && stays()) {
    withdraw()
    return resized
  }
  if (isKnown && guess != 0 && guess != resized && appears(actual)) return guess
  const isInPlace = resized != 0 && !isMoved
  if (!isInPlace) withdraw()
  const at = virtualAddress(actual)
  const handle = !isKnown ? 0 : isSmall(wantedClass) ? settleRegion(at) : settleLarge(at)
  if (isInPlace && handle != resized && isBlock(resized)) free(caller, resized)
  return handle
}

/** Returns the predicted block, which was wrong, to where it was taken from. */
function withdraw(): void {
  if (guess == 0 || !isBlock(guess)) return
  const n = runOf(guess)
  if (isSmall(wantedClass)) setLive(n, regionOf(guess), false)
  else if (wantedClass < cachedClasses && isPlaced(extent(n).base) && extent(n).guessed == 0 && extent(n).base != 0)
    extent(n).state = KEPT
  else {
    freePages(n)
    return
  }
  const cache = Caches.cacheOf(caller, wantedClass)
  if (cache != 0) Caches.push(caller, cache, wantedClass, guess)
}

/**
 * Takes a block from the cache again, because realloc left it in place.
 * @returns false if it is not there
 */
function stays(): bool {
  const n = runOf(resized)
  const c = classOfBlock(resized)
  if (c >= cachedClasses || (extent(n).state != KEPT && extent(n).state != RUN)) return false
  const cache = Caches.cacheOf(caller, c)
  if (cache == 0 || Caches.countOf(cache) == 0 || Caches.blockIn(cache, Caches.countOf(cache) - 1) != resized)
    return false
  Caches.setCount(cache, Caches.countOf(cache) - 1)
  setInUse(resized)
  if (extent(n).state == LARGE && wantedPages != 0) extent(n).pages = wantedPages
  return true
}

/** Sets the address of the predicted block's pages, which was unknown. @returns false if that is impossible */
function appears(actual: u64): bool {
  const n = runOf(guess)
  const base = extent(n).base
  if (isLarge(n) && trueAddress(base) == (actual >> PAGE_LOG) << PAGE_LOG && largePad != 0) {
    extent(n).offset = <u16>(actual & (PAGE - 1))
    return true
  }
  const at = actual - addressIn(guess, actual)
  if ((at & (PAGE - 1)) != 0 || at > actual || at == 0) return false
  if (base != 0 && !isPlaced(base)) {
    if (isLarge(n)) extent(n).offset = <u16>(actual - at)
    placeRegion(base, at)
    return true
  }
  if ((base != 0 && extent(n).guessed == 0) || overlaps(at, n)) return false
  if (isLarge(n)) movePages(n, at)
  else moveRun(n, at)
  return true
}

function isLarge(n: u32): bool {
  return extent(n).state == LARGE
}

/** Whether another extent in use overlaps the pages at an address. */
function overlaps(base: u64, n: u32): bool {
  const page = base >> PAGE_LOG
  for (let i: u64 = 0; i < min<u64>(extent(n).pages, LONGEST); i++) {
    const other = startingAt(page + i)
    if (other != 0 && other != n && extent(other).guessed == 0) return true
  }
  return false
}

/** The distance of a block from the start of its extent. */
function addressIn(handle: u32, actual: u64): u64 {
  if (!isRegion(handle)) return largePad != 0 ? actual & (PAGE - 1) : 0
  const c = extent(runOf(handle)).class
  return sizeClass(c).first + regionOf(handle) * sizeClass(c).size
}

/** The handle of the region of the wanted class that begins at an address, 0 if there is none. */
function regionAt(address: u64): u32 {
  const page = address >> PAGE_LOG
  for (let back: u64 = 0; back < sizeClass(wantedClass).pages; back++) {
    const n = startingAt(page - back)
    if (n == 0) continue
    if (extent(n).state != RUN || extent(n).class != wantedClass) return 0
    return handleIn(n, address - extent(n).base)
  }
  return 0
}

/** The handle of the region at an offset in a run of the wanted class, 0 if none begins there. */
function handleIn(n: u32, offset: u64): u32 {
  const from = offset - sizeClass(wantedClass).first
  const size = sizeClass(wantedClass).size
  const region = from / size
  if (offset < sizeClass(wantedClass).first || region * size != from || region >= sizeClass(wantedClass).regions)
    return 0
  return (n << REGION_LOG) | (<u32>region)
}

function settleRegion(actual: u64): u32 {
  let cache = Caches.cacheOf(caller, wantedClass)
  if (cache == 0) return 0
  let handle = regionAt(actual)
  if (handle != 0 && isLive(runOf(handle), regionOf(handle))) return handle
  if (handle != 0 && takeFromCache(cache, handle)) return handle
  Caches.flush(cache, wantedClass, Caches.countOf(cache))
  let isNew = false
  let isUnexpected = false
  if (handle == 0 || !isRegion(handle)) {
    handle = adoptRun(actual)
    // The first block that the trace shows of a new run is the first one of the run.
    isNew = regionOf(handle) <= sizeClass(wantedClass).slots
  } else {
    passOver(runOf(handle), regionOf(handle))
    isUnexpected = !isFree(runOf(handle), regionOf(handle))
    claim(runOf(handle), regionOf(handle))
  }
  if (handle == 0) return 0
  const run = runOf(handle)
  setLive(run, regionOf(handle), true)
  Caches.setArena(caller, extent(run).arena)
  makeCurrent(run)
  drain(run, isNew)
  // The cache was empty, so it is filled from this block on.
  let next = handle
  for (let i = Caches.fillOf(cache, wantedClass); i > 1; i--) {
    next = takeAfter(next, isUnexpected)
    if (next == 0) break
    cache = Caches.push(caller, cache, wantedClass, next)
  }
  Caches.reverse(cache)
  return handle
}

/**
 * Takes a block from a cache, and the newer blocks before it, which are given back.
 * @returns false if it is not in the cache
 */
function takeFromCache(cache: usize, handle: u32): bool {
  const count = Caches.countOf(cache)
  let i = count
  while (i > 0 && Caches.blockIn(cache, i - 1) != handle) i--
  if (i == 0) return false
  Caches.setCount(cache, i - 1)
  for (let j = i; j < count; j++) Caches.giveBack(Caches.blockIn(cache, j), wantedClass)
  setInUse(handle)
  return true
}

/** Makes a run of the wanted class with a region here. @returns the region, 0 if that is impossible */
function adoptRun(actual: u64): u32 {
  const pages = sizeClass(wantedClass).pages
  const page = actual >> PAGE_LOG
  for (let back: u64 = 0; back < pages && back <= page; back++) {
    const base = (page - back) << PAGE_LOG
    if (!areTogether(base, actual)) return 0
    const region = regionOf(handleIn(1, actual - base))
    if (handleIn(1, actual - base) == 0) continue
    const n = adopt(RUN, base, pages)
    if (n == 0) return 0
    if (!makeRun(n, wantedClass, region)) {
      forgetPages(n)
      return 0
    }
    useRegion(n, region)
    return (n << REGION_LOG) | region
  }
  return 0
}

function settleLarge(actual: u64): u32 {
  const page = actual >> PAGE_LOG
  const n = startingAt(page)
  if (n == 0 || (extent(n).state != LARGE && extent(n).state != KEPT)) {
    const made = adopt(LARGE, page << PAGE_LOG, wantedPages)
    if (made != 0) extent(made).offset = <u16>(actual & (PAGE - 1))
    return made << REGION_LOG
  }
  const handle = n << REGION_LOG
  const cache = wantedClass < cachedClasses ? Caches.cacheOf(caller, wantedClass) : 0
  if (cache != 0) takeFromCache(cache, handle)
  extent(n).state = LARGE
  extent(n).pages = wantedPages
  extent(n).offset = <u16>(actual & (PAGE - 1))
  return handle
}

/**
 * Adds an extent that the simulation did not know, and removes what it assumed there. @returns 0 if memory is exhausted
 */
function adopt(state: u8, base: u64, pages: u32): u32 {
  const page = base >> PAGE_LOG
  for (let back: u64 = 1; back < LONGEST && back <= page; back++) {
    const other = startingAt(page - back)
    if (other == 0) continue
    if (extent(other).pages > back) evict(other, page, pages)
    break
  }
  for (let i: u64 = 0; i < min<u64>(pages, LONGEST); i++) {
    const other = startingAt(page + i)
    if (other != 0) evict(other, page, pages)
  }
  const n = addExtent(state, arenaAt(base, Caches.arenaOfThread(caller)), base, pages, 0)
  if (n != 0) {
    putStart(page, n)
    noteNew(n)
  }
  return n
}

/** Takes pages from an extent, because they belong to another one. */
function evict(n: u32, page: u64, pages: u32): void {
  if (extent(n).state == DIRTY || extent(n).state == RETAINED) {
    carve(n, page, pages)
    return
  }
  if (extent(n).state == RUN) forgetRun(n, extent(n).free)
  forgetPages(n)
}
