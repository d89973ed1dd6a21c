/** The pages with live blocks: for each, the number of blocks that begin or end in it. */
import { HashTable, TABLE, VALUE } from '../shared/hash-table'
import { page } from './settings'

/** The number of blocks, by heap and number of the page. */
const table = changetype<HashTable>(memory.data(TABLE))
let shift: u64 = 12

/** The number of pages with live blocks. */
export let pages: f64 = 0

/** How often a page without live blocks got one: the page faults, if such pages go back to the system at once. */
export let faults: f64 = 0

/** The block that the same event ends, whose pages are still in use: its heap, and its first and last page. */
let keptHeap: u32 = 0
let keptFirst: u64 = 1
let keptLast: u64 = 0

/** Discards all pages. @returns false if memory is exhausted */
export function clearPages(): bool {
  shift = ctz(page)
  pages = faults = 0
  dropKept()
  return table.restart()
}

/** Makes room for the pages of two blocks. @returns false if memory is exhausted */
export function makePages(): bool {
  return table.reserve(4)
}

/** Adds a live block. @param heap the number of its heap @param bytes at least 1 */
export function addPages(heap: u32, from: u64, bytes: u64): void {
  const first = from >> shift
  const end = (from + bytes - 1) >> shift
  add(heap, first)
  if (end == first) return
  add(heap, end)
  const inside = <f64>(end - first - 1)
  pages += inside
  faults += inside
  if (heap == keptHeap && keptFirst < end && keptLast > first)
    faults -= <f64>max<i64>(min(end - 1, keptLast) - max(first + 1, keptFirst) + 1, 0)
}

/** Keeps the pages of a block that leaves its place until the event is done. */
export function keepPages(heap: u32, from: u64, bytes: u64): void {
  keptHeap = heap
  keptFirst = from >> shift
  keptLast = (from + bytes - 1) >> shift
}

function dropKept(): void {
  keptFirst = 1
  keptLast = 0
}

/** Removes a block that is no longer live. */
export function removePages(heap: u32, from: u64, bytes: u64): void {
  dropKept()
  const first = from >> shift
  const end = (from + bytes - 1) >> shift
  remove(heap, first)
  if (end == first) return
  remove(heap, end)
  pages -= <f64>(end - first - 1)
}

function keyOf(heap: u32, number: u64): u64 {
  return ((<u64>heap) << 48) ^ number
}

function add(heap: u32, number: u64): void {
  const key = keyOf(heap, number)
  let slot = table.slotOf(key)
  const blocks = load<u64>(slot, VALUE)
  if (blocks == 0) {
    slot = table.put(slot, key)
    pages++
    if (heap != keptHeap || number < keptFirst || number > keptLast) faults++
  }
  store<u64>(slot, blocks + 1, VALUE)
}

function remove(heap: u32, number: u64): void {
  const slot = table.slotOf(keyOf(heap, number))
  const blocks = load<u64>(slot, VALUE) - 1
  if (blocks != 0) {
    store<u64>(slot, blocks, VALUE)
    return
  }
  table.remove(slot)
  pages--
}
