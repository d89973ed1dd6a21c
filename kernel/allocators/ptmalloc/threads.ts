/**
 * Threads: the arena of each, and its cache of free chunks, with a list for each size that begins with the chunk freed
 * last.
 */
import { giveRoom, takeZeros } from '../../live/room'
import { GROWING, GrowingTable } from '../../shared/grow'
import { bytesOf, CACHED, LAST, link, linkAt, NEXT, setLink, setState, USED } from './chunks'
import { save, set32 } from './log'
import { CACHE_BINS, cacheBin, cacheDepth, least } from './rules'

/** Offsets in a record: the thread's arena, 0 if it has none yet; the chunk of its cache, 0 if it has none. */
export const OWN_ARENA: usize = 0
export const OWN_CACHE: usize = 4
/** The number of chunks in each list, and the first of each. */
const COUNTS: usize = 16
const LISTS: usize = 80
const RECORD_LOG: u32 = 9

const MOST: u32 = 1 << 20
const FEWEST: u32 = 12
/** The records of threads by number, 0 for none. */
const table = changetype<GrowingTable>(memory.data(GROWING))

/** Removes all threads. @returns false if memory is exhausted */
export function clearThreads(): bool {
  if (table.at != 0) for (let i: u32 = 0; i < (<u32>1) << (table.log - 2); i++) endThread(i)
  table.drop()
  return table.reserve(1 << FEWEST)
}

/** The record of a thread, a new one if it has none; 0 if there is no room. @param number from 0 */
// @ts-ignore: decorator
@inline
export function threadAt(number: u32): usize {
  if (number < (<u32>1) << (table.log - 2)) {
    const record = <usize>load<u32>(table.at + ((<usize>number) << 2))
    if (record != 0) return record
  }
  return newThread(number)
}

function newThread(number: u32): usize {
  if (number >= MOST) return 0
  if (!table.reserve((<u64>number + 1) << 2)) return 0
  const record = takeZeros(RECORD_LOG)
  if (record == 0) return 0
  store<u32>(table.at + ((<usize>number) << 2), <u32>record)
  return record
}

/** Whether a thread has a record. */
export function knowsThread(number: u32): bool {
  return number < (<u32>1) << (table.log - 2) && load<u32>(table.at + ((<usize>number) << 2)) != 0
}

/** Removes the record of a thread. */
export function endThread(number: u32): void {
  if (!knowsThread(number)) return
  const at = table.at + ((<usize>number) << 2)
  giveRoom(<usize>load<u32>(at), RECORD_LOG)
  store<u32>(at, 0)
}

// @ts-ignore: decorator
@inline
function countAt(thread: usize, bin: u32): usize {
  return thread + COUNTS + <usize>bin
}

// @ts-ignore: decorator
@inline
function listAt(thread: usize, bin: u32): usize {
  return thread + LISTS + ((<usize>bin) << 2)
}

/** The number of chunks in a list of a cache. */
// @ts-ignore: decorator
@inline
export function cached(thread: usize, bin: u32): u32 {
  return <u32>load<u8>(countAt(thread, bin))
}

/** The first chunk of a list, 0 if it is empty. */
// @ts-ignore: decorator
@inline
export function firstCached(thread: usize, bin: u32): u32 {
  return load<u32>(listAt(thread, bin))
}

/** Adds a used chunk to the cache. @returns false if the thread has no cache, or no room in it */
// @ts-ignore: decorator
@inline
export function putCached(thread: usize, chunk: u32): bool {
  if (load<u32>(thread, OWN_CACHE) == 0) return false
  const bytes = bytesOf(chunk)
  const wide = cacheBin(bytes)
  if (wide >= CACHE_BINS || bytes < least) return false
  const bin = <u32>wide
  const count = cached(thread, bin)
  if (count >= cacheDepth) return false
  setLink(chunk, NEXT, firstCached(thread, bin))
  setLink(chunk, LAST, <u32>thread)
  setState(chunk, CACHED)
  set32(listAt(thread, bin), chunk)
  setCount(thread, bin, count + 1)
  return true
}

/** Removes the first chunk of a list that is not empty. */
// @ts-ignore: decorator
@inline
export function takeCached(thread: usize, bin: u32): u32 {
  const chunk = firstCached(thread, bin)
  set32(listAt(thread, bin), link(chunk, NEXT))
  setCount(thread, bin, cached(thread, bin) - 1)
  setState(chunk, USED)
  return chunk
}

/** Removes a chunk from its cache. @returns whether it was there */
export function pullCached(chunk: u32): bool {
  const thread = <usize>link(chunk, LAST)
  const bin = <u32>cacheBin(bytesOf(chunk))
  let at = listAt(thread, bin)
  for (let i = cached(thread, bin); i > 0; i--) {
    const here = load<u32>(at)
    if (here == chunk) {
      set32(at, link(chunk, NEXT))
      setCount(thread, bin, cached(thread, bin) - 1)
      setState(chunk, USED)
      return true
    }
    at = linkAt(here, NEXT)
  }
  return false
}

// @ts-ignore: decorator
@inline
function setCount(thread: usize, bin: u32, count: u32): void {
  const at = countAt(thread, bin)
  save(at & ~3)
  store<u8>(at, <u8>count)
}
