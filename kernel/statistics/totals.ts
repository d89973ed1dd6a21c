/** Blocks and bytes allocated, freed and live, as lib/transforms/statistics/totals.ts counts them. */
import { BY_HEAPTRACK, BY_MEMRAY } from '../../lib/kernel/layouts/live'
import * as at from '../../lib/kernel/layouts/totals'
import { HAS_TIME } from '../shared/event'
import { leaveMaximum, reachMaximum } from './peak'
import { addSum, addTo, copySum, count, raise, takeFrom, takeSum } from './sums'

/** The counts and sums. */
export const TOTALS: usize = memory.data(160)
export const ALLOCATIONS: usize = TOTALS + at.ALLOCATIONS
export const FREES: usize = TOTALS + at.FREES
export const ALLOCATED: usize = TOTALS + at.ALLOCATED
const FREED: usize = TOTALS + at.FREED
export const LIVE: usize = TOTALS + at.LIVE
const PEAK_LIVE: usize = TOTALS + at.PEAK_LIVE
export const LIVE_BYTES: usize = TOTALS + at.LIVE_BYTES
const MOST_BYTES: usize = TOTALS + at.MOST_BYTES
const SMALLEST: usize = TOTALS + at.SMALLEST
const LARGEST: usize = TOTALS + at.LARGEST
const OVERLAPS: usize = TOTALS + at.OVERLAPS
const OVERLAP_BYTES: usize = TOTALS + at.OVERLAP_BYTES
const UNFREED: usize = TOTALS + at.UNFREED
const UNFREED_BYTES: usize = TOTALS + at.UNFREED_BYTES

/** Blocks that were temporary by both definitions, and their bytes. */
export const HEAPTRACK: usize = memory.data(24)
export const MEMRAY: usize = memory.data(24)

/** The moments of the peaks. */
export const PEAK_BYTES: usize = memory.data(64)
export const PEAK_BLOCKS: usize = memory.data(64)

/**
 * A block of this size began at an event with this number, mask and time. Call this, and the functions below, before
 * the rows of the block's owners change: see peak.ts.
 * @returns whether live bytes reached a new maximum
 */
// @ts-ignore: decorator
@inline
export function allocates(size: u64, event: u64, mask: u32, time: u64): bool {
  count(ALLOCATIONS)
  addTo(ALLOCATED, size)
  addTo(LIVE_BYTES, size)
  if (size > load<u64>(LARGEST)) store<u64>(LARGEST, size)
  const smallest = load<u64>(SMALLEST)
  if (size < smallest || smallest == 0) store<u64>(SMALLEST, size)
  const live = load<u64>(LIVE) + 1
  store<u64>(LIVE, live)
  const isMore = live > load<u64>(PEAK_LIVE)
  if (isMore) store<u64>(PEAK_LIVE, live)
  const isHighest = raise(MOST_BYTES, LIVE_BYTES)
  if (isHighest) {
    mark(PEAK_BYTES, event, mask, time)
    reachMaximum()
  } else {
    leaveMaximum()
  }
  if (isMore) mark(PEAK_BLOCKS, event, mask, time)
  return isHighest
}

function mark(peak: usize, event: u64, mask: u32, time: u64): void {
  store<u64>(peak, event, at.AT_EVENT)
  store<u64>(peak, load<u64>(LIVE), at.AT_BLOCKS)
  copySum(peak + at.AT_BYTES, LIVE_BYTES)
  copySum(peak + at.AT_ALLOCATED, ALLOCATED)
  store<u64>(peak, <u64>(mask & HAS_TIME), at.AT_TIMED)
  store<u64>(peak, time, at.AT_TIME)
}

/** A block of this size was freed. */
export function frees(size: u64): void {
  count(FREES)
  addTo(FREED, size)
  loses(size)
}

/** A block of this size ended without a free: another one began at its address. */
export function overlaps(size: u64): void {
  count(OVERLAPS)
  addTo(OVERLAP_BYTES, size)
  loses(size)
}

/** A block of this size ended with its process. */
export function endsUnfreed(size: u64): void {
  count(UNFREED)
  addTo(UNFREED_BYTES, size)
  loses(size)
}

/** Blocks ended with their process. @param bytes their sum */
export function endAllUnfreed(blocks: u64, bytes: usize): void {
  if (blocks == 0) return
  store<u64>(UNFREED, load<u64>(UNFREED) + blocks)
  addSum(UNFREED_BYTES, bytes)
  leaveMaximum()
  store<u64>(LIVE, load<u64>(LIVE) - blocks)
  takeSum(LIVE_BYTES, bytes)
}

function loses(size: u64): void {
  leaveMaximum()
  store<u64>(LIVE, load<u64>(LIVE) - 1)
  takeFrom(LIVE_BYTES, size)
}

/** Adds a block that was temporary, as `fate` says, to two amounts. */
export function addTemporary(toHeaptrack: usize, toMemray: usize, size: u64, fate: u32): void {
  if ((fate & BY_HEAPTRACK) != 0) {
    count(toHeaptrack)
    addTo(toHeaptrack + 8, size)
  }
  if ((fate & BY_MEMRAY) != 0) {
    count(toMemray)
    addTo(toMemray + 8, size)
  }
}

/** A trace ended: no block is live. */
export function endTotals(): void {
  store<u64>(LIVE, 0)
  store<u64>(LIVE_BYTES, 0)
  store<u64>(LIVE_BYTES, 0, 8)
}
