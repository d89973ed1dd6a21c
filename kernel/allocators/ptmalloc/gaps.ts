/**
 * The process's area for mappings, which grows downwards: its end, and the gaps in it. Linux puts a mapping at the top
 * end of the highest gap that is large enough.
 */
import { set32, set64 } from './log'
import { heapRoom } from './rules'

const MOST: u32 = 1024
/** Per gap, its start and length. */
const GAPS: usize = memory.data(16384)
/** The number of gaps, and the lowest mapping, 0 if none was seen yet. */
const COUNT: usize = memory.data(24)
export const LOWEST: usize = COUNT + 8
/**
 * The start of a gap whose end is unknown, 0 if none. It lies above the first heap of a thread that was seen, which was
 * aligned to its size.
 */
export const OPEN: usize = COUNT + 16

/** Mappings that are further down than this do not belong to the area. */
const FAR: u64 = 1 << 40

/** Forgets all mappings. @param lowest the lower end of the area, 0 if unknown */
export function clearGaps(lowest: u64): void {
  store<u32>(COUNT, 0)
  store<u64>(LOWEST, lowest)
  store<u64>(OPEN, 0)
}

/** Whether the position of the area is known. */
export function knowsArea(): bool {
  return load<u64>(LOWEST) != 0
}

function gap(i: u32): usize {
  return GAPS + ((<usize>i) << 4)
}

export function gapCount(): u32 {
  return load<u32>(COUNT)
}

export function startOf(i: u32): u64 {
  return load<u64>(gap(i))
}

export function lengthOf(i: u32): u64 {
  return load<u64>(gap(i), 8)
}

function setGap(i: u32, start: u64, length: u64): void {
  set64(gap(i), start)
  set64(gap(i) + 8, length)
}

/** Adds a gap, if there is room for one. */
export function addGap(start: u64, length: u64): void {
  const count = load<u32>(COUNT)
  if (count == MOST) return
  setGap(count, start, length)
  set32(COUNT, count + 1)
}

function dropGap(i: u32): void {
  const count = load<u32>(COUNT) - 1
  if (i != count) setGap(i, startOf(count), lengthOf(count))
  set32(COUNT, count)
}

/** Maps some bytes. @returns their address; 0 if that cannot be known */
export function mapBytes(length: u64): u64 {
  const count = load<u32>(COUNT)
  let best: u64 = 0
  let which: u32 = 0
  for (let i: u32 = 0; i < count; i++) {
    if (lengthOf(i) >= length && startOf(i) >= best) {
      best = startOf(i)
      which = i
    }
  }
  if (best != 0) {
    const rest = lengthOf(which) - length
    if (rest == 0) dropGap(which)
    else setGap(which, best, rest)
    return best + rest
  }
  const lowest = load<u64>(LOWEST)
  if (lowest <= length) return 0
  set64(LOWEST, lowest - length)
  return lowest - length
}

export function unmapBytes(start: u64, length: u64): void {
  if (length == 0 || !knowsArea()) return
  let i: u32 = 0
  while (i < load<u32>(COUNT)) {
    const from = startOf(i)
    const size = lengthOf(i)
    if (from + size == start || start + length == from) {
      start = min(start, from)
      length += size
      dropGap(i)
      // At most two gaps touch it; the one that moved to this place has not been checked yet.
    } else {
      i++
    }
  }
  if (start == load<u64>(LOWEST)) set64(LOWEST, start + length)
  else addGap(start, length)
}

/** Notes that a thread's heap was seen at this address. */
export function seeHeap(start: u64): void {
  if (!knowsArea()) set64(OPEN, start + heapRoom)
  seeMapping(start, heapRoom)
}

/** Notes that a mapping was seen at this address, so that there is no gap. */
export function seeMapping(start: u64, length: u64): void {
  const lowest = load<u64>(LOWEST)
  const open = load<u64>(OPEN)
  if (open != 0 && start >= open && start + length <= open + heapRoom) {
    // It is at the end of the gap.
    set64(OPEN, 0)
    if (start > open) addGap(open, start - open)
    return
  }
  if (lowest == 0) {
    set64(LOWEST, start)
    return
  }
  const end = start + length
  const count = load<u32>(COUNT)
  for (let i: u32 = 0; i < count; i++) {
    const from = startOf(i)
    const to = from + lengthOf(i)
    if (start < from || end > to) continue
    if (start > from) {
      setGap(i, from, start - from)
      if (end < to) addGap(end, to - end)
    } else if (end < to) {
      setGap(i, end, to - end)
    } else {
      dropGap(i)
    }
    return
  }
  if (end <= lowest && lowest - start < FAR) set64(LOWEST, start)
}

/** A mapping was seen below gaps with room for it, so unseen mappings must fill these gaps. */
export function disproveGaps(start: u64, length: u64): void {
  let i: u32 = 0
  while (i < load<u32>(COUNT)) {
    if (startOf(i) >= start && lengthOf(i) >= length) dropGap(i)
    else i++
  }
}

/** Whether nothing is mapped there. */
export function isUnmapped(start: u64, length: u64): bool {
  if (start + length <= load<u64>(LOWEST)) return true
  const count = load<u32>(COUNT)
  for (let i: u32 = 0; i < count; i++)
    if (start >= startOf(i) && start + length <= startOf(i) + lengthOf(i)) return true
  return false
}

/** Extends a mapping upwards by some bytes. @returns whether there was a gap */
export function extendMapping(end: u64, bytes: u64): bool {
  const count = load<u32>(COUNT)
  for (let i: u32 = 0; i < count; i++) {
    if (startOf(i) != end || lengthOf(i) < bytes) continue
    if (lengthOf(i) == bytes) dropGap(i)
    else setGap(i, end + bytes, lengthOf(i) - bytes)
    return true
  }
  return false
}
