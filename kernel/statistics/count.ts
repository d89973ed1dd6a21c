/** What statistics count of the events about blocks, in their order, once the live set has followed them. */
import { BEGAN, BEGUN, EFFECTS, DONE, ENDED, numbers, REUSED } from '../live/follow'
import { KIND, MASK, SIZE, TIME, USABLE } from '../shared/columns'
import { HAS_SIZE, HAS_USABLE, KIND_EXISTING, KIND_REALLOC, KIND_RESERVE } from '../shared/event'
import { B_SITE, B_SIZE, B_THREAD, blockAt, dies, isBorn, livesOn, makeBlocks, partsWith } from './lives'
import {
  makeRows,
  siteAllocates,
  siteAt,
  siteLoses,
  sitesLeak,
  siteTook,
  threadActs,
  threadAllocates,
  threadAt,
  threadFollows,
  threadFrees,
} from './rows'
import { countSize } from './sizes'
import { allocates, endTotals, frees, overlaps } from './totals'

/** Per row, the rows of its thread and of its site; -1 for a site that is not told. */
export const THREADS: usize = memory.data(16576)
export const SITES: usize = memory.data(16576)

/** How many events there were before the rows in hand, and how many of them about blocks. */
let events: u64 = 0
export let blockEvents: u64 = 0
/** How many sizes of the rows in hand are to be counted elsewhere. */
export let largeSizes: usize = 0
/**
 * Rows that are counted elsewhere, or also there: reallocs, events that did nothing to a block, and memory that was
 * reserved.
 */
export const OTHERS: usize = memory.data(16576)
export let otherRows: usize = 0

/**
 * Counts the rows from 0 on.
 * @param sites @param threads how many rows of them there are
 * @param isTimed the times of the trace count
 * @returns whether there was memory
 */
export function count(rows: u32, sites: u32, threads: u32, isTimed: bool): bool {
  if (!makeBlocks(numbers) || !makeRows(sites, threads)) return false
  let large: usize = 0
  let others: usize = 0
  for (let row: usize = 0; row < <usize>rows; row++) {
    const threadRow = load<u32>(THREADS + (row << 2))
    const thread = threadAt(threadRow)
    threadActs(thread)
    const kind = load<u8>(KIND + row)
    const effect = <u32>load<u8>(EFFECTS + row)
    store<u32>(OTHERS + (others << 2), <u32>row)
    if (kind > KIND_EXISTING) {
      if (kind == KIND_RESERVE) others++
      continue
    }
    const event = ++blockEvents
    const before = threadFollows(thread, event)
    if (kind == KIND_REALLOC || (effect & (BEGAN | DONE)) == 0) others++
    if ((effect & (BEGAN | DONE)) == 0) continue
    const mask = load<u32>(MASK + (row << 2))
    const from = blockAt(load<u32>(ENDED + (row << 2)))
    let siteRow = load<i32>(SITES + (row << 2))
    if ((effect & DONE) != 0) {
      const size = load<u64>(from, B_SIZE)
      const site = siteAt(load<u32>(from, B_SITE))
      frees(size)
      siteLoses(site, size)
      threadFrees(thread, threadRow != load<u32>(from, B_THREAD))
      partsWith(from, row, mask)
      if ((effect & BEGAN) == 0) {
        dies(from, site, row, mask, event, before)
        continue
      }
      if (siteRow < 0) siteRow = load<i32>(from, B_SITE)
    }
    const block = blockAt(load<u32>(BEGUN + (row << 2)))
    if ((effect & REUSED) != 0) {
      overlaps(load<u64>(block, B_SIZE))
      siteLoses(siteAt(load<u32>(block, B_SITE)), load<u64>(block, B_SIZE))
    }
    const size = (mask & HAS_SIZE) != 0 ? load<u64>(SIZE + (row << 3)) : 0
    const site = siteAt(max<i32>(0, siteRow))
    allocates(size, events + <u64>row + 1, mask, load<u64>(TIME + (row << 3)))
    siteAllocates(site, size)
    large = countSize(size, large)
    threadAllocates(thread, size)
    if ((mask & (HAS_USABLE | HAS_SIZE)) == (HAS_USABLE | HAS_SIZE)) {
      siteTook(site, size, load<u64>(USABLE + (row << 3)))
    }
    if ((effect & DONE) != 0) livesOn(block, from, row, mask)
    else isBorn(block, row, mask, event, isTimed)
    store<u64>(block, size, B_SIZE)
    store<u32>(block, max<i32>(0, siteRow), B_SITE)
    store<u32>(block, threadRow, B_THREAD)
  }
  largeSizes = large
  otherRows = others
  events += <u64>rows
  return true
}

/** A trace ended. @param sites how many rows of them there are */
export function endTrace(sites: u32): void {
  sitesLeak(sites)
  endTotals()
}
