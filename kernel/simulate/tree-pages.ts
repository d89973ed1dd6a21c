/** The pages of trees (tree.ts): where their entries are, and the memory for them. A page has a number, from 1. */
import { GROWING, GrowingTable } from '../shared/grow'

/** A page: the number of its entries, its level, and for each entry its lowest keys, */
export const ENTRIES: usize = 0
export const LEVEL: usize = 4
export const KEYS: usize = 8
/** the largest size, */
export const MAXES: usize = 128
export const KEYS2: usize = 256
/** the number of nodes, and the page below, or the node at level 0. */
export const COUNTS: usize = 384
export const BELOWS: usize = 448
export const MOST_ENTRIES: u32 = 15
/** The size of a page, as a logarithm. Pages begin at lines of the processor's cache. */
const PAGE_LOG: u32 = 9

const FEWEST: u32 = 19

const pages = changetype<GrowingTable>(memory.data(GROWING))
/** The end of the pages that were used, in bytes, and the first unused page before it. */
let end: u32 = 0
let unused: u32 = 0

/** Discards all trees. @returns false if memory is exhausted */
export function clearTrees(): bool {
  end = 1 << PAGE_LOG
  unused = 0
  if (!pages.restart(FEWEST)) return false
  memory.fill(pages.at, 0, 1 << PAGE_LOG)
  return true
}

/** Makes sure that there is room for new pages. @returns false if memory is exhausted */
export function makeTrees(wanted: u32): bool {
  return pages.extend(<u64>end + ((<u64>wanted) << PAGE_LOG))
}

// @ts-ignore: decorator
@inline
export function pageAt(page: u32): usize {
  return pages.at + ((<usize>page) << PAGE_LOG)
}

export function keyOf(at: usize, i: u32): u64 {
  return load<u64>(at + ((<usize>i) << 3), KEYS)
}

export function mostOf(at: usize, i: u32): u64 {
  return load<u64>(at + ((<usize>i) << 3), MAXES)
}

export function belowOf(at: usize, i: u32): u32 {
  return load<u32>(at + ((<usize>i) << 2), BELOWS)
}

export function setKeys(at: usize, i: u32, key: u64, key2: u64): void {
  store<u64>(at + ((<usize>i) << 3), key, KEYS)
  store<u64>(at + ((<usize>i) << 3), key2, KEYS2)
}

export function setMost(at: usize, i: u32, most: u64): void {
  store<u64>(at + ((<usize>i) << 3), most, MAXES)
}

export function addCount(at: usize, i: u32, more: i32): void {
  const here = at + ((<usize>i) << 2)
  store<u32>(here, load<u32>(here, COUNTS) + more, COUNTS)
}

export function newPage(level: u32): u32 {
  let page = unused
  if (page != 0) unused = load<u32>(pageAt(page))
  else {
    page = end >> PAGE_LOG
    end += 1 << PAGE_LOG
  }
  store<u32>(pageAt(page), 0, ENTRIES)
  store<u32>(pageAt(page), level, LEVEL)
  return page
}

export function dropPage(page: u32): void {
  store<u32>(pageAt(page), unused)
  unused = page
}
