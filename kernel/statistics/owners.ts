/**
 * Tables of the blocks of sites and threads, by row; lib/transforms/statistics numbers the rows, and
 * lib/kernel/layouts/owners.ts has their fields. All are 64-bit
 * integers. A block belongs to the site and the thread that allocated or resized it last.
 */
import {
  ALLOCATIONS,
  BYTES,
  HEAPTRACK,
  LEAK_BYTES,
  LEAKS,
  LIVE,
  LIVE_BYTES,
  MEMRAY,
  NONE,
  PEAK,
  PEAK_BYTES,
  S_EVENTS,
  S_FOREIGN,
  S_HITS,
  S_MOST,
  S_MOST_BLOCKS,
  S_REQUESTED,
  S_TIME,
  S_USABLE,
  SITE_BYTES,
  STAMP,
  T_EVENTS,
  T_FOREIGN,
  T_FREES,
  THREAD_BYTES,
} from '../../lib/kernel/layouts/owners'
import { GROWING, GrowingTable } from '../shared/grow'
import { maxima } from './peak'
import { addTemporary } from './totals'
import { addProduct, addSum, addTimes, addTo, copySum, count, raise, takeFrom } from './sums'

export const siteTable = changetype<GrowingTable>(memory.data(GROWING))
export const threadTable = changetype<GrowingTable>(memory.data(GROWING))

/** Makes room for this many rows. @returns whether there is memory */
export function makeRows(sites: u32, threads: u32): bool {
  return siteTable.reserve(<u64>sites * SITE_BYTES) && threadTable.reserve(<u64>threads * THREAD_BYTES)
}

// @ts-ignore: decorator
@inline
export function siteAt(row: u32): usize {
  return siteTable.at + <usize>row * SITE_BYTES
}

// @ts-ignore: decorator
@inline
export function threadAt(row: u32): usize {
  return threadTable.at + <usize>row * THREAD_BYTES
}

/** Saves the figures at the peak, if the row has not changed since. Call this before a change of the live figures. */
// @ts-ignore: decorator
@inline
export function savePeak(owner: usize): void {
  if (load<u64>(owner, STAMP) == maxima) return
  store<u64>(owner, maxima, STAMP)
  store<u64>(owner, load<u64>(owner, LIVE), PEAK)
  copySum(owner + PEAK_BYTES, owner + LIVE_BYTES)
}

/** Counts the start of a block of this size. */
// @ts-ignore: decorator
@inline
export function gains(owner: usize, size: u64): void {
  savePeak(owner)
  count(owner + ALLOCATIONS)
  count(owner + LIVE)
  addTo(owner + BYTES, size)
  addTo(owner + LIVE_BYTES, size)
}

/** Counts the end of a block of this size. */
// @ts-ignore: decorator
@inline
export function loses(owner: usize, size: u64): void {
  savePeak(owner)
  store<u64>(owner, load<u64>(owner, LIVE) - 1, LIVE)
  takeFrom(owner + LIVE_BYTES, size)
}

/** Counts the block of this size that just ended as temporary, as `fate` says (live/fates.ts). */
export function wasTemporary(owner: usize, size: u64, fate: u32): void {
  addTemporary(owner + HEAPTRACK, owner + MEMRAY, size, fate)
}

/** Ends a trace: live blocks have leaked. @param event @param time of the end, as for `siteLoses` */
export function ownersLeak(sites: u32, threads: u32, event: u64, time: u64): void {
  for (let row: u32 = 0; row < sites; row++) {
    const site = siteAt(row)
    addProduct(site + S_EVENTS, event, load<u64>(site, LIVE))
    addProduct(site + S_TIME, time, load<u64>(site, LIVE))
    leak(site)
  }
  for (let row: u32 = 0; row < threads; row++) leak(threadAt(row))
}

/** Counts the live blocks of a row as leaks. */
export function leak(owner: usize): void {
  const live = load<u64>(owner, LIVE)
  if (live == 0) return
  savePeak(owner)
  store<u64>(owner, load<u64>(owner, LEAKS) + live, LEAKS)
  store<u64>(owner, 0, LIVE)
  addSum(owner + LEAK_BYTES, owner + LIVE_BYTES)
  store<u64>(owner, 0, LIVE_BYTES)
  store<u64>(owner, 0, LIVE_BYTES + 8)
}

/** Counts a block of this size, which a row has just lost, as a leak. */
export function leakOne(owner: usize, size: u64): void {
  count(owner + LEAKS)
  addTo(owner + LEAK_BYTES, size)
}

/** Ends the stream: completes the figures at the peak of all rows. */
export function settleOwners(sites: u32, threads: u32): void {
  for (let row: u32 = 0; row < sites; row++) savePeak(siteAt(row))
  for (let row: u32 = 0; row < threads; row++) savePeak(threadAt(row))
}

/**
 * A block of this size began at a site. The total lifetime of its blocks is the sum of their end times minus the sum of
 * their start times.
 * @param event the number of the event, among those about blocks
 * @param time since the trace began
 */
// @ts-ignore: decorator
@inline
export function siteGains(site: usize, size: u64, event: u64, time: u64): void {
  gains(site, size)
  if (raise(site + S_MOST, site + LIVE_BYTES)) store<u64>(site, load<u64>(site, LIVE), S_MOST_BLOCKS)
  takeFrom(site + S_EVENTS, event)
  takeFrom(site + S_TIME, time)
}

/** Counts the end of a block of a site. The parameters are as for `siteGains`. */
// @ts-ignore: decorator
@inline
export function siteLoses(site: usize, size: u64, event: u64, time: u64): void {
  loses(site, size)
  addTo(site + S_EVENTS, event)
  addTo(site + S_TIME, time)
}

/** Counts a block of the site that another thread freed. */
export function siteIsForeign(site: usize): void {
  count(site + S_FOREIGN)
}

/** Adds the bytes that an allocation took, and the bytes that it requested. */
export function siteTook(site: usize, requested: u64, usable: u64): void {
  count(site + S_HITS)
  addTo(site + S_REQUESTED, requested)
  addTo(site + S_USABLE, usable)
}

/** Counts an event of a thread. */
// @ts-ignore: decorator
@inline
export function threadActs(thread: usize): void {
  count(thread + T_EVENTS)
}

/** @param isForeign another thread allocated the block */
// @ts-ignore: decorator
@inline
export function threadFrees(thread: usize, isForeign: bool): void {
  count(thread + T_FREES)
  if (isForeign) count(thread + T_FOREIGN)
}

/**
 * Counts the start of a block of this size at a site whose other figures are added up when the trace ends.
 * @param row of the site
 */
// @ts-ignore: decorator
@inline
export function siteHolds(row: u32, size: u64): void {
  const site = siteAt(row)
  count(site + LIVE)
  addTo(site + LIVE_BYTES, size)
  if (raise(site + S_MOST, site + LIVE_BYTES)) store<u64>(site, load<u64>(site, LIVE), S_MOST_BLOCKS)
}

/** Counts the end of a block of such a site. */
// @ts-ignore: decorator
@inline
export function siteReturns(row: u32, size: u64): void {
  const site = siteAt(row)
  store<u64>(site, load<u64>(site, LIVE) - 1, LIVE)
  takeFrom(site + LIVE_BYTES, size)
}

/** Counts events of no known thread. */
export function threadCounts(events: u32): void {
  const thread = threadAt(NONE)
  store<u64>(thread, load<u64>(thread, T_EVENTS) + <u64>events, T_EVENTS)
}

/** Counts frees of no known thread. */
export function threadFreed(frees: u64): void {
  const thread = threadAt(NONE)
  store<u64>(thread, load<u64>(thread, T_FREES) + frees, T_FREES)
}

/**
 * Before the figures of a trace are added up: no row has blocks at the peak that are not saved.
 * @param hasPeak the peak is in this trace, so no earlier block was live then
 */
export function beginSums(sites: u32, threads: u32, hasPeak: bool): void {
  for (let row: u32 = 0; row < sites; row++) beginSum(siteAt(row), hasPeak)
  for (let row: u32 = 0; row < threads; row++) beginSum(threadAt(row), hasPeak)
}

function beginSum(owner: usize, hasPeak: bool): void {
  if (!hasPeak && load<u64>(owner, STAMP) == maxima) return
  store<u64>(owner, maxima, STAMP)
  store<u64>(owner, 0, PEAK)
  store<u64>(owner, 0, PEAK_BYTES)
  store<u64>(owner, 0, PEAK_BYTES + 8)
}

/**
 * Adds blocks of one size to a site, which already counts the live ones, and to the row for no thread.
 * @param row of the site
 * @param allocations
 * @param peak
 * @param live the numbers of blocks that were allocated, live at the peak, and are live
 */
export function addBlocks(row: u32, size: u64, allocations: u64, peak: u64, live: u64): void {
  const site = siteAt(row)
  addAmount(site + ALLOCATIONS, size, allocations)
  addAmount(site + PEAK, size, peak)
  const thread = threadAt(NONE)
  addAmount(thread + ALLOCATIONS, size, allocations)
  addAmount(thread + PEAK, size, peak)
  addAmount(thread + LIVE, size, live)
}

/** Adds to a number of blocks, and to the sum of their bytes after it. */
function addAmount(amount: usize, size: u64, blocks: u64): void {
  store<u64>(amount, load<u64>(amount) + blocks)
  addTimes(amount + 8, size, blocks)
}
