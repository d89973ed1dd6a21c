/** The data of each live block, and how a block occupies pages and regions. */
import { KERNEL_PAGES } from '../../lib/kernel/layouts/report'
import { blockAt } from '../live/records'
import { makePages, takePages } from './pages'
import { makeRegions, takeRegions } from './regions'
import { isMapped, mapBlocks, mapSpace, spaceGains, spaceLoses, SPACES } from './spaces'

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

const PAGES: u32 = KERNEL_PAGES
/** The number of blocks with an address, and of those whose address space is not followed. */
export let placed: u64 = 0
export let unfollowed: u64 = 0

/** Makes room for this many more blocks. @returns whether there is memory */
export function makePlaces(more: u32): bool {
  return makePages(2 * more) && makeRegions()
}

/**
 * The flags of a live block, which then occupies its addresses.
 * @param process the row of its process
 * @param size its own size
 * @param numbers the highest number of a block
 */
export function place(block: usize, address: u64, process: u32, isPages: bool, size: u64, numbers: u32): u32 {
  store<u64>(block, address, ADDRESS)
  if (address == 0) return IS_LIVE
  placed++
  const space = isPages ? PAGES : process
  if (space >= (isPages ? SPACES : PAGES)) {
    unfollowed++
    return IS_LIVE
  }
  const reach = reachOf(address, size)
  const flags = IS_LIVE | IS_PLACED | (space << SPACE)
  // The block itself is not live yet.
  if (spaceGains(space, reach) && mapSpace(space, numbers)) mapBlocks(space, mapLive(flags, numbers) + 1)
  if (reach != 0) {
    takePages(space, address, reach, true)
    if (isMapped(space)) takeRegions(space, address, reach, true)
  }
  return flags
}

/** Adds the live blocks of a space to the map. @param flags of its blocks @returns how many they are */
function mapLive(flags: u32, numbers: u32): u64 {
  let found: u64 = 0
  for (let number: u32 = 1; number <= numbers; number++) {
    const block = blockAt(number)
    if ((load<u32>(block, FLAGS) & ~UNBORN) != flags) continue
    found++
    const reach = reachOf(addressOf(block), load<u64>(block, SIZE))
    if (reach != 0) takeRegions(flags >> SPACE, addressOf(block), reach, true)
  }
  return found
}

/** Removes a block from its place. */
// @ts-ignore: decorator
@inline
export function leave(block: usize): void {
  const flags = load<u32>(block, FLAGS)
  if ((flags & IS_PLACED) == 0) return
  const space = flags >> SPACE
  const address = addressOf(block)
  const reach = reachOf(address, load<u64>(block, SIZE))
  spaceLoses(space, reach)
  if (reach == 0) return
  takePages(space, address, reach, false)
  if (isMapped(space)) takeRegions(space, address, reach, false)
}

/** The size of the part of a block below the end of the address space. */
// @ts-ignore: decorator
@inline
export function reachOf(address: u64, size: u64): u64 {
  return size > 0 && address + (size - 1) < address ? 0 - address : size
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
