/** Caches of threads: per class, a stack of blocks that the thread freed, or that it took from a bin in a batch. */
import { giveRoom, takeRoom, takeZeros } from '../../live/room'
import { returnRegion, runOf, takeRegion } from './bins'
import { exists, extent, KEPT, LARGE } from './extents'
import { freePages, takePages } from './pages'
import * as Rules from './rules'

/** Threads, in pieces of 1024: pointers to records. */
const DIRECTORY: usize = memory.data(4096)
const PIECE: u32 = 10
const MOST_THREADS: u32 = 1 << 20

/**
 * A thread: caches in groups of 8 classes; its arena + 1; calls or bytes since the last check of a class; that class.
 */
const THREAD_LOG: u32 = 6
const ARENA: usize = 32
const COUNTED: usize = 36
const COUNTED_FREES: usize = 40
const NEXT: usize = 44
/** The pages that its caches take (5). */
const OWN: usize = 48
const CACHE_PAGES: u32 = 8
const GROUP_LOG: u32 = 6

/** A cache: its number of blocks, its capacity, the lowest number since its last check, and how much a fill takes. */
const COUNT: usize = 0
const ROOM_LOG: usize = 2
const DIVIDE: usize = 3
const LOW: usize = 4
const FILLED: usize = 6
const BLOCKS: usize = 8
const CACHE_LOG: u32 = 6

let threads: u32 = 0
/** Forgets all threads. */
export function clearCaches(): void {
  for (let t: u32 = 0; t < MOST_THREADS; t += 1 << PIECE) {
    const piece = load<u32>(DIRECTORY + ((<usize>(t >> PIECE)) << 2))
    if (piece == 0) continue
    for (let i: u32 = 0; i < 1 << PIECE; i++) {
      const thread = <usize>load<u32>(piece + ((<usize>i) << 2))
      if (thread != 0) giveThread(thread)
    }
    giveRoom(piece, PIECE + 2)
  }
  memory.fill(DIRECTORY, 0, 4096)
  threads = 0
}

function giveThread(thread: usize): void {
  for (let group: usize = 0; group < Rules.MOST_CLASSES >> 3; group++) {
    const caches = <usize>load<u32>(thread + (group << 2))
    if (caches == 0) continue
    for (let i: usize = 0; i < 8; i++) {
      const cache = <usize>load<u32>(caches + (i << 2))
      if (cache != 0) giveRoom(cache, load<u8>(cache, ROOM_LOG))
    }
    giveRoom(caches, GROUP_LOG)
  }
  giveRoom(thread, THREAD_LOG)
}

/** The record of a thread; 0 if memory is exhausted. */
export function threadAt(number: u32): usize {
  const t = min(number, MOST_THREADS - 1)
  const entry = DIRECTORY + ((<usize>(t >> PIECE)) << 2)
  let piece = <usize>load<u32>(entry)
  if (piece == 0) {
    piece = takeZeros(PIECE + 2)
    if (piece == 0) return 0
    store<u32>(entry, <u32>piece)
  }
  const place = piece + ((<usize>(t & ((1 << PIECE) - 1))) << 2)
  let thread = <usize>load<u32>(place)
  if (thread == 0) {
    thread = takeZeros(THREAD_LOG)
    if (thread == 0) return 0
    store<u32>(place, <u32>thread)
    store<u32>(thread, (threads++ % Rules.mostArenas) + 1, ARENA)
    // The caches of the first thread are at the start of the program's memory.
    if (Rules.knowsPages && Rules.hasCaches && threads > 1) store<u32>(thread, takePages(0, CACHE_PAGES, 1, LARGE), OWN)
  }
  return thread
}

export function arenaOfThread(thread: usize): u32 {
  return load<u32>(thread, ARENA) - 1
}
export function setArena(thread: usize, arena: u32): void {
  store<u32>(thread, arena + 1, ARENA)
}

function groupAt(thread: usize, c: u32): usize {
  return thread + ((<usize>(c >> 3)) << 2)
}

/** The place of a thread's cache for a class in a group that there is. */
function placeOf(thread: usize, c: u32): usize {
  return <usize>load<u32>(groupAt(thread, c)) + ((<usize>(c & 7)) << 2)
}

/** The cache that a thread has for a class, 0 if it has none. */
function knownCache(thread: usize, c: u32): usize {
  return load<u32>(groupAt(thread, c)) == 0 ? 0 : <usize>load<u32>(placeOf(thread, c))
}

/** A thread's cache for a class; 0 if memory is exhausted. */
// @ts-ignore: decorator
@inline
export function cacheOf(thread: usize, c: u32): usize {
  const cache = knownCache(thread, c)
  return cache != 0 ? cache : newCache(thread, c)
}

function newCache(thread: usize, c: u32): usize {
  if (load<u32>(groupAt(thread, c)) == 0) {
    const group = takeZeros(GROUP_LOG)
    if (group == 0) return 0
    store<u32>(groupAt(thread, c), <u32>group)
  }
  const cache = takeRoom(CACHE_LOG)
  if (cache == 0) return 0
  memory.fill(cache, 0, BLOCKS)
  store<u8>(cache, <u8>CACHE_LOG, ROOM_LOG)
  store<u8>(cache, 1, DIVIDE)
  store<u32>(placeOf(thread, c), <u32>cache)
  return cache
}

export function countOf(cache: usize): u32 {
  return load<u16>(cache, COUNT)
}
export function blockIn(cache: usize, i: u32): u32 {
  return load<u32>(cache + ((<usize>i) << 2), BLOCKS)
}
export function setCount(cache: usize, count: u32): void {
  store<u16>(cache, <u16>count, COUNT)
  if (<i32>count < <i32>load<i16>(cache, LOW)) store<i16>(cache, <i16>count, LOW)
}
/** The number of regions that a cache takes from a bin at once. */
export function fillOf(cache: usize, c: u32): u32 {
  return max<u32>(1, Rules.sizeClass(c).slots >> load<u8>(cache, DIVIDE))
}

/** Adds a block as the newest. @returns the cache, which may have moved */
export function push(thread: usize, cache: usize, c: u32, handle: u32): usize {
  const count = countOf(cache)
  const log = <u32>load<u8>(cache, ROOM_LOG)
  if (BLOCKS + ((count + 1) << 2) > (<u32>1) << log) {
    const larger = takeRoom(log + 1)
    if (larger == 0) return cache
    memory.copy(larger, cache, (<usize>1) << log)
    giveRoom(cache, log)
    cache = larger
    store<u8>(cache, <u8>(log + 1), ROOM_LOG)
    store<u32>(placeOf(thread, c), <u32>cache)
  }
  store<u32>(cache + ((<usize>count) << 2), handle, BLOCKS)
  store<u16>(cache, <u16>(count + 1), COUNT)
  return cache
}

/** Fills an empty cache from the thread's bin. @returns the cache, which may have moved */
export function fill(thread: usize, cache: usize, c: u32): usize {
  const arena = arenaOfThread(thread)
  const wanted = fillOf(cache, c)
  store<u8>(cache, 1, FILLED)
  for (let i: u32 = 0; i < wanted; i++) {
    const handle = takeRegion(arena, c)
    if (handle == 0) break
    cache = push(thread, cache, c, handle)
  }
  reverse(cache)
  return cache
}

/** The lowest regions, which came first, are taken first. */
export function reverse(cache: usize): void {
  let i: u32 = 0
  for (let j = countOf(cache); i + 1 < j; i++) {
    j--
    const low = cache + BLOCKS + ((<usize>i) << 2)
    const high = cache + BLOCKS + ((<usize>j) << 2)
    const handle = load<u32>(low)
    store<u32>(low, load<u32>(high))
    store<u32>(high, handle)
  }
}

/** Takes the newest block. @returns 0 if there is none */
export function pop(cache: usize): u32 {
  const count = countOf(cache)
  if (count == 0) {
    store<i16>(cache, -1, LOW)
    return 0
  }
  setCount(cache, count - 1)
  return blockIn(cache, count - 1)
}

/** Gives the oldest blocks of a cache back. */
export function flush(cache: usize, c: u32, blocks: u32): void {
  const count = countOf(cache)
  const flushed = min(blocks, count)
  for (let i: u32 = 0; i < flushed; i++) giveBack(blockIn(cache, Rules.isByBytes ? flushed - 1 - i : i), c)
  const rest = count - flushed
  memory.copy(cache + BLOCKS, cache + BLOCKS + ((<usize>flushed) << 2), (<usize>rest) << 2)
  setCount(cache, rest)
}

/** Returns a cached block to its arena. */
export function giveBack(handle: u32, c: u32): void {
  if (Rules.isSmall(c)) returnRegion(handle)
  else if (isKept(handle)) freePages(runOf(handle))
}

/** Whether a handle identifies a large block in a cache. */
export function isKept(handle: u32): bool {
  const n = runOf(handle)
  return exists(n) && extent(n).state == KEPT
}

/** A thread frees a block of a class. */
export function freeToCache(thread: usize, c: u32, handle: u32): void {
  let cache = cacheOf(thread, c)
  if (cache == 0) return
  const slots = Rules.sizeClass(c).slots
  if (countOf(cache) >= slots) flush(cache, c, countOf(cache) - (slots >> 1))
  push(thread, cache, c, handle)
}

/** Counts calls, or bytes. When the count reaches a limit, the next class of the thread's cache is checked. */
export function count(thread: usize, amount: u64, isFree: bool): void {
  const counter = thread + (isFree ? COUNTED_FREES : COUNTED)
  const counted = <u64>load<u32>(counter) + amount
  if (counted < Rules.sweep) {
    store<u32>(counter, <u32>counted)
    return
  }
  store<u32>(counter, 0)
  const c = load<u32>(thread, NEXT)
  store<u32>(thread, c + 1 >= Rules.cachedClasses ? 0 : c + 1, NEXT)
  const cache = knownCache(thread, c)
  if (cache != 0) look(cache, c)
}

/** Returns three quarters of the blocks that were not used since the last check. */
function look(cache: usize, c: u32): void {
  const low = <i32>load<i16>(cache, LOW)
  const divide = load<u8>(cache, DIVIDE)
  if (low > 0) {
    flush(cache, c, low - (low >> 2))
    if (Rules.isSmall(c) && Rules.sizeClass(c).slots >> (divide + 1) >= 1) store<u8>(cache, divide + 1, DIVIDE)
  } else if (Rules.isSmall(c) && load<u8>(cache, FILLED) != 0) {
    if (divide > 1) store<u8>(cache, divide - 1, DIVIDE)
    store<u8>(cache, 0, FILLED)
  }
  store<i16>(cache, <i16>countOf(cache), LOW)
}

/** Ends a thread: all blocks of its caches are returned. */
export function endThread(thread: usize): void {
  for (let c: u32 = 0; c < Rules.cachedClasses; c++) {
    const cache = knownCache(thread, c)
    if (cache == 0) continue
    flush(cache, c, countOf(cache))
    store<u32>(placeOf(thread, c), 0)
    giveRoom(cache, load<u8>(cache, ROOM_LOG))
  }
  const own = load<u32>(thread, OWN)
  store<u32>(thread, 0, OWN)
  if (exists(own) && extent(own).state == LARGE) freePages(own)
}

/** Notes that the first class of a thread's cache was checked. */
export function skipFirst(thread: usize): void {
  store<u32>(thread, 1, NEXT)
}
