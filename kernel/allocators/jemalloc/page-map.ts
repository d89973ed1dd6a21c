/**
 * Finds the extent that begins at a page, and the free extent that ends before it. The table may have no room for some.
 */
import { giveRoom, takeZeros } from '../../live/room'
import { endPage, exists, extent } from './extents'
import { PAGE_LOG } from './rules'

/** A slot: the page, doubled, and 1 more for the end of an extent; and the extent's number, 0 for an empty slot. */
const SLOT: u32 = 4
const FEWEST: u32 = 10
const MOST: u32 = 27
/** The maximum length of a search. Entries that find no slot within it are dropped. */
const LONG: u32 = 128

let table: usize = 0
let log: u32 = 0
let last: u32 = 0
let used: u32 = 0

/** Forgets all pages. @returns false if memory is exhausted */
export function clearPageMap(): bool {
  if (table != 0) giveRoom(table, log + SLOT)
  table = 0
  used = 0
  return makeTable(FEWEST)
}

function makeTable(slots: u32): bool {
  const made = takeZeros(slots + SLOT)
  if (made == 0) return false
  table = made
  log = slots
  last = ((<u32>1) << slots) - 1
  return true
}

function slot(i: u32): usize {
  return table + ((<usize>i) << SLOT)
}
function home(key: u64): u32 {
  return (<u32>((key * 0x9e37_79b9_7f4a_7c15) >> 32)) & last
}

/** The slot of a key, or an empty one for it; NOWHERE if the search is too long. */
function find(key: u64): u32 {
  let i = home(key)
  for (let steps: u32 = 0; steps < LONG; steps++) {
    if (load<u32>(slot(i), 8) == 0 || load<u64>(slot(i)) == key) return i
    i = (i + 1) & last
  }
  return NOWHERE
}

const NOWHERE: u32 = 0xffff_ffff

function get(key: u64): u32 {
  const i = find(key)
  return i == NOWHERE ? 0 : load<u32>(slot(i), 8)
}

function put(key: u64, n: u32): void {
  if (used >= (last + 1) / 2) grow()
  const i = find(key)
  if (i == NOWHERE || used == last) return
  if (load<u32>(slot(i), 8) == 0) used++
  store<u64>(slot(i), key)
  store<u32>(slot(i), n, 8)
}

function drop(key: u64, n: u32): void {
  let hole = find(key)
  if (hole == NOWHERE || load<u32>(slot(hole), 8) != n) return
  used--
  let i = hole
  while (true) {
    i = (i + 1) & last
    const distance = (i - hole) & last
    // No key is that far from its home slot.
    if (load<u32>(slot(i), 8) == 0 || distance >= LONG) break
    if (((i - home(load<u64>(slot(i)))) & last) < distance) continue
    memory.copy(slot(hole), slot(i), 1 << SLOT)
    hole = i
  }
  store<u32>(slot(hole), 0, 8)
}

function grow(): void {
  const from = table
  const fromLog = log
  if (log >= MOST || !makeTable(log + 1)) return
  used = 0
  const end = from + ((<usize>1) << (fromLog + SLOT))
  for (let at = from; at < end; at += 1 << SLOT) if (load<u32>(at, 8) != 0) put(load<u64>(at), load<u32>(at, 8))
  giveRoom(from, fromLog + SLOT)
}

/** The extent that begins at a page, 0 if none is known. */
export function startingAt(page: u64): u32 {
  const n = get(page << 1)
  return exists(n) && extent(n).base >> PAGE_LOG == page ? n : 0
}
export function putStart(page: u64, n: u32): void {
  put(page << 1, n)
}
export function dropStart(page: u64, n: u32): void {
  drop(page << 1, n)
}
/** The free extent that ends before a page, 0 if none is known. */
export function endingAt(page: u64): u32 {
  const n = get((page << 1) | 1)
  return exists(n) && endPage(n) == page ? n : 0
}
export function putEnd(page: u64, n: u32): void {
  put((page << 1) | 1, n)
}
export function dropEnd(page: u64, n: u32): void {
  drop((page << 1) | 1, n)
}
