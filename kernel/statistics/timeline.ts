/**
 * The level of live bytes over time: a list of parts with the same number of events each. When there is no room for
 * another part, neighbours are joined, so that memory is constant regardless of the trace's length.
 */
import * as Layout from '../../lib/kernel/layouts/timeline'
import { MASK, TIME } from '../shared/columns'
import { HAS_TIME } from '../shared/event'
import { copySum, raise } from './sums'
import { ALLOCATED, ALLOCATIONS, FREES, LIVE, LIVE_BYTES } from './totals'

const MOST: u32 = 2000

export const PARTS: usize = memory.data(272000)
export let parts: u32 = 0
/** The number of events of a part; the last one may have fewer. */
export let partEvents: u64 = 1
/** The number of events of the last part so far. */
let inPart: u64 = 0

/** The minimum and maximum of live bytes in the current part, as two halves each. */
let leastLow: u64 = 0
let leastHigh: u64 = 0
let mostLow: u64 = 0
let mostHigh: u64 = 0
/** The fewest and the most blocks. */
let fewest: u64 = 0
let mostBlocks: u64 = 0
/** The resident bytes of all processes, and the most of them in the current part; 0 where none are known. */
export const RESIDENT_BYTES: usize = memory.data(16)
const MOST_RESIDENT: usize = memory.data(16)

/** Continues the last part, or begins one. @returns the number of further events that it accepts, at most `rows` */
export function beginPart(rows: usize): usize {
  if (inPart == 0) {
    if (parts == MOST) joinParts()
    parts++
    leastLow = mostLow = load<u64>(LIVE_BYTES)
    leastHigh = mostHigh = load<u64>(LIVE_BYTES, 8)
    fewest = mostBlocks = load<u64>(LIVE)
    copySum(MOST_RESIDENT, RESIDENT_BYTES)
  } else {
    // A trace may have ended in between.
    noteLevel()
  }
  return <usize>min<u64>(<u64>rows, partEvents - inPart)
}

/** The level after an event. */
export function noteLevel(): void {
  const low = load<u64>(LIVE_BYTES)
  const high = load<u64>(LIVE_BYTES, 8)
  if (high == mostHigh ? low > mostLow : high > mostHigh) {
    mostLow = low
    mostHigh = high
  } else if (high == leastHigh ? low < leastLow : high < leastHigh) {
    leastLow = low
    leastHigh = high
  }
  const blocks = load<u64>(LIVE)
  if (blocks > mostBlocks) mostBlocks = blocks
  else if (blocks < fewest) fewest = blocks
}

/** Resident bytes after they have changed. */
export function noteResident(): void {
  raise(MOST_RESIDENT, RESIDENT_BYTES)
}

/** Saves the part, which has the rows from `from` to `to`. @param isTimed the times of the trace are used */
export function endPart(from: usize, to: usize, isTimed: bool): void {
  inPart += <u64>(to - from)
  if (inPart == partEvents) inPart = 0
  const part = partAt(parts - 1)
  store<u64>(part, leastLow, Layout.LEAST)
  store<u64>(part, leastHigh, Layout.LEAST + 8)
  store<u64>(part, mostLow, Layout.HIGHEST)
  store<u64>(part, mostHigh, Layout.HIGHEST + 8)
  store<u64>(part, fewest, Layout.FEWEST)
  store<u64>(part, mostBlocks, Layout.MOST_BLOCKS)
  copySum(part + Layout.RESIDENT_MOST, MOST_RESIDENT)
  copySum(part + Layout.LEVEL, LIVE_BYTES)
  store<u64>(part, load<u64>(LIVE), Layout.BLOCKS)
  store<u64>(part, load<u64>(ALLOCATIONS), Layout.COUNT)
  store<u64>(part, load<u64>(FREES), Layout.FREED)
  copySum(part + Layout.BYTES, ALLOCATED)
  if (!isTimed) return
  for (let row = to; row > from; row--) {
    if ((load<u32>(MASK + ((row - 1) << 2)) & HAS_TIME) == 0) continue
    store<u64>(part, load<u64>(TIME + ((row - 1) << 3)), Layout.CLOCK)
    store<u64>(part, 1, Layout.TIMED)
    return
  }
}

function partAt(part: u32): usize {
  return PARTS + <usize>part * Layout.PART_BYTES
}

/** Joins every two neighbouring parts, all of which are full. */
function joinParts(): void {
  for (let part: u32 = 0; part < MOST; part += 2) {
    const first = partAt(part)
    const second = partAt(part + 1)
    const to = partAt(part >> 1)
    if (isBelow(first + Layout.LEAST, second + Layout.LEAST)) copySum(second + Layout.LEAST, first + Layout.LEAST)
    if (isBelow(second + Layout.HIGHEST, first + Layout.HIGHEST))
      copySum(second + Layout.HIGHEST, first + Layout.HIGHEST)
    store<u64>(second, min(load<u64>(first, Layout.FEWEST), load<u64>(second, Layout.FEWEST)), Layout.FEWEST)
    store<u64>(
      second,
      max(load<u64>(first, Layout.MOST_BLOCKS), load<u64>(second, Layout.MOST_BLOCKS)),
      Layout.MOST_BLOCKS,
    )
    raise(second + Layout.RESIDENT_MOST, first + Layout.RESIDENT_MOST)
    if (load<u64>(second, Layout.TIMED) == 0) {
      store<u64>(second, load<u64>(first, Layout.CLOCK), Layout.CLOCK)
      store<u64>(second, load<u64>(first, Layout.TIMED), Layout.TIMED)
    }
    memory.copy(to, second, Layout.PART_BYTES)
  }
  parts = MOST >> 1
  partEvents <<= 1
  memory.fill(partAt(parts), 0, <usize>(MOST - parts) * Layout.PART_BYTES)
}

function isBelow(a: usize, b: usize): bool {
  const high = load<u64>(a, 8)
  const other = load<u64>(b, 8)
  return high == other ? load<u64>(a) < load<u64>(b) : high < other
}
