/** The pages in which live blocks are: how many blocks each page has that begin or end in it. */
import { giveRoom, takeRoom } from '../live/room'
import { mix } from '../shared/mix'
import { page } from './settings'

/** A slot: heap and number of the page, and the number of blocks, 0 for an empty slot. */
const BLOCKS: usize = 8
const SLOT: u32 = 4
const FEWEST: u32 = 10

let table: usize = 0
let log: u32 = 0
let last: usize = 0
let entries: u32 = 0
let seed: u64 = 0
let shift: u64 = 12

/** The number of pages with live blocks. */
export let pages: f64 = 0

/** Discards all pages. @returns false if memory is exhausted */
export function clearPages(newSeed: u64): bool {
  if (table != 0) giveRoom(table, log + SLOT)
  seed = newSeed
  shift = ctz(page)
  pages = 0
  entries = 0
  return makeTable(FEWEST)
}

function makeTable(slots: u32): bool {
  table = takeRoom(slots + SLOT)
  if (table == 0) return false
  memory.fill(table, 0, (<usize>1) << (slots + SLOT))
  log = slots
  last = (((<usize>1) << slots) - 1) << SLOT
  return true
}

// @ts-ignore: decorator
@inline
function home(key: u64): usize {
  return (<usize>(mix(key, seed) >> (<u64>(64 - log)))) << SLOT
}

/** The slot of a page, or the empty one for it. */
// @ts-ignore: decorator
@inline
function find(key: u64): usize {
  let at = home(key)
  while (load<u32>(table + at, BLOCKS) != 0 && load<u64>(table + at) != key) at = (at + (1 << SLOT)) & last
  return at
}

/** Makes room for the pages of two blocks. @returns false if memory is exhausted */
export function makePages(): bool {
  if (entries + 4 < (<u32>1) << (log - 1)) return true
  const from = table
  const fromLog = log
  if (!makeTable(log + 1)) {
    table = from
    return false
  }
  const end = from + ((<usize>1) << (fromLog + SLOT))
  for (let at = from; at < end; at += 1 << SLOT) {
    if (load<u32>(at, BLOCKS) == 0) continue
    const to = table + find(load<u64>(at))
    store<u64>(to, load<u64>(at))
    store<u32>(to, load<u32>(at, BLOCKS), BLOCKS)
  }
  giveRoom(from, fromLog + SLOT)
  return true
}

/** A block is live. @param heap its number @param bytes at least 1 */
export function addPages(heap: u32, from: u64, bytes: u64): void {
  const first = from >> shift
  const end = (from + bytes - 1) >> shift
  add(heap, first)
  if (end == first) return
  add(heap, end)
  pages += <f64>(end - first - 1)
}

/** A block is no longer live. */
export function removePages(heap: u32, from: u64, bytes: u64): void {
  const first = from >> shift
  const end = (from + bytes - 1) >> shift
  remove(heap, first)
  if (end == first) return
  remove(heap, end)
  pages -= <f64>(end - first - 1)
}

// @ts-ignore: decorator
@inline
function keyOf(heap: u32, number: u64): u64 {
  return ((<u64>heap) << 48) ^ number
}

function add(heap: u32, number: u64): void {
  const key = keyOf(heap, number)
  const at = table + find(key)
  const blocks = load<u32>(at, BLOCKS)
  if (blocks == 0) {
    store<u64>(at, key)
    entries++
    pages++
  }
  store<u32>(at, blocks + 1, BLOCKS)
}

function remove(heap: u32, number: u64): void {
  let hole = find(keyOf(heap, number))
  const blocks = load<u32>(table + hole, BLOCKS) - 1
  store<u32>(table + hole, blocks, BLOCKS)
  if (blocks != 0) return
  entries--
  pages--
  let next = hole
  while (true) {
    next = (next + (1 << SLOT)) & last
    if (load<u32>(table + next, BLOCKS) == 0) break
    const key = load<u64>(table + next)
    if (((next - home(key)) & last) < ((next - hole) & last)) continue
    store<u64>(table + hole, key)
    store<u32>(table + hole, load<u32>(table + next, BLOCKS), BLOCKS)
    hole = next
  }
  store<u32>(table + hole, 0, BLOCKS)
}
