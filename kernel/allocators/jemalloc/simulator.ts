/**
 * Computes the addresses that jemalloc returns from the calls. `allocate` makes a call; if its result is wrong,
 * `settle` (repair.ts) corrects it. A handle identifies a block: the number of its extent, and its region's number.
 */
import { MEMALIGN, REALLOC } from '../../../lib/kernel/layouts/allocators'
import { clearBins, isRegion, REGION_LOG, regionOf, returnRegion, runOf, takeRegion } from './bins'
import * as Caches from './caches'
import * as Rules from './rules'
import { isHuge } from './chunks'
import { clearExtents, exists, extent, isFree, isLive, KEPT, LARGE, setLive } from './extents'
import { clearPageMap } from './page-map'
import { clearPages, freePages, resizePages, takePages } from './pages'
import { areFixed, confirmRegion, fixRegions } from './regions'

/**
 * The size that the C++ library, which jemalloc 5 needs, allocates when a program begins. The trace may lack that
 * block.
 */
const POOL: u64 = 72_704
let isFirst: bool = true
/** The smallest block that is not a region (5). */
const LEAST_LARGE: u64 = 16_384
/** The size from which on blocks are not predicted, but still simulated where addresses follow from the calls. */
const MOST_SIZE: u64 = 1 << 43

/** The cores of a machine with the largest simulated number of arenas, without the arena of the largest blocks (5). */
const CORES: u32 = 15

/** The call to be predicted: its thread, its class of sizes and pages, and the predicted block. */
export let caller: usize = 0
export let wantedClass: u32 = 0
export let wantedPages: u32 = 0
export let guess: u32 = 0
/** The block that realloc resizes, 0 for other functions; and whether it was already freed. */
export let resized: u32 = 0
export let isMoved: bool = false
/** Whether the last call can be settled. */
export let isOpen: bool = false

/** The sizes of the recorder's own blocks: before a free, and after another call; 0: none. */
let beforeFree: u32 = 0
let afterOthers: u32 = 0
/** The thread that will make the latter block. */
let recording: usize = 0

/**
 * Begins a simulation.
 * @param version of jemalloc: 3, 4 or 5
 * @param bits of a word, 32 or 64
 * @param cores the number of the machine's cores, which limits the number of arenas
 * @param entries the size of the block that the recorder makes before a free and, times 65536, after another call
 * @returns false if there is no such version, or memory is exhausted
 */
export function start(version: i32, bits: i32, cores: u32, entries: u64): bool {
  // The previous simulation is cleared by its own rules.
  Rules.setCaches(true)
  Caches.clearCaches()
  clearExtents()
  clearBins()
  clearPages()
  isOpen = false
  isFirst = true
  recording = 0
  beforeFree = (<u32>entries) & 0xffff
  afterOthers = (<u32>(entries >> 16)) & 0xffff
  return Rules.setRules(version, bits, cores) && clearPageMap()
}

/**
 * Begins a simulation without a trace to compare with: all addresses follow from the calls.
 * @param version and @param bits as for `start` @param withCaches whether threads have caches
 * @param top the upper end of all addresses
 * @returns false if there is no such version, or memory is exhausted
 */
export function startFixed(version: i32, bits: i32, withCaches: bool, top: u64): bool {
  if (!start(version, bits, CORES, 0)) return false
  Rules.setCaches(withCaches)
  fixRegions(top)
  return true
}

/** Notes that the call was settled. */
export function close(): void {
  isOpen = false
}

/** Ends the last call. A call that was not settled was right. */
function begin(): void {
  if (isOpen && guess != 0 && exists(runOf(guess))) {
    extent(runOf(guess)).guessed = 0
    confirmRegion(extent(runOf(guess)).base)
  }
  isOpen = false
  if (recording != 0) record(recording, afterOthers)
}

/** Whether a handle identifies a live block. */
// @ts-ignore: decorator
@inline
export function isBlock(handle: u32): bool {
  const n = runOf(handle)
  if (!exists(n)) return false
  return isRegion(handle) ? isLive(n, regionOf(handle)) : extent(n).state == LARGE
}

/**
 * Predicts the block of a call.
 * @param more the alignment for memalign
 * @param old the live block that realloc resizes
 * @returns its handle, 0 if no prediction is possible
 */
export function allocate(called: u32, number: u32, more: u64, old: u32, bytes: u64): u32 {
  begin()
  caller = Caches.threadAt(number)
  guess = resized = 0
  isMoved = false
  isOpen = caller != 0 && (areFixed ? bytes <= MOST_SIZE : bytes < MOST_SIZE)
  if (!isOpen) return 0
  let size = max<u64>(bytes, 1)
  let alignment: u64 = 1
  let isCachable = true
  if (called == MEMALIGN && (more & (more - 1)) == 0 && more < MOST_SIZE) {
    alignment = max<u64>(more, 1)
    const rounded = (size + alignment - 1) & ~(alignment - 1)
    if (Rules.knowsPages && (alignment > Rules.PAGE || !Rules.isSmall(Rules.classOf(rounded)))) {
      isCachable = false
      size = max(size, LEAST_LARGE)
    } else if (alignment <= Rules.PAGE) size = rounded
    else {
      isCachable = false
      // When it is freed, a block of a few pages that is not a region would be taken for one.
      if (areFixed && !Rules.hasHeaders) size = max(size, LEAST_LARGE)
    }
  }
  if (isFirst && Rules.knowsPages && bytes != POOL) Caches.skipFirst(caller)
  isFirst = false
  wantedClass = isCachable ? Rules.classOf(size) : Rules.cachedClasses
  wantedPages = Rules.isSmall(wantedClass) ? 0 : <u32>Rules.pagesFor(size) + Rules.largePad
  const usable = Rules.isSmall(wantedClass)
    ? <u64>Rules.sizeClass(wantedClass).size
    : (<u64>(wantedPages - Rules.largePad)) << Rules.PAGE_LOG
  if (called == REALLOC && isBlock(old)) {
    resized = old
    if (hasClass(old)) guess = old
  }
  const before = resized != 0 ? usableOf(resized) : 0
  if (resized != 0 && guess == 0 && !isRegion(resized) && !Rules.isSmall(wantedClass)) {
    if (resizePages(runOf(resized), wantedPages)) guess = resized
  }
  if (guess == 0) {
    guess = wantedClass < Rules.cachedClasses ? takeCached() : takeLarge(alignment)
    if (guess != 0) setInUse(guess)
    isMoved = resized != 0
    if (isMoved) free(caller, resized)
  }
  tally(usable, false)
  if (resized != 0 && (isMoved || Rules.isByBytes)) tally(before, true)
  if (afterOthers != 0) recording = caller
  return guess
}

function tally(bytes: u64, isFree: bool): void {
  if (!Rules.hasCaches) return
  if (Rules.isByBytes) Caches.count(caller, bytes, isFree)
  else Caches.count(caller, 1, false)
}

/** Whether a block has the wanted class, so that realloc returns it unchanged. */
function hasClass(handle: u32): bool {
  const n = runOf(handle)
  if (isRegion(handle)) return extent(n).class == wantedClass
  return !Rules.isSmall(wantedClass) && (isHuge(n) ? extent(n).block : extent(n).pages) == wantedPages
}

/** The bytes of a block. */
export function usableOf(handle: u32): u64 {
  const n = runOf(handle)
  if (isRegion(handle)) return Rules.sizeClass(extent(n).class).size
  const pages = isHuge(n) ? extent(n).block : max(extent(n).pages, Rules.largePad) - Rules.largePad
  return (<u64>pages) << Rules.PAGE_LOG
}

/** The class of a block. */
// @ts-ignore: decorator
@inline
export function classOfBlock(handle: u32): u32 {
  return isRegion(handle) ? extent(runOf(handle)).class : Rules.classOf(usableOf(handle))
}

/** Marks a block that was taken as live. */
export function setInUse(handle: u32): void {
  if (isRegion(handle)) setLive(runOf(handle), regionOf(handle), true)
  else extent(runOf(handle)).state = LARGE
}

/** Takes a block of the wanted class from the thread's cache, or fills that. */
function takeCached(): u32 {
  if (!Rules.hasCaches)
    return Rules.isSmall(wantedClass) ? takeRegion(Caches.arenaOfThread(caller), wantedClass) : takeLarge(1)
  let cache = Caches.cacheOf(caller, wantedClass)
  if (cache == 0) return 0
  let handle = popValid(cache)
  if (handle != 0) return handle
  if (!Rules.isSmall(wantedClass)) return takeLarge(1)
  cache = Caches.fill(caller, cache, wantedClass)
  return popValid(cache)
}

/** Takes the newest block of a cache that is still valid. */
function popValid(cache: usize): u32 {
  for (let handle = Caches.pop(cache); handle != 0; handle = Caches.pop(cache))
    if (isCached(handle, wantedClass)) return handle
  return 0
}

/** Whether a cache may hold this block, because it is neither live nor free. */
function isCached(handle: u32, c: u32): bool {
  if (!Rules.isSmall(c)) return Caches.isKept(handle)
  if (!isRegion(handle)) return false
  const n = runOf(handle)
  const region = regionOf(handle)
  return extent(n).class == c && !isLive(n, region) && !isFree(n, region)
}

/** Takes pages for a large block. */
function takeLarge(alignment: u64): u32 {
  return takePages(Caches.arenaOfThread(caller), wantedPages, alignment, LARGE) << REGION_LOG
}

/** A thread frees a live block. */
export function free(thread: usize, handle: u32): void {
  const n = runOf(handle)
  if (isRegion(handle)) {
    setLive(n, regionOf(handle), false)
    if (Rules.hasCaches) Caches.freeToCache(thread, extent(n).class, handle)
    else returnRegion(handle)
    return
  }
  const c = classOfBlock(handle)
  if (c >= Rules.cachedClasses || !Rules.hasCaches) freePages(n)
  else {
    extent(n).state = KEPT
    Caches.freeToCache(thread, c, handle)
  }
}

/** A thread frees a block. */
export function release(number: u32, handle: u32): void {
  begin()
  caller = Caches.threadAt(number)
  if (caller == 0) return
  if (beforeFree != 0) record(caller, beforeFree)
  if (!isBlock(handle)) return
  const bytes = usableOf(handle)
  free(caller, handle)
  tally(bytes, true)
}

/** Allocates a block of the recorder itself. */
function record(thread: usize, size: u32): void {
  recording = 0
  if (size == 0) return
  caller = thread
  wantedClass = Rules.classOf(size)
  wantedPages = 0
  if (!Rules.isSmall(wantedClass)) return
  const handle = takeCached()
  if (handle != 0) setInUse(handle)
  tally(Rules.sizeClass(wantedClass).size, false)
}

/** A thread ends. */
export function finish(number: u32): void {
  begin()
  const thread = Caches.threadAt(number)
  if (thread != 0) Caches.endThread(thread)
}
