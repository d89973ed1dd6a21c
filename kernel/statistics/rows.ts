/**
 * Tables by row, for sites and for threads; lib/transforms/statistics numbers them. All are 64-bit integers.
 */
import { giveRoom, takeRoom } from '../live/room'
import { addTo, count, raise, takeFrom } from './sums'

/** Bytes of a row, and what is where in it. */
export const SITE_BYTES: usize = 144
export const S_ALLOCATIONS: usize = 0
const S_BYTES: usize = 8
const S_LIVE: usize = 24
const S_LIVE_BYTES: usize = 32
const S_PEAK: usize = 48
export const S_TEMPORARY: usize = 64
export const S_CROSS_CPU: usize = 72
const S_HITS: usize = 80
const S_REQUESTED: usize = 88
const S_USABLE: usize = 104
const S_LEAKS: usize = 120
const S_LEAK_BYTES: usize = 128

export const THREAD_BYTES: usize = 64
const T_EVENTS: usize = 0
const T_ALLOCATIONS: usize = 8
const T_FREES: usize = 16
const T_FOREIGN: usize = 24
const T_BYTES: usize = 32
/** The number of its last event about a block, among all such events; 0 for none. */
const T_LAST: usize = 48

export let siteTable: usize = 0
export let threadTable: usize = 0
let siteLog: u32 = 0
let threadLog: u32 = 0

/** Makes room for so many rows. @returns whether there is memory */
export function makeRows(sites: u32, threads: u32): bool {
  const site = logOf(<u64>sites * SITE_BYTES)
  if (site > siteLog) {
    const table = larger(siteTable, siteLog, site)
    if (table == 0) return false
    siteTable = table
    siteLog = site
  }
  const thread = logOf(<u64>threads * THREAD_BYTES)
  if (thread > threadLog) {
    const table = larger(threadTable, threadLog, thread)
    if (table == 0) return false
    threadTable = table
    threadLog = thread
  }
  return true
}

/** A piece of memory of a larger size that begins as another one and is zero behind; the other one is given back. */
function larger(from: usize, log: u32, wanted: u32): usize {
  const to = takeRoom(wanted)
  if (to == 0) return 0
  const size: usize = from == 0 ? 0 : (<usize>1) << log
  if (from != 0) {
    memory.copy(to, from, size)
    giveRoom(from, log)
  }
  memory.fill(to + size, 0, ((<usize>1) << wanted) - size)
  return to
}

/** The logarithm of the least power of two that is not below a number of bytes. */
function logOf(bytes: u64): u32 {
  return max<u32>(12, 64 - <u32>clz(bytes - 1))
}

// @ts-ignore: decorator
@inline
export function siteAt(row: u32): usize {
  return siteTable + <usize>row * SITE_BYTES
}

// @ts-ignore: decorator
@inline
export function threadAt(row: u32): usize {
  return threadTable + <usize>row * THREAD_BYTES
}

/** A block of this size began. */
// @ts-ignore: decorator
@inline
export function siteAllocates(site: usize, size: u64): void {
  count(site + S_ALLOCATIONS)
  count(site + S_LIVE)
  addTo(site + S_BYTES, size)
  addTo(site + S_LIVE_BYTES, size)
  raise(site + S_PEAK, site + S_LIVE_BYTES)
}

/** A block of this size is no more. */
// @ts-ignore: decorator
@inline
export function siteLoses(site: usize, size: u64): void {
  store<u64>(site, load<u64>(site, S_LIVE) - 1, S_LIVE)
  takeFrom(site + S_LIVE_BYTES, size)
}

/** An allocation took so many bytes for so many that it asked for. */
export function siteTook(site: usize, requested: u64, usable: u64): void {
  count(site + S_HITS)
  addTo(site + S_REQUESTED, requested)
  addTo(site + S_USABLE, usable)
}

/** A trace ended: what is live has leaked. */
export function sitesLeak(rows: u32): void {
  for (let row: u32 = 0; row < rows; row++) {
    const site = siteAt(row)
    store<u64>(site, load<u64>(site, S_LEAKS) + load<u64>(site, S_LIVE), S_LEAKS)
    store<u64>(site, 0, S_LIVE)
    addTo(site + S_LEAK_BYTES, load<u64>(site, S_LIVE_BYTES))
    store<u64>(site, load<u64>(site, S_LEAK_BYTES + 8) + load<u64>(site, S_LIVE_BYTES + 8), S_LEAK_BYTES + 8)
    store<u64>(site, 0, S_LIVE_BYTES)
    store<u64>(site, 0, S_LIVE_BYTES + 8)
  }
}

/** Counts an event of a thread. */
// @ts-ignore: decorator
@inline
export function threadActs(thread: usize): void {
  count(thread + T_EVENTS)
}

/**
 * Notes an event about a block, by its number.
 * @returns the number of the one before it of the same thread, 0 for none
 */
// @ts-ignore: decorator
@inline
export function threadFollows(thread: usize, event: u64): u64 {
  const before = load<u64>(thread, T_LAST)
  store<u64>(thread, event, T_LAST)
  return before
}

// @ts-ignore: decorator
@inline
export function threadAllocates(thread: usize, size: u64): void {
  count(thread + T_ALLOCATIONS)
  addTo(thread + T_BYTES, size)
}

/** @param isForeign another thread allocated the block */
// @ts-ignore: decorator
@inline
export function threadFrees(thread: usize, isForeign: bool): void {
  count(thread + T_FREES)
  if (isForeign) count(thread + T_FOREIGN)
}
