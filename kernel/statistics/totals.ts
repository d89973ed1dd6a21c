/** Blocks and bytes allocated, freed and live, as lib/transforms/statistics/totals.ts counts them. */
import { HAS_TIME } from '../shared/event'
import { leaveMaximum, reachMaximum } from './peak'
import { addTo, copySum, count, raise, takeFrom } from './sums'

/** The layout of the counts and sums in memory. */
export const TOTALS: usize = memory.data(160)
export const ALLOCATIONS: usize = TOTALS
export const FREES: usize = TOTALS + 8
export const ALLOCATED: usize = TOTALS + 16
const FREED: usize = TOTALS + 32
export const LIVE: usize = TOTALS + 48
const PEAK_LIVE: usize = TOTALS + 56
export const LIVE_BYTES: usize = TOTALS + 64
const MOST_BYTES: usize = TOTALS + 80
const SMALLEST: usize = TOTALS + 96
const LARGEST: usize = TOTALS + 104
/** Blocks that were live when another one began at the same address, and their bytes. */
const OVERLAPS: usize = TOTALS + 112
const OVERLAP_BYTES: usize = TOTALS + 120

/** The moments of the peaks: event, blocks, bytes, bytes allocated, whether the time is known, and time. */
export const PEAK_BYTES: usize = memory.data(64)
export const PEAK_BLOCKS: usize = memory.data(64)

/**
 * A block of this size began at an event with this number, mask and time. Call this, and the functions below, before
 * the rows of the block's owners change: see peak.ts.
 */
// @ts-ignore: decorator
@inline
export function allocates(size: u64, event: u64, mask: u32, time: u64): void {
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
  if (raise(MOST_BYTES, LIVE_BYTES)) {
    mark(PEAK_BYTES, event, mask, time)
    reachMaximum()
  } else {
    leaveMaximum()
  }
  if (isMore) mark(PEAK_BLOCKS, event, mask, time)
}

// @ts-ignore: decorator
@inline
function mark(peak: usize, event: u64, mask: u32, time: u64): void {
  store<u64>(peak, event)
  store<u64>(peak, load<u64>(LIVE), 8)
  copySum(peak + 16, LIVE_BYTES)
  copySum(peak + 32, ALLOCATED)
  store<u64>(peak, <u64>(mask & HAS_TIME), 48)
  store<u64>(peak, time, 56)
}

/** A block of this size was freed. */
// @ts-ignore: decorator
@inline
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

// @ts-ignore: decorator
@inline
function loses(size: u64): void {
  leaveMaximum()
  store<u64>(LIVE, load<u64>(LIVE) - 1)
  takeFrom(LIVE_BYTES, size)
}

/** A trace ended: no block is live. */
export function endTotals(): void {
  store<u64>(LIVE, 0)
  store<u64>(LIVE_BYTES, 0)
  store<u64>(LIVE_BYTES, 0, 8)
}
