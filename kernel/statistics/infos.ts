/**
 * Counts the events of a trace whose frees do not identify blocks, but only infos, each of which many blocks share.
 * Counters for each info replace the live set. Figures of single blocks, such as lifetimes, are not counted.
 *
 * The figures of sites, sizes and threads follow from the figures of infos, so they are added up only when the trace
 * ends. Until then, rows of sites have only the live figures and their maximum.
 */
import { FAILED, NOTHING } from '../../lib/kernel/layouts/live'
import { NONE } from '../../lib/kernel/layouts/owners'
import { EFFECTS } from '../live/follow'
import { SITES } from '../live/sites'
import { KIND, MASK, SIZE, TIME } from '../shared/columns'
import { HAS_SIZE, KIND_EXISTING, KIND_FREE, KIND_OTHER, KIND_RESERVE } from '../shared/event'
import { countOther, endCount, events, OTHERS, usedFields } from './count'
import { GROWING, GrowingTable } from '../shared/grow'
import { addBlocks, beginSums, makeRows, siteHolds, siteReturns, threadCounts, threadFreed } from './owners'
import { leaveMaximum, maxima } from './peak'
import { addSizes, beginSizes, makeSizes, rowOfSize } from './sizes'
import { beginPart, endPart, noteLevel } from './timeline'
import { allocates, frees } from './totals'

/**
 * The layout of the 32 bytes of an info: its size; the moment when the blocks at the peak were saved; and, in four
 * bytes each, the numbers of blocks that were allocated, are live and were live at the peak, and the row of its site.
 */
const I_SIZE: usize = 0
const STAMP: usize = 8
const ALLOCATIONS: usize = 16
const LIVE: usize = 20
const PEAK: usize = 24
const I_SITE: usize = 28
const INFO_BYTES: u32 = 32

/** Per row, the number of its info, from 1; 0 for an event without one. */
export const INFOS: usize = memory.data(16576)

const table = changetype<GrowingTable>(memory.data(GROWING))
/** One past the largest number of an info of the trace. */
let infos: u32 = 0
/** The number of left maxima when the trace began. */
let maximaBefore: u64 = 0
/** Frees of the trace. */
let freed: u64 = 0

function makeInfos(most: u32): bool {
  if (!table.reserve((<u64>most + 1) * INFO_BYTES)) return false
  if (infos == 0) maximaBefore = maxima
  infos = max(infos, most + 1)
  return true
}

function infoAt(number: u32): usize {
  return table.at + <usize>number * INFO_BYTES
}

/**
 * Counts the rows from 0 on. The first allocation with an info has its size, and `SITES` its site.
 * @param sites
 * @param threads the numbers of their rows
 * @param most the largest number of an info so far
 * @param isTimed the times of the trace are used
 * @returns whether there was memory
 */
export function countInfos(rows: u32, sites: u32, threads: u32, most: u32, isTimed: bool): bool {
  if (!makeRows(sites, threads) || !makeSizes() || !makeInfos(most)) return false
  const used = usedFields(isTimed)
  let others: usize = 0
  let blocks: u64 = 0
  for (let from: usize = 0; from < <usize>rows;) {
    const to = from + beginPart(<usize>rows - from)
    for (let row = from; row < to; row++) {
      const number = load<u32>(INFOS + (row << 2))
      const kind = load<u8>(KIND + row)
      const info = infoAt(number)
      const isFree = kind == KIND_FREE
      if (number == 0 || number >= infos || (isFree && load<u32>(info, LIVE) == 0)) {
        if (kind <= KIND_EXISTING) {
          blocks++
          store<u8>(EFFECTS + row, isFree ? NOTHING : FAILED)
        }
        if (kind <= KIND_RESERVE) {
          store<u32>(OTHERS + (others << 2), <u32>row)
          others++
        } else if (kind == KIND_OTHER) {
          // Such a trace has one process.
          countOther(row, NONE, load<u32>(MASK + (row << 2)) & used)
        }
        continue
      }
      blocks++
      if (isFree) {
        const size = load<u64>(info, I_SIZE)
        frees(size)
        savePeak(info)
        store<u32>(info, load<u32>(info, LIVE) - 1, LIVE)
        siteReturns(load<u32>(info, I_SITE), size)
        freed++
      } else {
        const mask = load<u32>(MASK + (row << 2)) & used
        if ((mask & HAS_SIZE) != 0) introduce(info, load<u64>(SIZE + (row << 3)), load<u32>(SITES + (row << 2)))
        const size = load<u64>(info, I_SIZE)
        allocates(size, events + <u64>row + 1, mask, load<u64>(TIME + (row << 3)))
        savePeak(info)
        const allocations = load<u32>(info, ALLOCATIONS) + 1
        store<u32>(info, allocations, ALLOCATIONS)
        if (allocations == u32.MAX_VALUE) addAllocations(info)
        store<u32>(info, load<u32>(info, LIVE) + 1, LIVE)
        siteHolds(load<u32>(info, I_SITE), size)
      }
      noteLevel()
    }
    endPart(from, to, isTimed)
    from = to
  }
  threadCounts(rows)
  endCount(rows, blocks, others)
  return true
}

/** An info gets its size and site, unless it has them. */
function introduce(info: usize, size: u64, site: u32): void {
  if (load<u32>(info, ALLOCATIONS) != 0) return
  store<u64>(info, size, I_SIZE)
  store<u32>(info, site, I_SITE)
  // Rows of sizes are given out in the order of their first blocks.
  rowOfSize(size)
}

/** Adds all but one of an info's allocations, because no more can be counted. */
function addAllocations(info: usize): void {
  const allocations = load<u32>(info, ALLOCATIONS) - 1
  const size = load<u64>(info, I_SIZE)
  addBlocks(load<u32>(info, I_SITE), size, allocations, 0, 0)
  addSizes(rowOfSize(size), size, allocations, 0, 0)
  store<u32>(info, 1, ALLOCATIONS)
}

/** As in owners.ts. */
function savePeak(info: usize): void {
  if (load<u64>(info, STAMP) == maxima) return
  store<u64>(info, maxima, STAMP)
  store<u32>(info, load<u32>(info, LIVE), PEAK)
}

/**
 * Ends the trace: adds the figures of its infos to those of sites, sizes and threads, and forgets the infos.
 * @param sites
 * @param threads the numbers of their rows
 */
export function addInfos(sites: u32, threads: u32): void {
  if (infos == 0) return
  leaveMaximum()
  // If the peak was in an earlier trace, what was live in this one does not count.
  const hasPeak = maxima != maximaBefore
  beginSums(sites, threads, hasPeak)
  beginSizes(hasPeak)
  for (let number: u32 = 1; number < infos; number++) {
    const info = infoAt(number)
    const allocations = load<u32>(info, ALLOCATIONS)
    if (allocations == 0) continue
    savePeak(info)
    const peak: u64 = hasPeak ? <u64>load<u32>(info, PEAK) : 0
    const live = load<u32>(info, LIVE)
    const size = load<u64>(info, I_SIZE)
    addBlocks(load<u32>(info, I_SITE), size, allocations, peak, live)
    addSizes(rowOfSize(size), size, allocations, peak, live)
  }
  threadFreed(freed)
  freed = 0
  memory.fill(table.at, 0, <usize>infos * INFO_BYTES)
  infos = 0
}
