/** The data of each live block, and how a block occupies pages and regions. */
import { KERNEL_PAGES } from '../../lib/kernel/layouts/report'
import { makePages, takePages } from './pages'
import { makeRegions, takeRegions } from './regions'

/**
 * The layout of the 48 bytes of a block (live/records.ts): its address and size; the number of the event that allocated
 * it, among those about blocks; the number of the event that last allocated or resized it, among all; the rows of the
 * latter's site and thread; and the number of times it was resized.
 */
const ADDRESS: usize = 0
export const SIZE: usize = 8
export const BORN: usize = 16
export const EVENT: usize = 24
export const SITE: usize = 32
export const THREAD: usize = 36
export const RESIZED: usize = 40
export const FLAGS: usize = 44
export const IS_LIVE: u32 = 1
/** Flags: the block has an address. Its address space is in the bits above the flags. */
const IS_PLACED: u32 = 2
const SPACE: u32 = 8
/** The block existed before, so its lifetime is unknown. */
export const UNBORN: u32 = 4

/** Address spaces from this number on are not followed. */
const SPACES: u32 = 4095
const PAGES: u32 = KERNEL_PAGES
/** The number of address spaces that have a map. */
const MAPPED: u32 = 64
/** The number of blocks with an address, and of those whose address space is not followed, or has no map. */
export let placed: u64 = 0
export let unfollowed: u64 = 0
export let unmapped: u64 = 0

/** Makes room for this many more blocks. @returns whether there is memory */
export function makePlaces(more: u32): bool {
  return makePages(2 * more) && makeRegions()
}

/**
 * The flags of a live block, which then occupies its addresses.
 * @param process the row of its process
 * @param size its own size
 */
export function place(block: usize, address: u64, process: u32, isPages: bool, size: u64): u32 {
  store<u64>(block, address, ADDRESS)
  if (address == 0) return IS_LIVE
  placed++
  const space = isPages ? PAGES : process
  if (space >= (isPages ? SPACES : PAGES)) {
    unfollowed++
    return IS_LIVE
  }
  if (!isMapped(space)) unmapped++
  take(space, address, size, true)
  return IS_LIVE | IS_PLACED | (space << SPACE)
}

/** Removes a block from its place. */
// @ts-ignore: decorator
@inline
export function leave(block: usize): void {
  const flags = load<u32>(block, FLAGS)
  if ((flags & IS_PLACED) != 0) take(flags >> SPACE, addressOf(block), load<u64>(block, SIZE), false)
}

// @ts-ignore: decorator
@inline
function take(space: u32, address: u64, size: u64, isGain: bool): void {
  const reach = reachOf(address, size)
  if (reach == 0) return
  takePages(space, address, reach, isGain)
  if (isMapped(space)) takeRegions(space, address, reach, isGain)
}

/** The size of the part of a block below the end of the address space. */
// @ts-ignore: decorator
@inline
export function reachOf(address: u64, size: u64): u64 {
  return size > 0 && address + (size - 1) < address ? 0 - address : size
}

// @ts-ignore: decorator
@inline
function isMapped(space: u32): bool {
  return space < MAPPED || space == PAGES
}

// @ts-ignore: decorator
@inline
export function addressOf(block: usize): u64 {
  return load<u64>(block, ADDRESS)
}

/** The address space of a block that occupies addresses; -1 for others. */
// @ts-ignore: decorator
@inline
export function spaceOf(block: usize): i32 {
  const flags = load<u32>(block, FLAGS)
  return (flags & IS_PLACED) != 0 ? <i32>(flags >> SPACE) : -1
}
