/** Corrects the simulation after a wrong prediction. The block's address shows in which run it is, known or new. */
import * as Bins from './bins'
import * as Caches from './caches'
import * as Extents from './extents'
import { putStart, startingAt } from './page-map'
import { arenaAt, carve, forgetPages, freePages, movePages, noteNew } from './pages'
import { areTogether, isPlaced, placeRegion, trueAddress, virtualAddress } from './regions'
import { cachedClasses, isSmall, largePad, PAGE, PAGE_LOG, sizeClass } from './rules'
import * as Simulator from './simulator'

/** The number of pages that are searched for other extents. */
const LONGEST: u64 = 64
/** Programs have addresses from the first up to, but not including, the second. */
const LEAST_ADDRESS: u64 = 1 << 18
const MOST_ADDRESS: u64 = 1 << 56

/** Sets the address of the last call's block. @returns the block's handle, 0 if such a block is not simulated */
export function settle(actual: u64): u32 {
  if (!Simulator.isOpen) return 0
  Simulator.close()
  const isKnown = actual >= LEAST_ADDRESS && actual < MOST_ADDRESS
  if (isKnown && Simulator.isMoved && Bins.addressOf(Simulator.resized) == actual && stays()) {
    withdraw()
    return Simulator.resized
  }
  if (isKnown && Simulator.guess != 0 && Simulator.guess != Simulator.resized && appears(actual)) return Simulator.guess
  const isInPlace = Simulator.resized != 0 && !Simulator.isMoved
  if (!isInPlace) withdraw()
  const at = virtualAddress(actual)
  const handle = !isKnown ? 0 : isSmall(Simulator.wantedClass) ? settleRegion(at) : settleLarge(at)
  if (isInPlace && handle != Simulator.resized && Simulator.isBlock(Simulator.resized))
    Simulator.free(Simulator.caller, Simulator.resized)
  return handle
}

/** Returns the predicted block, which was wrong, to where it was taken from. */
function withdraw(): void {
  if (Simulator.guess == 0 || !Simulator.isBlock(Simulator.guess)) return
  const n = Bins.runOf(Simulator.guess)
  if (isSmall(Simulator.wantedClass)) Extents.setLive(n, Bins.regionOf(Simulator.guess), false)
  else if (
    Simulator.wantedClass < cachedClasses &&
    isPlaced(Extents.extent(n).base) &&
    Extents.extent(n).guessed == 0 &&
    Extents.extent(n).base != 0
  )
    Extents.extent(n).state = Extents.KEPT
  else {
    freePages(n)
    return
  }
  const cache = Caches.cacheOf(Simulator.caller, Simulator.wantedClass)
  if (cache != 0) Caches.push(Simulator.caller, cache, Simulator.wantedClass, Simulator.guess)
}

/**
 * Takes a block from the cache again, because realloc left it in place.
 * @returns false if it is not there
 */
function stays(): bool {
  const n = Bins.runOf(Simulator.resized)
  const c = Simulator.classOfBlock(Simulator.resized)
  if (c >= cachedClasses || (Extents.extent(n).state != Extents.KEPT && Extents.extent(n).state != Extents.RUN))
    return false
  const cache = Caches.cacheOf(Simulator.caller, c)
  if (cache == 0 || Caches.countOf(cache) == 0 || Caches.blockIn(cache, Caches.countOf(cache) - 1) != Simulator.resized)
    return false
  Caches.setCount(cache, Caches.countOf(cache) - 1)
  Simulator.setInUse(Simulator.resized)
  if (Extents.extent(n).state == Extents.LARGE && Simulator.wantedPages != 0)
    Extents.extent(n).pages = Simulator.wantedPages
  return true
}

/** Sets the address of the predicted block's pages, which was unknown. @returns false if that is impossible */
function appears(actual: u64): bool {
  const n = Bins.runOf(Simulator.guess)
  const base = Extents.extent(n).base
  if (isLarge(n) && trueAddress(base) == (actual >> PAGE_LOG) << PAGE_LOG && largePad != 0) {
    Extents.extent(n).offset = <u16>(actual & (PAGE - 1))
    return true
  }
  const at = actual - addressIn(Simulator.guess, actual)
  if ((at & (PAGE - 1)) != 0 || at > actual || at == 0) return false
  if (base != 0 && !isPlaced(base)) {
    if (isLarge(n)) Extents.extent(n).offset = <u16>(actual - at)
    placeRegion(base, at)
    return true
  }
  if ((base != 0 && Extents.extent(n).guessed == 0) || overlaps(at, n)) return false
  if (isLarge(n)) movePages(n, at)
  else Bins.moveRun(n, at)
  return true
}

function isLarge(n: u32): bool {
  return Extents.extent(n).state == Extents.LARGE
}

/** Whether another extent in use overlaps the pages at an address. */
function overlaps(base: u64, n: u32): bool {
  const page = base >> PAGE_LOG
  for (let i: u64 = 0; i < min<u64>(Extents.extent(n).pages, LONGEST); i++) {
    const other = startingAt(page + i)
    if (other != 0 && other != n && Extents.extent(other).guessed == 0) return true
  }
  return false
}

/** The distance of a block from the start of its extent. */
function addressIn(handle: u32, actual: u64): u64 {
  if (!Bins.isRegion(handle)) return largePad != 0 ? actual & (PAGE - 1) : 0
  const c = Extents.extent(Bins.runOf(handle)).class
  return sizeClass(c).first + Bins.regionOf(handle) * sizeClass(c).size
}

/** The handle of the region of the wanted class that begins at an address, 0 if there is none. */
function regionAt(address: u64): u32 {
  const page = address >> PAGE_LOG
  for (let back: u64 = 0; back < sizeClass(Simulator.wantedClass).pages; back++) {
    const n = startingAt(page - back)
    if (n == 0) continue
    if (Extents.extent(n).state != Extents.RUN || Extents.extent(n).class != Simulator.wantedClass) return 0
    return handleIn(n, address - Extents.extent(n).base)
  }
  return 0
}

/** The handle of the region at an offset in a run of the wanted class, 0 if none begins there. */
function handleIn(n: u32, offset: u64): u32 {
  const from = offset - sizeClass(Simulator.wantedClass).first
  const size = sizeClass(Simulator.wantedClass).size
  const region = from / size
  if (
    offset < sizeClass(Simulator.wantedClass).first ||
    region * size != from ||
    region >= sizeClass(Simulator.wantedClass).regions
  )
    return 0
  return (n << Bins.REGION_LOG) | (<u32>region)
}

function settleRegion(actual: u64): u32 {
  let cache = Caches.cacheOf(Simulator.caller, Simulator.wantedClass)
  if (cache == 0) return 0
  let handle = regionAt(actual)
  if (handle != 0 && Extents.isLive(Bins.runOf(handle), Bins.regionOf(handle))) return handle
  if (handle != 0 && takeFromCache(cache, handle)) return handle
  Caches.flush(cache, Simulator.wantedClass, Caches.countOf(cache))
  let isNew = false
  let isUnexpected = false
  if (handle == 0 || !Bins.isRegion(handle)) {
    handle = adoptRun(actual)
    // The first block that the trace shows of a new run is the first one of the run.
    isNew = Bins.regionOf(handle) <= sizeClass(Simulator.wantedClass).slots
  } else {
    Bins.passOver(Bins.runOf(handle), Bins.regionOf(handle))
    isUnexpected = !Extents.isFree(Bins.runOf(handle), Bins.regionOf(handle))
    Bins.claim(Bins.runOf(handle), Bins.regionOf(handle))
  }
  if (handle == 0) return 0
  const run = Bins.runOf(handle)
  Extents.setLive(run, Bins.regionOf(handle), true)
  Caches.setArena(Simulator.caller, Extents.extent(run).arena)
  Bins.makeCurrent(run)
  Bins.drain(run, isNew)
  // The cache was empty, so it is filled from this block on.
  let next = handle
  for (let i = Caches.fillOf(cache, Simulator.wantedClass); i > 1; i--) {
    next = Bins.takeAfter(next, isUnexpected)
    if (next == 0) break
    cache = Caches.push(Simulator.caller, cache, Simulator.wantedClass, next)
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
  for (let j = i; j < count; j++) Caches.giveBack(Caches.blockIn(cache, j), Simulator.wantedClass)
  Simulator.setInUse(handle)
  return true
}

/** Makes a run of the wanted class with a region here. @returns the region, 0 if that is impossible */
function adoptRun(actual: u64): u32 {
  const pages = sizeClass(Simulator.wantedClass).pages
  const page = actual >> PAGE_LOG
  for (let back: u64 = 0; back < pages && back <= page; back++) {
    const base = (page - back) << PAGE_LOG
    if (!areTogether(base, actual)) return 0
    const region = Bins.regionOf(handleIn(1, actual - base))
    if (handleIn(1, actual - base) == 0) continue
    const n = adopt(Extents.RUN, base, pages)
    if (n == 0) return 0
    if (!Extents.makeRun(n, Simulator.wantedClass, region)) {
      forgetPages(n)
      return 0
    }
    Extents.useRegion(n, region)
    return (n << Bins.REGION_LOG) | region
  }
  return 0
}

function settleLarge(actual: u64): u32 {
  const page = actual >> PAGE_LOG
  const n = startingAt(page)
  if (n == 0 || (Extents.extent(n).state != Extents.LARGE && Extents.extent(n).state != Extents.KEPT)) {
    const made = adopt(Extents.LARGE, page << PAGE_LOG, Simulator.wantedPages)
    if (made != 0) Extents.extent(made).offset = <u16>(actual & (PAGE - 1))
    return made << Bins.REGION_LOG
  }
  const handle = n << Bins.REGION_LOG
  const cache = Simulator.wantedClass < cachedClasses ? Caches.cacheOf(Simulator.caller, Simulator.wantedClass) : 0
  if (cache != 0) takeFromCache(cache, handle)
  Extents.extent(n).state = Extents.LARGE
  Extents.extent(n).pages = Simulator.wantedPages
  Extents.extent(n).offset = <u16>(actual & (PAGE - 1))
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
    if (Extents.extent(other).pages > back) evict(other, page, pages)
    break
  }
  for (let i: u64 = 0; i < min<u64>(pages, LONGEST); i++) {
    const other = startingAt(page + i)
    if (other != 0) evict(other, page, pages)
  }
  const n = Extents.addExtent(state, arenaAt(base, Caches.arenaOfThread(Simulator.caller)), base, pages, 0)
  if (n != 0) {
    putStart(page, n)
    noteNew(n)
  }
  return n
}

/** Takes pages from an extent, because they belong to another one. */
function evict(n: u32, page: u64, pages: u32): void {
  if (Extents.extent(n).state == Extents.DIRTY || Extents.extent(n).state == Extents.RETAINED) {
    carve(n, page, pages)
    return
  }
  if (Extents.extent(n).state == Extents.RUN) Bins.forgetRun(n, Extents.extent(n).free)
  forgetPages(n)
}
