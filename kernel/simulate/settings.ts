/** Settings of the simulation, and figures that all policies keep. */

/** The policies, as in lib/transforms/simulate/policies.ts. */
export const FIRST_FIT: i32 = 0
export const NEXT_FIT: i32 = 1
export const BEST_FIT: i32 = 2
export const BINARY_BUDDY: i32 = 3
export const DOUBLE_BUDDY: i32 = 4
export const WEIGHTED_BUDDY: i32 = 5
export const SEGREGATED: i32 = 6
export const BUMP: i32 = 7
export const PTMALLOC: i32 = 8
export const JEMALLOC: i32 = 9
export const IDEAL: i32 = 10

/** The orders of the list of first fit. */
export const BY_ADDRESS: i32 = 0
export const LIFO: i32 = 1
export const FIFO: i32 = 2

export let policy: i32 = FIRST_FIT
export let order: i32 = BY_ADDRESS
export let isDeferred: bool = false
export let header: u64 = 0
/** The alignment of all blocks, and the size of the smallest. */
export let granule: u64 = 16
export let smallest: u64 = 16
export let page: u64 = 4096
/** The bytes from which on free memory at the end of a heap is returned; the largest number: never. */
export let trim: u64 = 0

/** The largest heap, in bytes. Each heap begins at this address. */
export const ROOM: u64 = 1 << 45
export const BASE: u64 = 1 << 45

export function setSettings(
  newPolicy: i32,
  newOrder: i32,
  newDeferred: bool,
  newHeader: u64,
  newGranule: u64,
  newSmallest: u64,
  newPage: u64,
  newTrim: u64,
): void {
  policy = newPolicy
  order = newOrder
  isDeferred = newDeferred
  // Places in spans are at multiples of the alignment, and so are blocks.
  header = newPolicy == SEGREGATED ? roundUp(newHeader, newGranule) : newHeader
  granule = newGranule
  smallest = newSmallest
  page = newPage
  trim = newTrim
  used = 0
}

/** The bytes that all heaps have from the system. */
export let used: u64 = 0

// @ts-ignore: decorator
@inline
export function addUsed(bytes: u64): void {
  used += bytes
}

/** The start of the block that was allocated last, its bytes, and its node or arena. */
export let start: u64 = 0
export let granted: u64 = 0
export let place: u32 = 0

// @ts-ignore: decorator
@inline
export function give(at: u64, bytes: u64, where: u32): bool {
  start = at
  granted = bytes
  place = where
  return true
}

/** The number of searches of a list, the sum of the blocks that they examined, and the longest. */
export let searches: f64 = 0
export let examined: f64 = 0
export let longest: f64 = 0

export function noteSearch(length: u32): void {
  searches++
  examined += <f64>length
  longest = max(longest, <f64>length)
}

export function clearSearches(): void {
  searches = examined = longest = 0
}

export function roundUp(value: u64, to: u64): u64 {
  return (value + to - 1) & ~(to - 1)
}
