/**
 * The first live block of each 16 bytes of addresses: a hash table of pages of 128 bytes, each with a word for every 16
 * bytes, so that neighbours in the traced heap are neighbours in the table.
 */

import { HashTable, TABLE, VALUE } from '../shared/hash-table'
import { take } from './room'

/** The number of words in a page, and the logarithm of their size in bytes. */
const WORDS: u64 = 8
const PAGE_LOG: u32 = 5
const PAGE_KEY_SHIFT: u64 = 7

/** The positions of the words of pages, by the numbers of these plus 1. */
const table = changetype<HashTable>(memory.data(TABLE))

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

export function resetPages(): void {
  table.forget()
  piece = 0
  next = 1 << PIECE_LOG
  empty = 0
  lastKey = 0
}

/** The words of a page, or 0. */
function find(key: u64): usize {
  if (key == lastKey) return lastPlace
  if (table.log == 0) return 0
  const place = load<u32>(table.slotOf(key), VALUE)
  if (place == 0) return 0
  lastKey = key
  lastPlace = place
  return lastPlace
}

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
  if (table.used >= table.most && !makeRoom()) return 0
  const page = newPage()
  if (page == 0) return 0
  v128.store(page, i64x2.splat(0))
  v128.store(page, i64x2.splat(0), 16)
  store<u64>(table.add(key), <u64>page, VALUE)
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

/** Removes the pages without blocks, and doubles the table if more than half of it is still used. */
function makeRoom(): bool {
  const before = table.used
  for (let n: u32 = 0; before != 0 && n < 1 << table.log; n++) {
    // When a page is removed, another one may have moved to its slot.
    for (let slot = table.slots + ((<usize>n) << 4); load<u64>(slot, VALUE) != 0;) {
      const page = load<u32>(slot, VALUE)
      if (!isEmpty(page)) break
      store<u32>(page, <u32>empty)
      empty = page
      table.remove(slot)
    }
  }
  lastKey = 0
  return table.used << 1 > before ? table.grow(before) : table.reserve(1)
}

function isEmpty(page: usize): bool {
  return !v128.any_true(v128.or(v128.load(page), v128.load(page, 16)))
}
