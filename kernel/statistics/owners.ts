/**
 * Tables of the blocks of sites and threads, by row; lib/transforms/statistics numbers the rows, and
 * lib/kernel/layouts/owners.ts has their fields. All are 64-bit
 * integers. A block belongs to the site and the thread that allocated or resized it last.
 */
import * as Layout from '../../lib/kernel/layouts/owners'
import { GROWING, GrowingTable } from '../shared/grow'
import { maxima } from './peak'
import { addTemporary } from './totals'
import { addProduct, addSum, addTimes, addTo, copySum, count, raise, takeFrom } from './sums'

export const siteTable = changetype<GrowingTable>(memory.data(GROWING))
export const threadTable = changetype<GrowingTable>(memory.data(GROWING))

/** Makes room for this many rows. @returns whether there is memory */
export function makeRows(sites: u32, threads: u32): bool {
  return siteTable.reserve(<u64>sites * Layout.SITE_BYTES) && threadTable.reserve(<u64>threads * Layout.THREAD_BYTES)
}

export function siteAt(row: u32): usize {
  return siteTable.at + <usize>row * Layout.SITE_BYTES
}

export function threadAt(row: u32): usize {
  return threadTable.at + <usize>row * Layout.THREAD_BYTES
}

/** Saves the figures at the peak, if the row has not changed since. Call this before a change of the live figures. */
export function savePeak(owner: usize): void {
  if (load<u64>(owner, Layout.STAMP) == maxima) return
  store<u64>(owner, maxima, Layout.STAMP)
  store<u64>(owner, load<u64>(owner, Layout.LIVE), Layout.PEAK)
  copySum(owner + Layout.PEAK_BYTES, owner + Layout.LIVE_BYTES)
}

/** Counts the start of a block of this size. */
// @ts-ignore: decorator
@inline
export function gains(owner: usize, size: u64): void {
  savePeak(owner)
  count(owner + Layout.ALLOCATIONS)
  count(owner + Layout.LIVE)
  addTo(owner + Layout.BYTES, size)
  addTo(owner + Layout.LIVE_BYTES, size)
}

/** Counts the end of a block of this size. */
export function loses(owner: usize, size: u64): void {
  savePeak(owner)
  store<u64>(owner, load<u64>(owner, Layout.LIVE) - 1, Layout.LIVE)
  takeFrom(owner + Layout.LIVE_BYTES, size)
}

/** Counts the block of this size that just ended as temporary, as `fate` says (live/fates.ts). */
export function wasTemporary(owner: usize, size: u64, fate: u32): void {
  addTemporary(owner + Layout.HEAPTRACK, owner + Layout.MEMRAY, size, fate)
}

/** Ends a trace: live blocks have leaked. @param event @param time of the end, as for `siteLoses` */
export function ownersLeak(sites: u32, threads: u32, event: u64, time: u64): void {
  for (let row: u32 = 0; row < sites; row++) {
    const site = siteAt(row)
    addProduct(site + Layout.S_EVENTS, event, load<u64>(site, Layout.LIVE))
    addProduct(site + Layout.S_TIME, time, load<u64>(site, Layout.LIVE))
    leak(site)
  }
  for (let row: u32 = 0; row < threads; row++) leak(threadAt(row))
}

/** Counts the live blocks of a row as leaks. */
export function leak(owner: usize): void {
  const live = load<u64>(owner, Layout.LIVE)
  if (live == 0) return
  savePeak(owner)
  store<u64>(owner, load<u64>(owner, Layout.LEAKS) + live, Layout.LEAKS)
  store<u64>(owner, 0, Layout.LIVE)
  addSum(owner + Layout.LEAK_BYTES, owner + Layout.LIVE_BYTES)
  store<u64>(owner, 0, Layout.LIVE_BYTES)
  store<u64>(owner, 0, Layout.LIVE_BYTES + 8)
}

/** Counts a block of this size, which a row has just lost, as a leak. */
export function leakOne(owner: usize, size: u64): void {
  count(owner + Layout.LEAKS)
  addTo(owner + Layout.LEAK_BYTES, size)
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
  if (raise(site + Layout.S_MOST, site + Layout.LIVE_BYTES))
    store<u64>(site, load<u64>(site, Layout.LIVE), Layout.S_MOST_BLOCKS)
  takeFrom(site + Layout.S_EVENTS, event)
  takeFrom(site + Layout.S_TIME, time)
}

/** Counts the end of a block of a site. The parameters are as for `siteGains`. */
// @ts-ignore: decorator
@inline
export function siteLoses(site: usize, size: u64, event: u64, time: u64): void {
  loses(site, size)
  addTo(site + Layout.S_EVENTS, event)
  addTo(site + Layout.S_TIME, time)
}

/** Counts a block of the site that another thread freed. */
export function siteIsForeign(site: usize): void {
  count(site + Layout.S_FOREIGN)
}

/** Adds the bytes that an allocation took, and the bytes that it requested. */
export function siteTook(site: usize, requested: u64, usable: u64): void {
  count(site + Layout.S_HITS)
  addTo(site + Layout.S_REQUESTED, requested)
  addTo(site + Layout.S_USABLE, usable)
}

/** Counts an event of a thread. */
export function threadActs(thread: usize): void {
  count(thread + Layout.T_EVENTS)
}

/** @param isForeign another thread allocated the block */
export function threadFrees(thread: usize, isForeign: bool): void {
  count(thread + Layout.T_FREES)
  if (isForeign) count(thread + Layout.T_FOREIGN)
}

/**
 * Counts the start of a block of this size at a site whose other figures are added up when the trace ends.
 * @param row of the site
 */
export function siteHolds(row: u32, size: u64): void {
  const site = siteAt(row)
  count(site + Layout.LIVE)
  addTo(site + Layout.LIVE_BYTES, size)
  if (raise(site + Layout.S_MOST, site + Layout.LIVE_BYTES))
    store<u64>(site, load<u64>(site, Layout.LIVE), Layout.S_MOST_BLOCKS)
}

/** Counts the end of a block of such a site. */
export function siteReturns(row: u32, size: u64): void {
  const site = siteAt(row)
  store<u64>(site, load<u64>(site, Layout.LIVE) - 1, Layout.LIVE)
  takeFrom(site + Layout.LIVE_BYTES, size)
}

/** Counts events of no known thread. */
export function threadCounts(events: u32): void {
  const thread = threadAt(Layout.NONE)
  store<u64>(thread, load<u64>(thread, Layout.T_EVENTS) + <u64>events, Layout.T_EVENTS)
}

/** Counts frees of no known thread. */
export function threadFreed(frees: u64): void {
  const thread = threadAt(Layout.NONE)
  store<u64>(thread, load<u64>(thread, Layout.T_FREES) + frees, Layout.T_FREES)
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
  if (!hasPeak && load<u64>(owner, Layout.STAMP) == maxima) return
  store<u64>(owner, maxima, Layout.STAMP)
  store<u64>(owner, 0, Layout.PEAK)
  store<u64>(owner, 0, Layout.PEAK_BYTES)
  store<u64>(owner, 0, Layout.PEAK_BYTES + 8)
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
  addAmount(site + Layout.ALLOCATIONS, size, allocations)
  addAmount(site + Layout.PEAK, size, peak)
  const thread = threadAt(Layout.NONE)
  addAmount(thread + Layout.ALLOCATIONS, size, allocations)
  addAmount(thread + Layout.PEAK, size, peak)
  addAmount(thread + Layout.LIVE, size, live)
}

/** Adds to a number of blocks, and to the sum of their bytes after it. */
function addAmount(amount: usize, size: u64, blocks: u64): void {
  store<u64>(amount, load<u64>(amount) + blocks)
  addTimes(amount + 8, size, blocks)
}
