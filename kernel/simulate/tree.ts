/**
 * Trees of nodes by their keys: B+ trees, in which each entry knows the number of nodes below it and the largest of
 * their sizes. The keys of a tree differ. A tree is the number of its first page; 0 is an empty tree.
 */
import { giveRoom, takeRoom } from '../live/room'
import { KEY, KEY2, nodeAt, SIZE } from './nodes'

/** A page: the number of its entries, its level, and the entries. */
const ENTRIES: usize = 0
const LEVEL: usize = 4
const FIRST: usize = 16
/** An entry: the lowest keys, the largest size, the number of nodes, and the page below, or the node at level 0. */
const E_KEY: usize = 0
const E_KEY2: usize = 8
const E_MAX: usize = 16
const E_COUNT: usize = 24
const E_BELOW: usize = 28
const ENTRY: u32 = 5
const MOST_ENTRIES: u32 = 16
const PAGE: u32 = 528
/** A page with fewer entries is joined with its neighbour if both have at most so many. */
const FEW: u32 = 5
const JOINED: u32 = 12

const FEWEST: u32 = 19
const MOST: u32 = 31

let pages: usize = 0
let log: u32 = 0
/** The end of the pages that were used, in bytes, and the first unused page before it. */
let end: u32 = 0
let unused: u32 = 0

/** Discards all trees. @returns false if memory is exhausted */
export function clearTrees(): bool {
  if (pages != 0) giveRoom(pages, log)
  log = FEWEST
  pages = takeRoom(log)
  end = PAGE
  unused = 0
  if (pages == 0) return false
  memory.fill(pages, 0, PAGE)
  return true
}

/** Makes sure that there is room for new pages. @returns false if memory is exhausted */
export function makeTrees(wanted: u32): bool {
  while (<u64>end + <u64>wanted * PAGE > (<u64>1) << log) {
    if (log >= MOST) return false
    const grown = takeRoom(log + 1)
    if (grown == 0) return false
    memory.copy(grown, pages, end)
    giveRoom(pages, log)
    pages = grown
    log++
  }
  return true
}

// @ts-ignore: decorator
@inline
function pageAt(page: u32): usize {
  return pages + <usize>page * PAGE
}

// @ts-ignore: decorator
@inline
function entryAt(at: usize, i: u32): usize {
  return at + FIRST + ((<usize>i) << ENTRY)
}

function newPage(level: u32): u32 {
  let page = unused
  if (page != 0) unused = load<u32>(pageAt(page))
  else {
    page = end / PAGE
    end += PAGE
  }
  store<u32>(pageAt(page), 0, ENTRIES)
  store<u32>(pageAt(page), level, LEVEL)
  return page
}

function dropPage(page: u32): void {
  store<u32>(pageAt(page), unused)
  unused = page
}

/** The number of entries whose keys are not above these. */
// @ts-ignore: decorator
@inline
function upTo(at: usize, key: u64, key2: u64): u32 {
  let low: u32 = 0
  let high = load<u32>(at, ENTRIES)
  while (low < high) {
    const middle = (low + high) >> 1
    const entry = entryAt(at, middle)
    const here = load<u64>(entry, E_KEY)
    if (here < key || (here == key && load<u64>(entry, E_KEY2) <= key2)) low = middle + 1
    else high = middle
  }
  return low
}

function maxOf(at: usize): u64 {
  let most: u64 = 0
  const last = entryAt(at, load<u32>(at, ENTRIES))
  for (let entry = entryAt(at, 0); entry < last; entry += 1 << ENTRY) most = max(most, load<u64>(entry, E_MAX))
  return most
}

function countOf(at: usize): u32 {
  let count: u32 = 0
  const last = entryAt(at, load<u32>(at, ENTRIES))
  for (let entry = entryAt(at, 0); entry < last; entry += 1 << ENTRY) count += load<u32>(entry, E_COUNT)
  return count
}

// @ts-ignore: decorator
@inline
function copyEntry(to: usize, from: usize): void {
  v128.store(to, v128.load(from))
  v128.store(to, v128.load(from, 16), 16)
}

function fill(entry: usize, key: u64, key2: u64, most: u64, count: u32, below: u32): void {
  store<u64>(entry, key, E_KEY)
  store<u64>(entry, key2, E_KEY2)
  store<u64>(entry, most, E_MAX)
  store<u32>(entry, count, E_COUNT)
  store<u32>(entry, below, E_BELOW)
}

/** Sets an entry to what is in the page below it. */
function describe(entry: usize, below: u32): void {
  const at = pageAt(below)
  const first = entryAt(at, 0)
  fill(entry, load<u64>(first, E_KEY), load<u64>(first, E_KEY2), maxOf(at), countOf(at), below)
}

/** Makes a gap for an entry. */
function open(at: usize, i: u32): usize {
  const n = load<u32>(at, ENTRIES)
  const gap = entryAt(at, i)
  for (let entry = entryAt(at, n); entry > gap; entry -= 1 << ENTRY) copyEntry(entry, entry - (1 << ENTRY))
  store<u32>(at, n + 1, ENTRIES)
  return gap
}

function erase(at: usize, i: u32): void {
  const n = load<u32>(at, ENTRIES) - 1
  const last = entryAt(at, n)
  for (let entry = entryAt(at, i); entry < last; entry += 1 << ENTRY) copyEntry(entry, entry + (1 << ENTRY))
  store<u32>(at, n, ENTRIES)
}

let half: u32 = 0

/** The gap for an entry in a page, or in `half`, a new page after it, if the page is full; otherwise `half` is 0. */
function gapIn(page: u32, i: u32): usize {
  const at = pageAt(page)
  half = 0
  if (load<u32>(at, ENTRIES) < MOST_ENTRIES) return open(at, i)
  half = newPage(load<u32>(at, LEVEL))
  const other = pageAt(half)
  // Keys often rise: the last place of a page is followed by an empty page.
  const kept: u32 = i == MOST_ENTRIES ? MOST_ENTRIES : MOST_ENTRIES / 2
  const n = MOST_ENTRIES - kept
  for (let j: u32 = 0; j < n; j++) copyEntry(entryAt(other, j), entryAt(at, kept + j))
  store<u32>(at, kept, ENTRIES)
  store<u32>(other, n, ENTRIES)
  return i < kept ? open(at, i) : open(other, i - kept)
}

/** @returns a new page after the page, 0 if there is none */
function insertInto(page: u32, node: u32, key: u64, key2: u64, size: u64): u32 {
  const at = pageAt(page)
  let i = upTo(at, key, key2)
  if (load<u32>(at, LEVEL) == 0) {
    fill(gapIn(page, i), key, key2, size, 1, node)
    return half
  }
  if (i > 0) i--
  const entry = entryAt(at, i)
  const below = load<u32>(entry, E_BELOW)
  const made = insertInto(below, node, key, key2, size)
  if (made == 0) {
    const first = entryAt(pageAt(below), 0)
    store<u64>(entry, load<u64>(first, E_KEY), E_KEY)
    store<u64>(entry, load<u64>(first, E_KEY2), E_KEY2)
    store<u32>(entry, load<u32>(entry, E_COUNT) + 1, E_COUNT)
    store<u64>(entry, max(load<u64>(entry, E_MAX), size), E_MAX)
    return 0
  }
  describe(entry, below)
  const gap = gapIn(page, i + 1)
  const other = half
  describe(gap, made)
  return other
}

/** Adds a node. @returns the tree with it */
export function insert(tree: u32, node: u32, key: u64, key2: u64): u32 {
  const at = nodeAt(node)
  store<u64>(at, key, KEY)
  store<u64>(at, key2, KEY2)
  const first = tree == 0 ? newPage(0) : tree
  const made = insertInto(first, node, key, key2, load<u64>(at, SIZE))
  if (made == 0) return first
  const top = newPage(load<u32>(pageAt(first), LEVEL) + 1)
  store<u32>(pageAt(top), 2, ENTRIES)
  describe(entryAt(pageAt(top), 0), first)
  describe(entryAt(pageAt(top), 1), made)
  return top
}

function removeFrom(page: u32, key: u64, key2: u64, size: u64): void {
  const at = pageAt(page)
  const i = upTo(at, key, key2) - 1
  if (load<u32>(at, LEVEL) == 0) return erase(at, i)
  const entry = entryAt(at, i)
  const below = load<u32>(entry, E_BELOW)
  removeFrom(below, key, key2, size)
  const from = pageAt(below)
  const n = load<u32>(from, ENTRIES)
  if (n == 0) {
    dropPage(below)
    return erase(at, i)
  }
  update(entry, from, size)
  store<u32>(entry, load<u32>(entry, E_COUNT) - 1, E_COUNT)
  if (n < FEW) joinPages(at, i + 1 < load<u32>(at, ENTRIES) ? i : i - 1)
}

/** Corrects the keys of an entry, and its largest size, after a node of a size has gone from the page below. */
// @ts-ignore: decorator
@inline
function update(entry: usize, from: usize, size: u64): void {
  store<u64>(entry, load<u64>(from, FIRST + E_KEY), E_KEY)
  store<u64>(entry, load<u64>(from, FIRST + E_KEY2), E_KEY2)
  if (load<u64>(entry, E_MAX) == size) store<u64>(entry, maxOf(from), E_MAX)
}

/**
 * Joins the pages below two neighbours if they have few entries. @param i the first of them; -1 if there are not two
 */
function joinPages(at: usize, i: u32): void {
  if (i == <u32>-1) return
  const entry = entryAt(at, i)
  const first = load<u32>(entry, E_BELOW)
  const second = load<u32>(entryAt(at, i + 1), E_BELOW)
  const to = pageAt(first)
  const from = pageAt(second)
  const n = load<u32>(to, ENTRIES)
  const more = load<u32>(from, ENTRIES)
  if (n + more > JOINED) return
  for (let j: u32 = 0; j < more; j++) copyEntry(entryAt(to, n + j), entryAt(from, j))
  store<u32>(to, n + more, ENTRIES)
  dropPage(second)
  erase(at, i + 1)
  describe(entry, first)
}

/** Removes a node that is in the tree, and has the size with which it was added. @returns the tree without it */
export function remove(tree: u32, node: u32): u32 {
  const here = nodeAt(node)
  removeFrom(tree, load<u64>(here, KEY), load<u64>(here, KEY2), load<u64>(here, SIZE))
  while (true) {
    const at = pageAt(tree)
    const n = load<u32>(at, ENTRIES)
    const level = load<u32>(at, LEVEL)
    if (n > 1 || (n == 1 && level == 0)) return tree
    const below = n == 0 ? 0 : load<u32>(entryAt(at, 0), E_BELOW)
    dropPage(tree)
    if (n == 0) return 0
    tree = below
  }
}

function replaceIn(page: u32, node: u32, from: u64, size: u64, key: u64, newSize: u64): void {
  const at = pageAt(page)
  const entry = entryAt(at, upTo(at, from, 0) - 1)
  if (load<u32>(at, LEVEL) == 0) return fill(entry, key, 0, newSize, 1, node)
  const below = load<u32>(entry, E_BELOW)
  replaceIn(below, node, from, size, key, newSize)
  if (newSize > load<u64>(entry, E_MAX)) store<u64>(entry, newSize, E_MAX)
  update(entry, pageAt(below), newSize > size ? 0 : size)
}

/**
 * Puts a node in the place of another one in a tree without second keys. @param size that of the other node
 * @param key no other node's is between it and that of the other node
 */
export function replace(tree: u32, other: u32, size: u64, node: u32, key: u64): void {
  const from = load<u64>(nodeAt(other), KEY)
  const at = nodeAt(node)
  store<u64>(at, key, KEY)
  store<u64>(at, 0, KEY2)
  replaceIn(tree, node, from, size, key, load<u64>(at, SIZE))
}

/** The number of nodes before the one that `firstFrom` has found. */
export let foundRank: u32 = 0

/** The first node from a key on that has at least a size; 0 if there is none. @param size not 0 */
export function firstFrom(page: u32, key: u64, size: u64): u32 {
  const at = pageAt(page)
  const n = load<u32>(at, ENTRIES)
  const isLowest = load<u32>(at, LEVEL) == 0
  let from: u32 = 0
  if (key != 0) {
    from = upTo(at, key, 0)
    if (from > 0 && (!isLowest || load<u64>(entryAt(at, from - 1), E_KEY) == key)) from--
  }
  for (let i = from; i < n; i++) {
    const entry = entryAt(at, i)
    if (load<u64>(entry, E_MAX) < size) continue
    const below = load<u32>(entry, E_BELOW)
    foundRank = 0
    const found = isLowest ? below : firstFrom(below, i == from ? key : 0, size)
    if (found == 0) continue
    if (isLowest) foundRank = i
    else for (let j: u32 = 0; j < i; j++) foundRank += load<u32>(entryAt(at, j), E_COUNT)
    return found
  }
  return 0
}

/** The first node from a pair of keys on; 0 if there is none. */
export function lowest(page: u32, key: u64, key2: u64): u32 {
  const at = pageAt(page)
  const n = load<u32>(at, ENTRIES)
  const isLowest = load<u32>(at, LEVEL) == 0
  let i = upTo(at, key, key2)
  if (i > 0) {
    const entry = entryAt(at, i - 1)
    const isSame = load<u64>(entry, E_KEY) == key && load<u64>(entry, E_KEY2) == key2
    const below = load<u32>(entry, E_BELOW)
    const found = !isLowest ? lowest(below, key, key2) : isSame ? below : 0
    if (found != 0) return found
  }
  if (i >= n) return 0
  const below = load<u32>(entryAt(at, i), E_BELOW)
  return isLowest ? below : lowest(below, 0, 0)
}

/** The number of nodes before a key, in a tree without second keys. */
export function rank(page: u32, key: u64): u32 {
  let count: u32 = 0
  while (true) {
    const at = pageAt(page)
    let i = upTo(at, key, 0)
    const isLowest = load<u32>(at, LEVEL) == 0
    if (i == 0) return count
    const last = entryAt(at, i - 1)
    if (isLowest) return count + i - (load<u64>(last, E_KEY) == key ? 1 : 0)
    for (let j: u32 = 0; j < i - 1; j++) count += load<u32>(entryAt(at, j), E_COUNT)
    page = load<u32>(last, E_BELOW)
  }
}

/** The number of nodes of a tree. */
export function treeCount(tree: u32): u32 {
  return countOf(pageAt(tree))
}
