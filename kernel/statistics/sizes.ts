/**
 * The fates of the blocks of each size. Each size below 4096 has the row of its number. One row for all sizes without
 * room follows, and then the larger sizes in order of first use, with a hash table.
 */
import { BY_HEAPTRACK, BY_MEMRAY } from '../../lib/kernel/layouts/live'
import * as Layout from '../../lib/kernel/layouts/sizes'
import { HISTOGRAM, SUM } from '../../lib/kernel/layouts/totals'
import { GROWING, GrowingTable } from '../shared/grow'
import { HashTable, TABLE, VALUE } from '../shared/hash-table'
import { maxima } from './peak'
import { addTimes, count, record } from './sums'

const FEW: u32 = Layout.FEW
const OTHERS: u32 = FEW
/** The maximum number of sizes with their own row. */
const MOST: u32 = 65_536

/** A histogram of the sizes without their own row, the smallest of them, and whether there is one. */
export const OTHER_SIZES: usize = memory.data(HISTOGRAM)
export const OTHER_SMALLEST: usize = memory.data(16)
/** The rows, and their number. */
export const sizeTable = changetype<GrowingTable>(memory.data(GROWING))
export let sizeRows: u32 = FEW + 1

/** The rows of the larger sizes. */
const rowsBySize = changetype<HashTable>(memory.data(TABLE))

/** Makes room for all new sizes of a batch. @returns whether there is memory */
export function makeSizes(): bool {
  const rows = min<u32>(sizeRows + 4096, MOST + 1)
  return sizeTable.reserve(<u64>rows * Layout.SIZE_BYTES) && rowsBySize.reserve(rows - sizeRows)
}

function rowAt(row: u32): usize {
  return sizeTable.at + <usize>row * Layout.SIZE_BYTES
}

/** The row of a size, which is added if it is new and there is room. */
export function sizeAt(size: u64): usize {
  return size < <u64>FEW ? rowAt(<u32>size) : rowAt(largeRow(size))
}

function largeRow(size: u64): u32 {
  const slot = rowsBySize.slotOf(size)
  const known = load<u32>(slot, VALUE)
  if (known != 0) return known
  if (sizeRows > MOST) return OTHERS
  const row = sizeRows++
  store<u64>(rowsBySize.put(slot, size), <u64>row, VALUE)
  store<u64>(rowAt(row), size)
  return row
}

/** A block of this size began. */
export function sizeGains(size: u64): void {
  const row = sizeAt(size)
  if (row == rowAt(OTHERS)) countOther(size)
  savePeak(row)
  count(row + Layout.ALLOCATIONS)
  store<u32>(row, load<u32>(row, Layout.LIVE) + 1, Layout.LIVE)
}

function countOther(size: u64): void {
  record(OTHER_SIZES, size)
  if (size < load<u64>(OTHER_SMALLEST) || load<u64>(OTHER_SMALLEST, 8) == 0) {
    store<u64>(OTHER_SMALLEST, size)
    store<u64>(OTHER_SMALLEST, 1, 8)
  }
}

/** Counts the end of a block of this row's size. */
export function sizeLoses(row: usize): void {
  savePeak(row)
  store<u32>(row, load<u32>(row, Layout.LIVE) - 1, Layout.LIVE)
}

/** A block of this row's size ended with its process. */
export function sizeLeaks(row: usize): void {
  sizeLoses(row)
  count(row + Layout.LEAKS)
}

/** The block of this row's size that just ended was temporary. */
export function sizeWasTemporary(row: usize, fate: u32): void {
  if ((fate & BY_HEAPTRACK) != 0) count(row + Layout.HEAPTRACK)
  if ((fate & BY_MEMRAY) != 0) count(row + Layout.MEMRAY)
}

/** As `savePeak` in owners.ts. */
function savePeak(row: usize): void {
  if (load<u64>(row, Layout.STAMP) == maxima) return
  store<u64>(row, maxima, Layout.STAMP)
  store<u32>(row, load<u32>(row, Layout.LIVE), Layout.PEAK)
}

/** A trace ended: live blocks have leaked. */
export function sizesLeak(): void {
  for (let row: u32 = 0; row < sizeRows; row++) {
    const at = rowAt(row)
    const live = load<u32>(at, Layout.LIVE)
    if (live == 0) continue
    savePeak(at)
    store<u64>(at, load<u64>(at, Layout.LEAKS) + <u64>live, Layout.LEAKS)
    store<u32>(at, 0, Layout.LIVE)
  }
}

/** The stream ended: completes the figures at the peak of all rows. */
export function settleSizes(): void {
  for (let row: u32 = 0; row < sizeRows; row++) savePeak(rowAt(row))
}

/** The row of a size, which is added if it is new and there is room. */
export function rowOfSize(size: u64): u32 {
  return size < <u64>FEW ? <u32>size : largeRow(size)
}

/** As `beginSums` in owners.ts. */
export function beginSizes(hasPeak: bool): void {
  for (let row: u32 = 0; row < sizeRows; row++) {
    const at = rowAt(row)
    if (!hasPeak && load<u64>(at, Layout.STAMP) == maxima) continue
    store<u64>(at, maxima, Layout.STAMP)
    store<u32>(at, 0, Layout.PEAK)
  }
}

/** Adds blocks of a size: as `addBlocks` in owners.ts. */
export function addSizes(row: u32, size: u64, allocations: u64, peak: u64, live: u64): void {
  const at = rowAt(row)
  if (row == OTHERS) {
    countOther(size)
    const bar = OTHER_SIZES + ((<usize>(64 - clz(size))) << 3)
    store<u64>(bar, load<u64>(bar) + allocations - 1)
    addTimes(OTHER_SIZES + SUM, size, allocations - 1)
  }
  store<u64>(at, load<u64>(at, Layout.ALLOCATIONS) + allocations, Layout.ALLOCATIONS)
  store<u32>(at, load<u32>(at, Layout.PEAK) + <u32>peak, Layout.PEAK)
  store<u32>(at, load<u32>(at, Layout.LIVE) + <u32>live, Layout.LIVE)
}
