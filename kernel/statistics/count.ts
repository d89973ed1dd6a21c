/** Counts the events about blocks, in order, after the live set has followed them. */
import { BEGAN, DONE, HIGHEST, REUSED } from '../../lib/kernel/layouts/live'
import { FATES, judge, judgeProcessEnd, makeCallers, PROCESSES, THREADS } from '../live/fates'
import { BEGUN, EFFECTS, ENDED, nextGone, numbers } from '../live/follow'
import { AHEAD, blockAt, isFar, makeBlocks, readAhead } from '../live/records'
import { siteOf } from '../live/sites'
import { KIND, MASK, PRESENT, SIZE, TIME, USABLE } from '../shared/columns'
import * as Event from '../shared/event'
import { B_SITE, B_SIZE, B_THREAD, dies, isAllocated, isBorn, livesOn, partsWith } from './lives'
import * as Owners from './owners'
import { leaveMaximum } from './peak'
import { endResident, endsResident, takeResident } from './resident-set'
import * as SiteThreads from './site-threads'
import { makeSizes, settleSizes, sizeAt, sizeGains, sizeLeaks, sizeLoses, sizesLeak, sizeWasTemporary } from './sizes'
import { beginPart, endPart, noteLevel } from './timeline'
import { addTemporary, allocates, endTotals, endsUnfreed, frees, HEAPTRACK, MEMRAY, overlaps } from './totals'

export { SITES } from '../live/sites'

/** The number of events before the current rows, and how many of them are about blocks. */
export let events: u64 = 0
export let blockEvents: u64 = 0
/** Rows that are also, or only, counted elsewhere: reallocs, events without effect on a block, and reserved memory. */
export const OTHERS: usize = memory.data(16576)
export let otherRows: usize = 0

/**
 * Counts the rows from 0 on.
 * @param sites
 * @param threads the numbers of their rows
 * @param isTimed the times of the trace are used
 * @returns whether there was memory
 */
export function count(rows: u32, sites: u32, threads: u32, isTimed: bool): bool {
  if (!makeBlocks(numbers) || !Owners.makeRows(sites, threads) || !makeCallers(threads) || !makeSizes()) return false
  if (SiteThreads.isShared && !SiteThreads.makeShares(rows)) return false
  otherRows = 0
  for (let from: usize = 0; from < <usize>rows;) {
    const to = from + beginPart(<usize>rows - from)
    countRows(from, to, isTimed, sites, rows)
    endPart(from, to, isTimed)
    from = to
  }
  events += <u64>rows
  return !SiteThreads.isShareless
}

/**
 * Adds rows that were counted elsewhere to the number of events.
 * @param blocks the number of rows about blocks
 * @param others the number of rows in `OTHERS`
 */
export function endCount(rows: u32, blocks: u64, others: usize): void {
  events += <u64>rows
  blockEvents += blocks
  otherRows = others
}

/** The clock of the current trace: its duration by the times of its events, and the first and the latest time. */
let clock: u64 = 0
let firstTime: u64 = 0
let latestTime: u64 = 0
let hasTime: bool = false

/** Advances the clock to an event's time. Where time runs backwards, the clock stands still. */
function tick(time: u64): void {
  if (!hasTime) {
    hasTime = true
    firstTime = latestTime = time
  } else if (time > latestTime) {
    latestTime = time
    clock = time - firstTime
  }
}

function countRows(start: usize, end: usize, isTimed: bool, sites: u32, rows: u32): void {
  let others = otherRows
  const readsAhead = isFar(numbers)
  const used = usedFields(isTimed)
  for (let row = start; row < end; row++) {
    if (readsAhead && row % AHEAD == 0) readAhead(ENDED, row, rows)
    const mask = load<u32>(MASK + (row << 2)) & used
    if ((mask & Event.HAS_TIME) != 0) tick(load<u64>(TIME + (row << 3)))
    const threadRow = load<u32>(THREADS + (row << 2))
    const thread = Owners.threadAt(threadRow)
    Owners.threadActs(thread)
    const kind = load<u8>(KIND + row)
    const effect = <u32>load<u8>(EFFECTS + row)
    store<u32>(OTHERS + (others << 2), <u32>row)
    if (kind > Event.KIND_EXISTING) {
      if (kind == Event.KIND_RESERVE) others++
      else if (kind == Event.KIND_OTHER) countOther(row, processOf(row), mask)
      else if (kind == Event.KIND_PROCESS_END) endProcess(row)
      continue
    }
    const event = ++blockEvents
    if (kind == Event.KIND_REALLOC || (effect & (BEGAN | DONE)) == 0) others++
    const ended = load<u32>(ENDED + (row << 2))
    const begun = load<u32>(BEGUN + (row << 2))
    const from = blockAt(ended)
    const fate = judge(row, kind, effect, ended, begun, load<u32>(from, B_THREAD), isAllocated(from))
    store<u8>(FATES + row, <u8>fate)
    if ((effect & (BEGAN | DONE)) == 0) continue
    if (threadRow != SiteThreads.soleThread && !SiteThreads.isShared) SiteThreads.meetThread(threadRow, sites, rows)
    if ((effect & DONE) != 0) {
      const size = load<u64>(from, B_SIZE)
      const ownSite = load<u32>(from, B_SITE)
      const site = Owners.siteAt(ownSite)
      const owner = load<u32>(from, B_THREAD)
      const sizeRow = sizeAt(size)
      frees(size)
      Owners.siteLoses(site, size, event, clock)
      Owners.loses(Owners.threadAt(owner), size)
      sizeLoses(sizeRow)
      Owners.threadFrees(thread, threadRow != owner)
      if (SiteThreads.isShared) SiteThreads.shareLoses(site, ownSite, owner, size)
      if (threadRow != owner) {
        Owners.siteIsForeign(site)
        if (SiteThreads.isShared) SiteThreads.handsOff(ownSite, owner, threadRow, size)
      }
      if (fate != 0) {
        addTemporary(HEAPTRACK, MEMRAY, size, fate)
        Owners.wasTemporary(site, size, fate)
        Owners.wasTemporary(Owners.threadAt(owner), size, fate)
        if (SiteThreads.isShared) SiteThreads.shareWasTemporary(site, ownSite, owner, size, fate)
        sizeWasTemporary(sizeRow, fate)
      }
      partsWith(from, row, mask)
      if ((effect & BEGAN) == 0) {
        noteLevel()
        dies(from, site, row, mask, event)
        continue
      }
    }
    const block = blockAt(begun)
    if ((effect & REUSED) != 0) {
      const size = load<u64>(block, B_SIZE)
      overlaps(size)
      const ownSite = load<u32>(block, B_SITE)
      const owner = load<u32>(block, B_THREAD)
      Owners.siteLoses(Owners.siteAt(ownSite), size, event, clock)
      Owners.loses(Owners.threadAt(owner), size)
      if (SiteThreads.isShared) SiteThreads.shareLoses(Owners.siteAt(ownSite), ownSite, owner, size)
      sizeLoses(sizeAt(size))
    }
    const size = (mask & Event.HAS_SIZE) != 0 ? load<u64>(SIZE + (row << 3)) : 0
    const siteRow = siteOf(row, effect, from + B_SITE)
    const site = Owners.siteAt(siteRow)
    if (allocates(size, events + <u64>row + 1, mask, load<u64>(TIME + (row << 3))))
      store<u8>(FATES + row, <u8>(fate | HIGHEST))
    Owners.siteGains(site, size, event, clock)
    Owners.gains(thread, size)
    if (SiteThreads.isShared) SiteThreads.shareGains(site, siteRow, threadRow, size)
    sizeGains(size)
    noteLevel()
    if ((mask & (Event.HAS_USABLE | Event.HAS_SIZE)) == (Event.HAS_USABLE | Event.HAS_SIZE)) {
      Owners.siteTook(site, size, load<u64>(USABLE + (row << 3)))
    }
    if ((effect & DONE) != 0) livesOn(block, from, row, mask)
    else isBorn(block, row, mask, event, isTimed, kind == Event.KIND_EXISTING)
    store<u64>(block, size, B_SIZE)
    store<u32>(block, siteRow, B_SITE)
    store<u32>(block, threadRow, B_THREAD)
  }
  otherRows = others
}

function processOf(row: usize): u32 {
  return load<u32>(PROCESSES + (row << 2))
}

/** The fields that count: all, unless the times of the trace are not used. */
export function usedFields(isTimed: bool): u32 {
  return isTimed ? u32.MAX_VALUE : ~(<u32>Event.HAS_TIME)
}

/** Ends a process: its live blocks, which this row has, have leaked. */
function endProcess(row: usize): void {
  judgeProcessEnd(row)
  endsResident(processOf(row))
  let isAny = false
  for (let number = nextGone(<u32>row); number != 0; number = nextGone(<u32>row)) {
    const block = blockAt(number)
    const size = load<u64>(block, B_SIZE)
    const ownSite = load<u32>(block, B_SITE)
    const owner = load<u32>(block, B_THREAD)
    const site = Owners.siteAt(ownSite)
    endsUnfreed(size)
    Owners.siteLoses(site, size, blockEvents, clock)
    Owners.leakOne(site, size)
    Owners.loses(Owners.threadAt(owner), size)
    Owners.leakOne(Owners.threadAt(owner), size)
    if (SiteThreads.isShared) SiteThreads.shareLeaks(site, ownSite, owner, size)
    sizeLeaks(sizeAt(size))
    isAny = true
  }
  if (isAny) noteLevel()
}

/**
 * Counts an event of an unknown kind: the resident set of its process, if the event has it.
 * @param process the row of the process
 * @param mask the fields of the event that count
 */
export function countOther(row: usize, process: u32, mask: u32): void {
  if ((mask & Event.HAS_PRESENT) != 0)
    takeResident(process, load<u64>(PRESENT + (row << 3)), events + <u64>row + 1, mask, load<u64>(TIME + (row << 3)))
}

/** Ends a trace. @param sites @param threads the numbers of their rows */
export function endTrace(sites: u32, threads: u32): void {
  leaveMaximum()
  Owners.ownersLeak(sites, threads, blockEvents, clock)
  SiteThreads.sharesLeak()
  sizesLeak()
  endTotals()
}

/** Begins another trace: its clock is at zero, and no resident size is known. */
export function beginTrace(): void {
  endResident()
  hasTime = false
  clock = 0
}

/** Ends the stream, and completes the figures at the peak. @param sites @param threads as above */
export function settle(sites: u32, threads: u32): void {
  leaveMaximum()
  Owners.settleOwners(sites, threads)
  SiteThreads.settleShares()
  settleSizes()
}
