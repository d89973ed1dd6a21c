/**
 * The first live block of each 16 bytes of addresses: a hash table of pages of 128 bytes, each with a word for every 16
 * bytes, so that neighbours in the traced heap are neighbours in the table.
 */

import { mix, secretFrom } from '../shared/mix'
import { giveBack, take } from './room'

/** The number of words in a page, and the logarithm of their size in bytes. */
const WORDS: u64 = 8
const PAGE_LOG: u32 = 5
const PAGE_KEY_SHIFT: u64 = 7
const FEWEST: u32 = 1024

/** The numbers of pages, each plus 1 so that 0 means a free slot, and the positions of their words. */
let keys: usize = 0
let places: usize = 0
let slots: u32 = 0
let used: u32 = 0

/** The pieces with the words, the rest of the last piece, and the first page without blocks. */
const PIECE_LOG: u32 = 20
const PIECES: usize = memory.data(16_384)
const MOST_PIECES: u32 = 4096
let pieces: u32 = 0
/** The number of pieces in use, and the position of the next page in the last one. */
let piece: u32 = 0
let next: u32 = 1 << PIECE_LOG
let empty: usize = 0

/** The last used page, plus 1, and its position. */
let lastKey: u64 = 0
let lastPlace: usize = 0
let seed: u64 = 1

export function seedPages(value: u32): void {
  seed = secretFrom(value, 0)
}

export function resetPages(): void {
  if (slots != 0) memory.fill(keys, 0, (<usize>slots) << 3)
  used = 0
  piece = 0
  next = 1 << PIECE_LOG
  empty = 0
  lastKey = 0
}

// @ts-ignore: decorator
@inline
function slotOf(key: u64): u32 {
  return (<u32>(mix(key, seed) >> 32)) & (slots - 1)
}

/** The words of a page, or 0. */
function find(key: u64): usize {
  if (key == lastKey) return lastPlace
  if (slots == 0) return 0
  let slot = slotOf(key)
  let here: u64
  while ((here = load<u64>(keys + ((<usize>slot) << 3))) != 0) {
    if (here == key) {
      lastKey = key
      lastPlace = load<u32>(places + ((<usize>slot) << 2))
      return lastPlace
    }
    slot = (slot + 1) & (slots - 1)
  }
  return 0
}

// @ts-ignore: decorator
@inline
function wordOf(key: u64): usize {
  return (<usize>((key >> 4) & (WORDS - 1))) << 2
}

/** The first block within the 16 bytes of a key, or 0. */
// @ts-ignore: decorator
@inline
export function findHead(key: u64): u32 {
  const page = find((key >> PAGE_KEY_SHIFT) + 1)
  return page == 0 ? 0 : load<u32>(page + wordOf(key))
}

/** Sets the first block within the 16 bytes of a key. @returns false if memory is exhausted */
export function linkHead(key: u64, block: u32): bool {
  const number = (key >> PAGE_KEY_SHIFT) + 1
  let page = find(number)
  if (page == 0) {
    if (block == 0) return true
    page = add(number)
    if (page == 0) return false
  }
  store<u32>(page + wordOf(key), block)
  return true
}

function add(key: u64): usize {
  if ((used + 1) << 1 > slots && !rebuild()) return 0
  const page = newPage()
  if (page == 0) return 0
  v128.store(page, i64x2.splat(0))
  v128.store(page, i64x2.splat(0), 16)
  enter(key, page)
  lastKey = key
  lastPlace = page
  return page
}

function newPage(): usize {
  if (empty != 0) {
    const page = empty
    empty = load<u32>(page)
    return page
  }
  if (next == 1 << PIECE_LOG) {
    if (piece == pieces) {
      const more = pieces == MOST_PIECES ? <usize>0 : take(1 << PIECE_LOG)
      if (more == 0) return 0
      store<u32>(PIECES + ((<usize>pieces) << 2), <u32>more)
      pieces++
    }
    piece++
    next = 0
  }
  const page = <usize>load<u32>(PIECES + ((<usize>(piece - 1)) << 2)) + next
  next += 1 << PAGE_LOG
  return page
}

function enter(key: u64, page: usize): void {
  let slot = slotOf(key)
  while (load<u64>(keys + ((<usize>slot) << 3)) != 0) slot = (slot + 1) & (slots - 1)
  store<u64>(keys + ((<usize>slot) << 3), key)
  store<u32>(places + ((<usize>slot) << 2), <u32>page)
  used++
}

/** Removes the pages without blocks, and doubles the hash if more than a quarter of it is still used. */
function rebuild(): bool {
  const oldKeys = keys
  const oldPlaces = places
  const oldSlots = slots
  let full: u32 = 0
  for (let slot: u32 = 0; slot < oldSlots; slot++) {
    if (load<u64>(oldKeys + ((<usize>slot) << 3)) != 0 && !isEmpty(load<u32>(oldPlaces + ((<usize>slot) << 2)))) full++
  }
  const size = max<u32>(FEWEST, full << 2 >= oldSlots ? oldSlots << 1 : oldSlots)
  const newKeys = take(size << 3)
  const newPlaces = take(size << 2)
  if (newKeys == 0 || newPlaces == 0) return false
  keys = newKeys
  places = newPlaces
  slots = size
  used = 0
  lastKey = 0
  for (let slot: u32 = 0; slot < oldSlots; slot++) {
    const key = load<u64>(oldKeys + ((<usize>slot) << 3))
    if (key == 0) continue
    const page: usize = load<u32>(oldPlaces + ((<usize>slot) << 2))
    if (isEmpty(page)) {
      store<u32>(page, <u32>empty)
      empty = page
    } else enter(key, page)
  }
  if (oldSlots != 0) {
    giveBack(oldKeys, oldSlots << 3)
    giveBack(oldPlaces, oldSlots << 2)
  }
  return true
}

function isEmpty(page: usize): bool {
  return !v128.any_true(v128.or(v128.load(page), v128.load(page, 16)))
}
