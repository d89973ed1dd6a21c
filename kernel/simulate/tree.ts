/**
 * Trees of nodes by their keys: B+ trees in which each entry has the number of nodes below it, and the largest of their
 * sizes. Keys are unique in a tree. A tree is the number of its first page; 0 is an empty tree.
 */
import { KEY, KEY2, nodeAt, SIZE } from './nodes'
import {
  addCount,
  BELOWS,
  belowOf,
  COUNTS,
  dropPage,
  ENTRIES,
  KEYS,
  KEYS2,
  keyOf,
  LEVEL,
  MAXES,
  MOST_ENTRIES,
  mostOf,
  newPage,
  pageAt,
  setKeys,
  setMost,
} from './tree-pages'

/** A page with fewer entries is joined with its neighbour if both have at most this number. */
const FEW: u32 = 5
const JOINED: u32 = 12

/** By level, the page and the entry on the path to the node that `firstFrom` found. */
const WAY: usize = memory.data(8 * 16)

/** The number of entries with keys up to these. Either all keys of a tree are below 2^63, or none is. */
// @ts-ignore: decorator
@inline
function upTo(at: usize, key: u64, key2: u64): u32 {
  const n = load<u32>(at, ENTRIES)
  const pairs = at + ((<usize>(n & ~1)) << 3)
  const wanted = i64x2.splat(<i64>key)
  let below = i64x2.splat(0)
  for (let here = at; here < pairs; here += 16) below = i64x2.sub(below, i64x2.lt_s(v128.load(here, KEYS), wanted))
  let count = <u32>(i64x2.extract_lane(below, 0) + i64x2.extract_lane(below, 1))
  if ((n & 1) != 0 && <i64>keyOf(at, n - 1) < <i64>key) count++
  while (count < n && keyOf(at, count) == key && load<u64>(at + ((<usize>count) << 3), KEYS2) <= key2) count++
  return count
}

function maxOf(at: usize): u64 {
  let most: u64 = 0
  const last = at + ((<usize>load<u32>(at, ENTRIES)) << 3)
  for (let here = at; here < last; here += 8) most = max(most, load<u64>(here, MAXES))
  return most
}

/** The number of nodes below the first entries. */
function countBefore(at: usize, i: u32): u32 {
  let count: u32 = 0
  const last = at + ((<usize>i) << 2)
  for (let here = at; here < last; here += 4) count += load<u32>(here, COUNTS)
  return count
}

// @ts-ignore: decorator
@inline
function copyEntry(to: usize, i: u32, from: usize, j: u32): void {
  fill(to, i, keyOf(from, j), load<u64>(from + ((<usize>j) << 3), KEYS2), mostOf(from, j), 0, belowOf(from, j))
  store<u32>(to + ((<usize>i) << 2), load<u32>(from + ((<usize>j) << 2), COUNTS), COUNTS)
}

function fill(at: usize, i: u32, key: u64, key2: u64, most: u64, count: u32, below: u32): void {
  setKeys(at, i, key, key2)
  setMost(at, i, most)
  store<u32>(at + ((<usize>i) << 2), count, COUNTS)
  store<u32>(at + ((<usize>i) << 2), below, BELOWS)
}

/** Updates an entry from the page below it. */
function describe(at: usize, i: u32, below: u32): void {
  const from = pageAt(below)
  fill(at, i, keyOf(from, 0), load<u64>(from, KEYS2), maxOf(from), countBefore(from, load<u32>(from, ENTRIES)), below)
}

/** Makes a gap for an entry. */
function open(at: usize, i: u32): void {
  const n = load<u32>(at, ENTRIES)
  for (let j = n; j > i; j--) copyEntry(at, j, at, j - 1)
  store<u32>(at, n + 1, ENTRIES)
}

function erase(at: usize, i: u32): void {
  const n = load<u32>(at, ENTRIES) - 1
  for (let j = i; j < n; j++) copyEntry(at, j, at, j + 1)
  store<u32>(at, n, ENTRIES)
}

/** The new page after the page that received an entry, 0 if there is none; and the position of that entry. */
let half: u32 = 0
let gapPage: usize = 0
let gap: u32 = 0

/** Makes a gap for an entry in a page, or in a new page after it, if the page is full. */
function makeGap(page: u32, i: u32): void {
  const at = pageAt(page)
  half = 0
  gapPage = at
  gap = i
  if (load<u32>(at, ENTRIES) < MOST_ENTRIES) return open(at, i)
  half = newPage(load<u32>(at, LEVEL))
  const other = pageAt(half)
  // Keys often rise: the last place of a page is followed by an empty page.
  const kept: u32 = i == MOST_ENTRIES ? MOST_ENTRIES : (MOST_ENTRIES + 1) / 2
  const n = MOST_ENTRIES - kept
  for (let j: u32 = 0; j < n; j++) copyEntry(other, j, at, kept + j)
  store<u32>(at, kept, ENTRIES)
  store<u32>(other, n, ENTRIES)
  if (i < kept) return open(at, i)
  gapPage = other
  gap = i - kept
  open(other, gap)
}

/** @returns the new page after this one, 0 if there is none */
function insertInto(page: u32, node: u32, key: u64, key2: u64, size: u64): u32 {
  const at = pageAt(page)
  let i = upTo(at, key, key2)
  if (load<u32>(at, LEVEL) == 0) {
    makeGap(page, i)
    fill(gapPage, gap, key, key2, size, 1, node)
    return half
  }
  if (i > 0) i--
  const below = belowOf(at, i)
  const made = insertInto(below, node, key, key2, size)
  if (made == 0) {
    const from = pageAt(below)
    setKeys(at, i, keyOf(from, 0), load<u64>(from, KEYS2))
    addCount(at, i, 1)
    if (size > mostOf(at, i)) setMost(at, i, size)
    return 0
  }
  describe(at, i, below)
  makeGap(page, i + 1)
  describe(gapPage, gap, made)
  return half
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
  describe(pageAt(top), 0, first)
  describe(pageAt(top), 1, made)
  return top
}

function removeFrom(page: u32, key: u64, key2: u64, size: u64): void {
  const at = pageAt(page)
  const i = upTo(at, key, key2) - 1
  if (load<u32>(at, LEVEL) == 0) return erase(at, i)
  const below = belowOf(at, i)
  removeFrom(below, key, key2, size)
  const from = pageAt(below)
  const n = load<u32>(from, ENTRIES)
  if (n == 0) {
    dropPage(below)
    return erase(at, i)
  }
  update(at, i, from, size)
  addCount(at, i, -1)
  if (n < FEW) joinPages(at, i + 1 < load<u32>(at, ENTRIES) ? i : i - 1)
}

/** Corrects the keys and the largest size of an entry after a node of a size was removed from the page below. */
// @ts-ignore: decorator
@inline
function update(at: usize, i: u32, from: usize, size: u64): void {
  setKeys(at, i, keyOf(from, 0), load<u64>(from, KEYS2))
  if (mostOf(at, i) == size) setMost(at, i, maxOf(from))
}

/**
 * Joins the pages below two neighbours if they have few entries. @param i the first of them; -1 if there are not two
 */
function joinPages(at: usize, i: u32): void {
  if (i == <u32>-1) return
  const first = belowOf(at, i)
  const second = belowOf(at, i + 1)
  const to = pageAt(first)
  const from = pageAt(second)
  const n = load<u32>(to, ENTRIES)
  const more = load<u32>(from, ENTRIES)
  if (n + more > JOINED) return
  for (let j: u32 = 0; j < more; j++) copyEntry(to, n + j, from, j)
  store<u32>(to, n + more, ENTRIES)
  dropPage(second)
  erase(at, i + 1)
  describe(at, i, first)
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
    const below = n == 0 ? 0 : belowOf(at, 0)
    dropPage(tree)
    if (n == 0) return 0
    tree = below
  }
}

function replaceIn(page: u32, node: u32, from: u64, size: u64, key: u64, newSize: u64): void {
  const at = pageAt(page)
  const i = upTo(at, from, 0) - 1
  if (load<u32>(at, LEVEL) == 0) return fill(at, i, key, 0, newSize, 1, node)
  const below = belowOf(at, i)
  replaceIn(below, node, from, size, key, newSize)
  if (newSize > mostOf(at, i)) setMost(at, i, newSize)
  update(at, i, pageAt(below), newSize > size ? 0 : size)
}

/**
 * Replaces a node by another one in a tree without second keys.
 * @param size the size of the replaced node
 * @param key the new node's; no third node's key is between the two keys
 */
export function replace(tree: u32, other: u32, size: u64, node: u32, key: u64): void {
  const from = load<u64>(nodeAt(other), KEY)
  const at = nodeAt(node)
  store<u64>(at, key, KEY)
  store<u64>(at, 0, KEY2)
  replaceIn(tree, node, from, size, key, load<u64>(at, SIZE))
}

/**
 * Replaces the node that `firstFrom` found last by a smaller one, in a tree that has not changed since.
 * @param size the size of the replaced node
 * @param key the new node's; no third node's key is between the two keys
 */
export function replaceFound(tree: u32, size: u64, node: u32, key: u64): void {
  const here = nodeAt(node)
  const newSize = load<u64>(here, SIZE)
  store<u64>(here, key, KEY)
  store<u64>(here, 0, KEY2)
  let below = pageAt(load<u32>(WAY))
  let i = load<u32>(WAY, 4)
  fill(below, i, key, 0, newSize, 1, node)
  const top = load<u32>(pageAt(tree), LEVEL)
  for (let level: u32 = 1; level <= top; level++) {
    const way = WAY + ((<usize>level) << 3)
    const at = pageAt(load<u32>(way))
    const isFirst = i == 0
    i = load<u32>(way, 4)
    const most = mostOf(at, i)
    // Above, nothing has changed.
    if (!isFirst && most != size) return
    update(at, i, below, size)
    below = at
  }
}

/** The number of nodes from the key on before the one that `firstFrom` has found. */
export let passed: u32 = 0

/** The first node from a key on that has at least a size; 0 if there is none. @param size not 0 */
export function firstFrom(page: u32, key: u64, size: u64): u32 {
  const at = pageAt(page)
  const n = load<u32>(at, ENTRIES)
  const level = load<u32>(at, LEVEL)
  let from: u32 = 0
  if (key != 0) {
    from = upTo(at, key, 0)
    if (from > 0 && (level != 0 || keyOf(at, from - 1) == key)) from--
  }
  for (let i = from; i < n; i++) {
    if (mostOf(at, i) < size) continue
    const below = belowOf(at, i)
    let found = below
    if (level == 0) passed = i - from
    else {
      found = firstFrom(below, i == from ? key : 0, size)
      if (found == 0) continue
      if (i != from)
        passed += countBefore(at, i) - countBefore(at, from) - (key == 0 ? 0 : rank(belowOf(at, from), key))
    }
    const way = WAY + ((<usize>level) << 3)
    store<u32>(way, page)
    store<u32>(way, i, 4)
    return found
  }
  return 0
}

/** The first node from a pair of keys on; 0 if there is none. */
export function lowest(page: u32, key: u64, key2: u64): u32 {
  while (true) {
    const at = pageAt(page)
    const n = load<u32>(at, ENTRIES)
    const isLowest = load<u32>(at, LEVEL) == 0
    let i = upTo(at, key, key2)
    if (i > 0) {
      const isSame = keyOf(at, i - 1) == key && load<u64>(at + ((<usize>(i - 1)) << 3), KEYS2) == key2
      const below = belowOf(at, i - 1)
      const found = !isLowest ? lowest(below, key, key2) : isSame ? below : 0
      if (found != 0) return found
    }
    if (i >= n) return 0
    page = belowOf(at, i)
    if (isLowest) return page
    key = key2 = 0
  }
}

/** The number of nodes before a key, in a tree without second keys. */
export function rank(page: u32, key: u64): u32 {
  let count: u32 = 0
  while (true) {
    const at = pageAt(page)
    const i = upTo(at, key, 0)
    if (i == 0) return count
    if (load<u32>(at, LEVEL) == 0) return count + i - (keyOf(at, i - 1) == key ? 1 : 0)
    count += countBefore(at, i - 1)
    page = belowOf(at, i - 1)
  }
}

/** The number of nodes of a tree. */
export function treeCount(tree: u32): u32 {
  const at = pageAt(tree)
  return countBefore(at, load<u32>(at, ENTRIES))
}
