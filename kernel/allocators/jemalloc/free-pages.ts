/** The free extents of arenas: sets of them, splitting and joining, and the pages that are held. */
import { addExtent, dropExtent, endPage, extent, RETAINED } from './extents'
import { dropEnd, dropStart, endingAt, putEnd, putStart, startingAt } from './page-map'
import { trueAddress } from './regions'
import { knowsPages, PAGE_LOG } from './rules'
import { insert, remove } from './sets'

const ARENAS: u32 = 64
/** The arena of the largest blocks. */
export const OVERSIZE_ARENA: u32 = 63

/** Per arena: sets of free extents by classes of their lengths, the most recently used first. */
const SETS: usize = memory.data(65536)
export const LENGTHS: u32 = 128
/**
 * Per arena: the page after the last new one, and whether the extent there is smaller than the known free ones; or the
 * length and order of the next region (5).
 */
const NEXT: usize = memory.data(1024)
/** The pages in use, and the pages that were used and have not been returned to the system. */
export let heldPages: u64 = 0

export function clearFreePages(): void {
  memory.fill(SETS, 0, <usize>ARENAS * LENGTHS * 8)
  memory.fill(NEXT, 0, (<usize>ARENAS) << 4)
  heldPages = 0
}

export function setOf(arena: u32, state: u8, length: u32): usize {
  return SETS + ((<usize>((arena * 2 + (state == RETAINED ? 1 : 0)) * LENGTHS + length)) << 2)
}
export function nextOf(arena: u32): usize {
  return NEXT + ((<usize>arena) << 4)
}

/**
 * Lengths have classes of 1 to 4 pages, and then four for each power of two. @returns the last class that is not longer
 */
export function lengthClass(pages: u32): u32 {
  if (pages < 4) return max<u32>(pages, 1) - 1
  const log = 29 - clz(pages)
  return (log << 2) + 3 + ((pages - ((<u32>4) << log)) >> log)
}
/** The pages of a class of lengths. */
export function lengthOf(c: u32): u32 {
  if (c < 4) return c + 1
  return ((c & 3) + 5) << ((c - 4) >> 2)
}

export function addFree(n: u32, state: u8): void {
  extent(n).state = state
  if (!knowsPages) extent(n).order = extent(n).pages
  insert(setOf(extent(n).arena, state, knowsPages ? lengthClass(extent(n).pages) : 0), n)
  putStart(extent(n).base >> PAGE_LOG, n)
  putEnd(endPage(n), n)
}
export function removeFree(n: u32): void {
  remove(setOf(extent(n).arena, extent(n).state, knowsPages ? lengthClass(extent(n).pages) : 0), n)
  dropStart(extent(n).base >> PAGE_LOG, n)
  dropEnd(endPage(n), n)
}

/** Takes pages from a free extent, after pages that stay free. @returns the extent, 0 if memory is exhausted */
export function take(free: u32, lead: u32, pages: u32, state: u8): u32 {
  const base = extent(free).base
  const arena = extent(free).arena
  const order = extent(free).order
  const was = extent(free).state
  const rest = extent(free).pages - lead - pages
  if (was == RETAINED) heldPages += pages
  removeFree(free)
  if (rest > 0) {
    const n = addExtent(was, arena, base + ((<u64>(lead + pages)) << PAGE_LOG), rest, order)
    if (n != 0) addFree(n, was)
  }
  let n = free
  if (lead > 0) {
    extent(free).pages = lead
    addFree(free, was)
    n = addExtent(state, arena, base + ((<u64>lead) << PAGE_LOG), pages, order)
    if (n == 0) return 0
  }
  extent(n).pages = pages
  extent(n).order = knowsPages ? order : 0
  extent(n).state = state
  putStart(extent(n).base >> PAGE_LOG, n)
  return n
}

/**
 * The number of pages of a free extent before the first aligned one. @param slack the alignment less a page, in pages
 */
export function leadOf(n: u32, slack: u32): u32 {
  return (<u32>(0 - (trueAddress(extent(n).base) >> PAGE_LOG))) & slack
}

/** Counts pages outside extents; a negative number when they are released. */
export function holdPages(pages: u64): void {
  heldPages += pages
}

/** The spare extent of an arena. @returns the address of its number */
export function spareOf(arena: u32): usize {
  return nextOf(arena) + 12
}

/** Joins an extent with the free ones before and after it. */
export function merge(n: u32, state: u8): void {
  while (true) {
    let other = startingAt(endPage(n))
    if (other == 0 || extent(other).state != state || extent(other).arena != extent(n).arena) {
      other = endingAt(extent(n).base >> PAGE_LOG)
      if (other == 0 || extent(other).state != state || extent(other).arena != extent(n).arena) return
    }
    removeFree(other)
    if (extent(other).base < extent(n).base) extent(n).base = extent(other).base
    extent(n).pages += extent(other).pages
    extent(n).order = min(extent(n).order, extent(other).order)
    dropExtent(other)
  }
}
