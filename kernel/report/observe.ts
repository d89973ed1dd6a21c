/**
 * Examines the events about blocks, in order, after the statistics have counted them: their effects on the live set
 * (live/follow.ts), their fates (live/fates.ts) and the rows of their sites and threads are known. It has its own
 * memory, because most commands make no report. So both kernels have the sizes and owners of live blocks.
 */
import { AGAIN, BEGAN, DONE, HIGHEST, NOTHING, REUSED, UNKNOWN } from '../../lib/kernel/layouts/live'
import { TABLE_BYTES } from '../../lib/kernel/layouts/pairs'
import * as Layout from '../../lib/kernel/layouts/report'
import { AHEAD, blockAt, isFar, makeBlocks, readAhead } from '../live/records'
import { ADDRESS, API, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE as SIZES } from '../shared/columns'
import * as Event from '../shared/event'
import { addTo, count } from '../statistics/sums'
import * as Block from './block'
import { keepPages } from './pages'
import { addPair, makePairs } from './pairs'
import { makeSites, siteResizes } from './sites'

export { placed, unfollowed } from './block'
export { unmapped } from './spaces'

/** Per row, data from the statistics: see live/follow.ts, live/fates.ts and live/sites.ts, which decided the sites. */
export const EFFECTS: usize = memory.data(4288)
export const FATES: usize = memory.data(4288)
export const ENDED: usize = memory.data(16576)
export const BEGUN: usize = memory.data(16576)
export const SITES: usize = memory.data(16576)
export const THREADS: usize = memory.data(16576)
export const PROCESSES: usize = memory.data(16576)

/**
 * Blocks that were freed and whose birth is known, by `HEAT_SIDE` times the bits of their size plus the bits of their
 * lifetime.
 */
export const HEAT: usize = memory.data(Layout.HEAT_SIDE * Layout.HEAT_SIDE * 8)
/** The same by site: the key is the site's row above `CELL_BITS`, plus the cell. */
export const SITE_HEAT: usize = memory.data(TABLE_BYTES)
const MOST_HEAT: u32 = 131_072
/**
 * Blocks that were freed, by the row of the thread that allocated them times 2^32, plus the row of the other thread.
 */
export const MATRIX: usize = memory.data(TABLE_BYTES)
const MOST_MATRIX: u32 = 65_536

/** Blocks by the number of times they were resized, which is at most `LONGEST`. */
export const CHAINS: usize = memory.data((Layout.LONGEST + 1) * 8)
/**
 * The numbers of reallocs that enlarged, shrank, kept the size of, or moved the block; and the bytes by which blocks
 * grew and shrank.
 */
export const RESIZES: usize = memory.data(64)
/** Allocations of zero bytes. */
export let zeroSizes: u64 = 0

/** The anomalies in the rows of the last call: the row above `PROBLEM_BITS`, plus the kind; at most three per row. */
export const PROBLEMS: usize = memory.data(49_408)
export let problems: u32 = 0

let events: u64 = 0
let blockEvents: u64 = 0

/** Live bytes are at their maximum. */
let isAtMaximum: bool = false

/**
 * Observes the rows from `from` to `to`, in order.
 * @param rows all rows of the batch
 * @param numbers the highest number of a block.
 * @param sites the number of their rows
 * @param isInvented whether the addresses are not the program's, so that no block has a place
 * @returns whether there was memory
 */
export function observe(from: u32, to: u32, rows: u32, numbers: u32, sites: u32, isInvented: bool): bool {
  if (!makeBlocks(numbers) || !makeSites(sites) || !Block.makePlaces(rows)) return false
  if (!makePairs(SITE_HEAT, rows, MOST_HEAT) || !makePairs(MATRIX, rows, MOST_MATRIX)) return false
  if (from == 0) problems = 0
  const readsAhead = isFar(numbers)
  for (let row = <usize>from; row < <usize>to; row++) {
    if (readsAhead && row % AHEAD == 0) readAhead(ENDED, row, rows)
    const kind = load<u8>(KIND + row)
    if (kind > Event.KIND_EXISTING) continue
    blockEvents++
    const effect = <u32>load<u8>(EFFECTS + row)
    if ((effect & (BEGAN | DONE)) == 0 || (effect & (UNKNOWN | REUSED)) != 0) notice(row, kind, effect)
    if ((effect & (BEGAN | DONE)) != 0) follow(row, effect, isInvented, numbers)
  }
  if (to == rows) events += <u64>rows
  return true
}

function notice(row: usize, kind: u8, effect: u32): void {
  if ((effect & UNKNOWN) != 0) {
    note(
      row,
      kind == Event.KIND_REALLOC
        ? Layout.UNKNOWN_REALLOC
        : (effect & AGAIN) != 0
          ? Layout.DOUBLE_FREE
          : Layout.UNKNOWN_FREE,
    )
  } else if ((effect & (BEGAN | DONE | NOTHING)) == 0 && kind != Event.KIND_FREE) {
    note(row, Layout.FAILED)
  }
  if ((effect & REUSED) != 0) note(row, Layout.OVERLAP)
}

// @ts-ignore: decorator
@inline
function note(row: usize, kind: u32): void {
  store<u32>(PROBLEMS + ((<usize>problems) << 2), ((<u32>row) << Layout.PROBLEM_BITS) | kind)
  problems++
}

// @ts-ignore: decorator
@inline
function bitsOf(value: u64): u64 {
  return 64 - clz(value)
}

function follow(row: usize, effect: u32, isInvented: bool, numbers: u32): void {
  const mask = load<u32>(MASK + (row << 2))
  const thread = load<u32>(THREADS + (row << 2))
  const isDone = (effect & DONE) != 0
  const site = load<u32>(SITES + (row << 2))
  let born = blockEvents
  let resized: u32 = 0
  let unborn: u32 = load<u8>(KIND + row) == Event.KIND_EXISTING ? Block.UNBORN : 0
  let before: u64 = 0
  let address: u64 = (mask & Event.HAS_ADDRESS) != 0 ? load<u64>(ADDRESS + (row << 3)) : 0
  if (isDone) {
    const from = blockAt(load<u32>(ENDED + (row << 2)))
    before = load<u64>(from, Block.SIZE)
    born = load<u64>(from, Block.BORN)
    resized = load<u32>(from, Block.RESIZED)
    unborn = load<u32>(from, Block.FLAGS) & Block.UNBORN
    if (address == 0) address = Block.addressOf(from)
    addPair(MATRIX, ((<u64>load<u32>(from, Block.THREAD)) << 32) | (<u64>thread), before)
    ends(from)
    if ((effect & BEGAN) == 0) {
      if (unborn == 0) {
        const cell = bitsOf(before) * Layout.HEAT_SIDE + bitsOf(blockEvents - born)
        count(HEAT + ((<usize>cell) << 3))
        addPair(SITE_HEAT, ((<u64>load<u32>(from, Block.SITE)) << Layout.CELL_BITS) | cell, before)
      }
      endChain(resized)
      return
    }
  }
  const block = blockAt(load<u32>(BEGUN + (row << 2)))
  if ((effect & REUSED) != 0) {
    endChain(load<u32>(block, Block.RESIZED))
    ends(block)
  }
  const size = (mask & Event.HAS_SIZE) != 0 ? load<u64>(SIZES + (row << 3)) : 0
  if (size == 0 && (mask & Event.HAS_SIZE) != 0) {
    zeroSizes++
    note(row, Layout.ZERO_SIZE)
  }
  if (isDone) {
    resized++
    resizes(row, mask, site, before, size)
  }
  if (address == 0 && (mask & Event.HAS_OLD_ADDRESS) != 0) address = load<u64>(OLD_ADDRESS + (row << 3))
  if (isInvented) address = 0
  if (((<u32>load<u8>(FATES + row)) & HIGHEST) != 0) isAtMaximum = true
  else leaveMaximum()
  const isPages = (mask & Event.HAS_API) != 0 && load<u8>(API + row) == Event.API_PAGES
  const process = load<u32>(PROCESSES + (row << 2))
  store<u32>(block, Block.place(block, address, process, isPages, size, numbers) | unborn, Block.FLAGS)
  store<u64>(block, size, Block.SIZE)
  store<u64>(block, born, Block.BORN)
  store<u64>(block, events + <u64>row + 1, Block.EVENT)
  store<u32>(block, site, Block.SITE)
  store<u32>(block, thread, Block.THREAD)
  store<u32>(block, resized, Block.RESIZED)
}

/** Counts a block that is no longer live. */
// @ts-ignore: decorator
@inline
export function ends(block: usize): void {
  leaveMaximum()
  Block.leave(block)
  store<u32>(block, load<u32>(block, Block.FLAGS) & ~Block.IS_LIVE, Block.FLAGS)
}

/** Something is about to change without reaching a new maximum. */
// @ts-ignore: decorator
@inline
export function leaveMaximum(): void {
  if (!isAtMaximum) return
  isAtMaximum = false
  keepPages()
}

/** Counts a block that ended, by the number of times it was resized. */
// @ts-ignore: decorator
@inline
export function endChain(resized: u32): void {
  if (resized > 0) count(CHAINS + ((<usize>min<u32>(Layout.LONGEST, resized)) << 3))
}

function resizes(row: usize, mask: u32, site: u32, before: u64, size: u64): void {
  const outcome = (mask & Event.HAS_OUTCOME) != 0 ? load<u8>(OUTCOME + row) : 0xff
  let isMoved = outcome == Event.OUTCOME_MOVED
  if (outcome != Event.OUTCOME_MOVED && outcome != Event.OUTCOME_NONE) {
    isMoved =
      (mask & (Event.HAS_ADDRESS | Event.HAS_OLD_ADDRESS)) == (Event.HAS_ADDRESS | Event.HAS_OLD_ADDRESS) &&
      load<u64>(ADDRESS + (row << 3)) != load<u64>(OLD_ADDRESS + (row << 3))
  }
  siteResizes(site, before, size, isMoved)
  if (size > before) {
    count(RESIZES + Layout.ALL_GROWN)
    addTo(RESIZES + Layout.GROWN_BYTES, size - before)
  } else if (size < before) {
    count(RESIZES + Layout.ALL_SHRUNK)
    addTo(RESIZES + Layout.SHRUNK_BYTES, before - size)
  } else {
    count(RESIZES + Layout.ALL_SAME)
  }
  if (isMoved) count(RESIZES + Layout.ALL_MOVED)
}
