/**
 * The simulator's numbers of live blocks by address, for callers without their own table. Addresses are in pages of 32
 * places, so that neighbours in the heap are neighbours in the table. A page takes 136 bytes, its slot in the table of
 * pages 16.
 */
import { GROWING, GrowingTable } from '../shared/grow'
import { HashTable, TABLE, VALUE } from '../shared/hash-table'

const PLACES: u64 = 32
const PLACES_LOG: u64 = 5
/** A page: the number of used places, and the places. An unused one begins with the next unused one. */
const NUMBERS: usize = 8
const PAGE: u32 = 136
const FEWEST_PAGES: u32 = 13

/** The logarithm of the distance between blocks. */
let shift: u64 = 4
/** The offsets of pages, by their numbers. */
const table = changetype<HashTable>(memory.data(TABLE))
/** Pages, the end of those used so far, and the first unused one. */
const pages = changetype<GrowingTable>(memory.data(GROWING))
let end: u32 = 0
let unused: u32 = 0

/** Forgets all blocks. @param alignment of blocks, a power of two @returns false if memory is exhausted */
export function clearBlocks(alignment: u64): bool {
  shift = ctz(alignment)
  end = PAGE
  unused = 0
  return pages.restart(FEWEST_PAGES) && table.restart()
}

// @ts-ignore: decorator
@inline
function numberOf(address: u64): u64 {
  return (address >> shift) >> PLACES_LOG
}

// @ts-ignore: decorator
@inline
function placeIn(page: u32, address: u64): usize {
  return pages.at + page + NUMBERS + ((<usize>((address >> shift) & (PLACES - 1))) << 2)
}

/** The number of the block at an address; 0 if unknown. The block may begin some bytes before or after. */
export function findBlock(address: u64): u32 {
  const page = load<u32>(table.slotOf(numberOf(address)), VALUE)
  return page == 0 ? 0 : load<u32>(placeIn(page, address))
}

/** Sets a block's number. @returns false if memory is exhausted */
export function putBlock(address: u64, number: u32): bool {
  let page = load<u32>(table.slotOf(numberOf(address)), VALUE)
  if (page == 0) {
    if (!table.reserve(1)) return false
    page = newPage()
    if (page == 0) return false
    store<u64>(table.add(numberOf(address)), <u64>page, VALUE)
  }
  const at = placeIn(page, address)
  if (load<u32>(at) == 0) store<u32>(pages.at + page, load<u32>(pages.at + page) + 1)
  store<u32>(at, number)
  return true
}

function newPage(): u32 {
  let page = unused
  if (page != 0) unused = load<u32>(pages.at + page)
  else {
    if (!pages.extend(<u64>end + PAGE)) return 0
    page = end
    end += PAGE
  }
  memory.fill(pages.at + page, 0, PAGE)
  return page
}

/** Removes the block at an address. */
export function dropBlock(address: u64): void {
  const slot = table.slotOf(numberOf(address))
  const page = load<u32>(slot, VALUE)
  if (page == 0) return
  const at = placeIn(page, address)
  if (load<u32>(at) == 0) return
  store<u32>(at, 0)
  const used = load<u32>(pages.at + page) - 1
  store<u32>(pages.at + page, used == 0 ? unused : used)
  if (used > 0) return
  unused = page
  table.remove(slot)
}
