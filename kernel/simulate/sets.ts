/**
 * Sets of numbers below 2^45, which are mostly close to each other: tries whose nodes have 64 children. The last two
 * levels are pages of bits. A set is the number of its first page and the levels above the last page, in 8 bytes; 0 is
 * an empty set.
 */
import { GROWING, GrowingTable } from '../shared/grow'

/** The levels of a set, after its page. */
const HEIGHT: usize = 4
/** A page has 64 words of bits, or 64 child pages. Bits of each page mark the entries that are not 0. */
const PAGE_LOG: u32 = 9
const BITS: u64 = 12
const FANOUT: u64 = 6

const FEWEST: u32 = 10

const pages = changetype<GrowingTable>(memory.data(GROWING))
const filled = changetype<GrowingTable>(memory.data(GROWING))
/** The end of the pages that were used, and the first unused one before it. */
export let end: u32 = 1
let unused: u32 = 0

/** By level, the page on the way to a number. */
const WAY: usize = memory.data(4 * 8)

/** Discards all sets. @returns false if memory is exhausted */
export function clearSets(): bool {
  end = 1
  unused = 0
  return pages.restart(FEWEST + PAGE_LOG) && filled.restart(FEWEST + 3)
}

/** Makes sure that there is room for new pages. @returns false if memory is exhausted */
export function makeSets(wanted: u32): bool {
  const wantedEnd = <u64>(end + wanted)
  return pages.extend(wantedEnd << PAGE_LOG) && filled.extend(wantedEnd << 3)
}

function pageAt(page: u32): usize {
  return pages.at + ((<usize>page) << PAGE_LOG)
}

function bitsAt(page: u32): usize {
  return filled.at + ((<usize>page) << 3)
}

/** The place of a child page in a page. */
function below(page: u32, i: u64): usize {
  return pageAt(page) + ((<usize>i) << 2)
}

function wordOf(page: u32, number: u64): usize {
  return pageAt(page) + ((<usize>((number >> 6) & 63)) << 3)
}

/** The index of the child that contains a number, in a page of a level. */
function indexOf(number: u64, level: u32): u64 {
  return (number >> (BITS + FANOUT * <u64>(level - 1))) & 63
}

function newPage(): u32 {
  let page = unused
  if (page != 0) {
    // Except for this word, an unused page is zero.
    unused = load<u32>(pageAt(page))
    store<u32>(pageAt(page), 0)
  } else {
    page = end++
    memory.fill(pageAt(page), 0, 1 << PAGE_LOG)
  }
  store<u64>(bitsAt(page), 0)
  return page
}

function dropPage(page: u32): void {
  store<u32>(pageAt(page), unused)
  unused = page
}

/** Whether a number is in a set. */
export function has(set: usize, number: u64): bool {
  let page = load<u32>(set)
  let level = load<u32>(set, HEIGHT)
  if (page == 0 || number >> (BITS + FANOUT * <u64>level) != 0) return false
  for (; level > 0; level--) {
    page = load<u32>(below(page, indexOf(number, level)))
    if (page == 0) return false
  }
  return ((load<u64>(wordOf(page, number)) >> (number & 63)) & 1) != 0
}

/**
 * Adds a number that is not in a set. There must be room for twelve pages: for a large number that follows small ones,
 * six above the only page, and six on the way down from there.
 */
export function add(set: usize, number: u64): void {
  let page = load<u32>(set)
  let level = load<u32>(set, HEIGHT)
  while (number >> (BITS + FANOUT * <u64>level) != 0) {
    level++
    if (page == 0) continue
    const above = newPage()
    store<u32>(pageAt(above), page)
    store<u64>(bitsAt(above), 1)
    page = above
  }
  if (page == 0) page = newPage()
  store<u32>(set, page)
  store<u32>(set, level, HEIGHT)
  for (; level > 0; level--) {
    const i = indexOf(number, level)
    const place = below(page, i)
    let next = load<u32>(place)
    if (next == 0) {
      next = newPage()
      store<u32>(place, next)
      store<u64>(bitsAt(page), load<u64>(bitsAt(page)) | ((<u64>1) << i))
    }
    page = next
  }
  const word = wordOf(page, number)
  store<u64>(word, load<u64>(word) | ((<u64>1) << (number & 63)))
  store<u64>(bitsAt(page), load<u64>(bitsAt(page)) | ((<u64>1) << ((number >> 6) & 63)))
}

/** Removes a number that is in a set. */
export function remove(set: usize, number: u64): void {
  let page = load<u32>(set)
  const top = load<u32>(set, HEIGHT)
  for (let level = top; level > 0; level--) {
    store<u32>(WAY + ((<usize>level) << 2), page)
    page = load<u32>(below(page, indexOf(number, level)))
  }
  const word = wordOf(page, number)
  const rest = load<u64>(word) & ~((<u64>1) << (number & 63))
  store<u64>(word, rest)
  if (rest != 0) return
  let i = (number >> 6) & 63
  for (let level: u32 = 0; ;) {
    const bits = load<u64>(bitsAt(page)) & ~((<u64>1) << i)
    store<u64>(bitsAt(page), bits)
    if (bits != 0) return
    dropPage(page)
    if (level == top) break
    level++
    page = load<u32>(WAY + ((<usize>level) << 2))
    i = indexOf(number, level)
    store<u32>(below(page, i), 0)
  }
  store<u64>(set, 0)
}

/** The lowest number of a set that is not empty. */
export function first(set: usize): u64 {
  let page = load<u32>(set)
  let number: u64 = 0
  for (let level = load<u32>(set, HEIGHT); level > 0; level--) {
    const i = ctz(load<u64>(bitsAt(page)))
    number = (number << FANOUT) | i
    page = load<u32>(below(page, i))
  }
  const word = ctz(load<u64>(bitsAt(page)))
  number = (number << FANOUT) | word
  return (number << FANOUT) | ctz(load<u64>(pageAt(page) + ((<usize>word) << 3)))
}
