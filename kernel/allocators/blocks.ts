/**
 * The simulator's numbers of live blocks by address, for callers without their own table. Addresses are in pages of 32
 * places, so that neighbours in the heap are neighbours in the table. A page takes 144 bytes, a slot of the table of
 * pages 8; at most half of the slots are used.
 */
import { giveRoom, takeZeros } from '../live/room'
import { GROWING, GrowingTable } from '../shared/grow'
import { hashOf } from './hash'

const PLACES: u64 = 32
/** A page: its number, the number of used places, and the places. */
const USED: usize = 8
const NUMBERS: usize = 16
const PAGE: u32 = 144

const FEWEST_PAGES: u32 = 13
const FEWEST_SLOTS: u32 = 10
const MOST_LOG: u32 = 31
/**
 * The maximum length of a search before the table grows, and the minimum load down to which it may grow, as a shift.
 */
const LONG: u32 = 256
const THINNEST: u32 = 6

/** The logarithm of the distance between blocks. */
let shift: u64 = 4
/** Pages, by offset; the end of the pages used so far, and the first free one. */
const pages = changetype<GrowingTable>(memory.data(GROWING))
let pagesEnd: u32 = 0
let freePage: u32 = 0
/** Slots: the tag of a page's number, and its offset; an empty slot has the offset 0. */
let slots: usize = 0
let slotsLog: u32 = 0
let last: u32 = 0
let count: u32 = 0

/** Forgets all blocks. @param alignment of blocks, a power of two @returns false if memory is exhausted */
export function clearBlocks(alignment: u64): bool {
  if (slots != 0) giveRoom(slots, slotsLog + 3)
  shift = ctz(alignment)
  pagesEnd = PAGE
  freePage = count = 0
  slots = 0
  return pages.restart(FEWEST_PAGES) && makeSlots(FEWEST_SLOTS)
}

function makeSlots(log: u32): bool {
  const made = takeZeros(log + 3)
  if (made == 0) return false
  slots = made
  slotsLog = log
  last = ((<u32>1) << log) - 1
  return true
}

/**
 * The lower half of a page's number, combined with a hash of the upper half. So neighbouring pages get neighbouring
 * slots.
 */
function tagOf(page: u64): u32 {
  return (<u32>page) ^ hashOf(page >> 32)
}

function home(tag: u32): u32 {
  // Eight consecutive pages stay together.
  return (hashOf(tag >> 3) + (tag & 7)) & last
}

function slot(i: u32): usize {
  return slots + ((<usize>i) << 3)
}

/** The slot of a page, or the empty slot for it; a position `LONG` slots further if there is neither. */
// @ts-ignore: decorator
@inline
function find(page: u64): u32 {
  const tag = tagOf(page)
  let i = home(tag)
  for (let steps: u32 = 0; steps < LONG; steps++) {
    const at = load<u32>(slot(i), 4)
    if (at == 0) return i
    if (load<u32>(slot(i)) == tag && load<u64>(pages.at + at) == page) return i
    i = (i + 1) & last
  }
  return NOWHERE
}

const NOWHERE: u32 = 0xffff_ffff

/** The number of the block at an address; 0 if unknown. The block may begin some bytes before or after. */
// @ts-ignore: decorator
@inline
export function findBlock(address: u64): u32 {
  const i = find((address >> shift) >> 5)
  if (i == NOWHERE) return 0
  const page = load<u32>(slot(i), 4)
  if (page == 0) return 0
  return load<u32>(placeIn(page, address))
}

function placeIn(page: u32, address: u64): usize {
  return pages.at + page + NUMBERS + ((<usize>((address >> shift) & (PLACES - 1))) << 2)
}

/** Sets a block's number. @returns false if there is no room for it */
export function putBlock(address: u64, number: u32): bool {
  const wanted = (address >> shift) >> 5
  let i = find(wanted)
  while (i == NOWHERE) {
    if (slotsLog >= MOST_LOG - 3 || count < (last + 1) >> THINNEST || !refill(slotsLog + 1)) return false
    i = find(wanted)
  }
  let page = load<u32>(slot(i), 4)
  if (page == 0) {
    if (count >= (last + 1) / 2) {
      if (slotsLog >= MOST_LOG - 3 || !refill(slotsLog + 1)) return false
      return putBlock(address, number)
    }
    page = newPage(wanted)
    if (page == 0) return false
    store<u32>(slot(i), tagOf(wanted))
    store<u32>(slot(i), page, 4)
    count++
  }
  const at = placeIn(page, address)
  if (load<u32>(at) == 0) store<u32>(pages.at + page, load<u32>(pages.at + page, USED) + 1, USED)
  store<u32>(at, number)
  return true
}

function newPage(number: u64): u32 {
  let page = freePage
  if (page != 0) {
    freePage = load<u32>(pages.at + page, USED)
  } else {
    if (!pages.extend(<u64>pagesEnd + PAGE)) return 0
    page = pagesEnd
    pagesEnd += PAGE
  }
  memory.fill(pages.at + page, 0, PAGE)
  store<u64>(pages.at + page, number)
  return page
}

/** Removes the block at an address. */
export function dropBlock(address: u64): void {
  const i = find((address >> shift) >> 5)
  if (i == NOWHERE) return
  const page = load<u32>(slot(i), 4)
  if (page == 0) return
  const at = placeIn(page, address)
  if (load<u32>(at) == 0) return
  store<u32>(at, 0)
  const used = load<u32>(pages.at + page, USED) - 1
  store<u32>(pages.at + page, used, USED)
  if (used > 0) return
  store<u32>(pages.at + page, freePage, USED)
  freePage = page
  count--
  vacate(i)
}

/** Empties a slot; those after it move up. */
function vacate(hole: u32): void {
  let i = hole
  while (true) {
    i = (i + 1) & last
    const page = load<u32>(slot(i), 4)
    if (page == 0) break
    const tag = load<u32>(slot(i))
    if (((i - home(tag)) & last) < ((i - hole) & last)) continue
    store<u64>(slot(hole), load<u64>(slot(i)))
    hole = i
  }
  store<u64>(slot(hole), 0)
}

function refill(log: u32): bool {
  const from = slots
  const fromLog = slotsLog
  if (!makeSlots(log)) return false
  const end = from + ((<usize>1) << (fromLog + 3))
  for (let at = from; at < end; at += 8) {
    const page = load<u32>(at, 4)
    if (page == 0) continue
    let i = home(load<u32>(at))
    while (load<u32>(slot(i), 4) != 0) i = (i + 1) & last
    store<u64>(slot(i), load<u64>(at))
  }
  giveRoom(from, fromLog + 3)
  return true
}
