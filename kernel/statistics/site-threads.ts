/**
 * The figures of each site and thread, and the blocks of each site that another thread freed. Until a second thread
 * allocates or frees a block, a site and its only thread have the same figures, so nothing is counted here. Then the
 * rows of sites are copied. lib/kernel/layouts/site-threads.ts has the layout.
 */
import { FIRST, NONE, OTHERS, S_SHARE, S_SHARE_THREAD } from '../../lib/kernel/layouts/owners'
import { TABLE_BYTES } from '../../lib/kernel/layouts/pairs'
import * as Layout from '../../lib/kernel/layouts/site-threads'
import { addPair, makePairs } from '../report/pairs'
import { GROWING, GrowingTable } from '../shared/grow'
import { HashTable, TABLE, VALUE } from '../shared/hash-table'
import { gains, leak, leakOne, loses, savePeak, siteAt, wasTemporary } from './owners'

/** Rows, from `FIRST`. Pairs without a row are counted in the row of `OTHERS`, which no one reads. */
export const shareTable = changetype<GrowingTable>(memory.data(GROWING))
/** One past the last row in use. */
export let shares: u32 = FIRST
export let sharesOverflowed: bool = false

/** Blocks that another thread freed, by site, allocating and freeing thread. */
export const HANDOFFS: usize = memory.data(TABLE_BYTES)

/** Rows by site and thread. */
const rowsBy = changetype<HashTable>(memory.data(TABLE))

/** Whether a second thread has allocated or freed a block. */
export let isShared: bool = false
/** The thread of all blocks until then. */
const NO_THREAD: u32 = 0xffff_ffff
export let soleThread: u32 = NO_THREAD
/** Whether there was no memory for the rows. */
export let isShareless: bool = false

/** Makes room for the rows of this many more events, up to the limit. @returns whether there is memory */
export function makeShares(more: u32): bool {
  const rows = min<u32>(Layout.MAX_SHARES + FIRST, shares + more)
  if (!shareTable.reserve(<u64>rows * Layout.SHARE_BYTES)) return false
  return rowsBy.reserve(rows - shares) && makePairs(HANDOFFS, more, Layout.MAX_HANDOFFS)
}

/**
 * A block is allocated or freed by another thread than the sole one so far. Call this before any row changes.
 * @param sites the number of their rows
 * @param more the number of events that may follow before `makeShares` is called
 */
export function meetThread(thread: u32, sites: u32, more: u32): void {
  if (soleThread == NO_THREAD) {
    soleThread = thread
    return
  }
  if (!makeShares(sites + more)) {
    isShareless = true
    return
  }
  isShared = true
  for (let row: u32 = NONE; row < sites; row++) {
    const site = siteAt(row)
    if (load<u64>(site) == 0) continue
    memory.copy(shareOf(site, row, soleThread), site, Layout.OWNER_BYTES)
  }
}

/** The figures of a site and a thread. */
// @ts-ignore: decorator
@inline
function shareOf(site: usize, siteRow: u32, thread: u32): usize {
  const row = load<u32>(site, S_SHARE_THREAD) == thread + 1 ? load<u32>(site, S_SHARE) : rowOf(site, siteRow, thread)
  return shareTable.at + <usize>row * Layout.SHARE_BYTES
}

function rowOf(site: usize, siteRow: u32, thread: u32): u32 {
  let row: u32 = OTHERS
  if (siteRow != OTHERS && thread != OTHERS) {
    const key = ((<u64>siteRow) << 32) | (<u64>thread)
    const slot = rowsBy.slotOf(key)
    if (load<u64>(slot, VALUE) != 0) {
      row = load<u32>(slot, VALUE)
    } else if (shares < Layout.MAX_SHARES + FIRST) {
      row = shares++
      store<u64>(rowsBy.put(slot, key), <u64>row, VALUE)
      const share = shareTable.at + <usize>row * Layout.SHARE_BYTES
      store<u32>(share, siteRow, Layout.SHARE_SITE)
      store<u32>(share, thread, Layout.SHARE_THREAD)
    } else {
      sharesOverflowed = true
    }
  }
  store<u32>(site, thread + 1, S_SHARE_THREAD)
  store<u32>(site, row, S_SHARE)
  return row
}

/** The thread allocated a block at the site, or resized it there. */
export function shareGains(site: usize, siteRow: u32, thread: u32, size: u64): void {
  gains(shareOf(site, siteRow, thread), size)
}

/** A block ended, which the thread allocated at the site. */
export function shareLoses(site: usize, siteRow: u32, thread: u32, size: u64): void {
  loses(shareOf(site, siteRow, thread), size)
}

/** Such a block ended with its process. */
export function shareLeaks(site: usize, siteRow: u32, thread: u32, size: u64): void {
  const share = shareOf(site, siteRow, thread)
  loses(share, size)
  leakOne(share, size)
}

export function shareWasTemporary(site: usize, siteRow: u32, thread: u32, size: u64, fate: u32): void {
  wasTemporary(shareOf(site, siteRow, thread), size, fate)
}

/** A thread freed a block that another one allocated. */
export function handsOff(siteRow: u32, from: u32, to: u32, size: u64): void {
  addPair(HANDOFFS, ((((<u64>siteRow) << Layout.THREAD_BITS) | (<u64>from)) << Layout.THREAD_BITS) | (<u64>to), size)
}

/** A trace ended: live blocks have leaked. */
export function sharesLeak(): void {
  for (let row: u32 = FIRST; row < shares; row++) leak(shareTable.at + <usize>row * Layout.SHARE_BYTES)
}

/** The stream ended: completes the figures at the peak. */
export function settleShares(): void {
  for (let row: u32 = FIRST; row < shares; row++) savePeak(shareTable.at + <usize>row * Layout.SHARE_BYTES)
}
