/**
 * Regions: the contiguous memory of heaps. Region 1 is the main heap, which brk extends; the others are heaps of
 * threads' arenas. The address of a region may be unknown until the first address in it is seen.
 */
import { header, heapRoom, PAGE } from './rules'
import { bytesOf, MAPPED, placeOf, stateOf } from './chunks'
import { set32, set64 } from './log'

/** Regions are numbers up to this; a virtual address has the number in its upper bits. */
const MOST: u32 = 4096
const SHIFT: u64 = 48
const OFFSET: u64 = (1 << SHIFT) - 1
/** The size of the area beyond the main heap that belongs to it, because it may grow unseen. */
const MAIN_SLACK: u64 = 64 << 20

/** Per region: its address (0 if unknown), its length, its arena, the region of the previous heap, and its fence. */
const ROWS: usize = memory.data(131104)
const BASE: usize = 0
const LENGTH: usize = 8
const OWNER: usize = 16
const EARLIER: usize = 20
/** The chunk at the end of a heap that was replaced by another one. */
const FENCE: usize = 24
/** For an unused region: the next unused one. */
const UNUSED: usize = 24
const OWNER_NONE: u32 = 0xffff_ffff

/** The sum of the lengths of all regions except the main heap's. It is correct as long as no call is undone. */
let threadBytes: u64 = 0

/** The number of regions used so far, and the first unused one. */
const COUNT: usize = memory.data(8)
const FREE: usize = COUNT + 4

export const MAIN: u32 = 1

/** Removes all regions except the main heap's. @param base the start of the main heap, 0 if unknown */
export function clearRegions(base: u64): void {
  threadBytes = 0
  store<u32>(COUNT, 1)
  store<u32>(FREE, 0)
  const row = rowOf(MAIN)
  memory.fill(row, 0, 32)
  store<u64>(row, base, BASE)
}

// @ts-ignore: decorator
@inline
function rowOf(region: u32): usize {
  return ROWS + ((<usize>region) << 5)
}

/** A new region of an arena. @param earlier the region of the arena's previous heap @returns 0 if there are too many */
export function newRegion(arena: u32, length: u64, earlier: u32, base: u64): u32 {
  let region = load<u32>(FREE)
  if (region != 0) set32(FREE, load<u32>(rowOf(region), UNUSED))
  else {
    region = load<u32>(COUNT) + 1
    if (region >= MOST) return 0
    set32(COUNT, region)
  }
  threadBytes += length
  const row = rowOf(region)
  set64(row + BASE, base)
  set64(row + LENGTH, length)
  set32(row + OWNER, arena)
  set32(row + EARLIER, earlier)
  set32(row + FENCE, 0)
  return region
}

/** Removes a region whose chunks were removed. */
export function dropRegion(region: u32): void {
  threadBytes -= lengthOf(region)
  const row = rowOf(region)
  set64(row + BASE, 0)
  set32(row + OWNER, OWNER_NONE)
  set32(row + UNUSED, load<u32>(FREE))
  set32(FREE, region)
}

/** The virtual address at which a region begins. */
// @ts-ignore: decorator
@inline
export function startOfRegion(region: u32): u64 {
  return (<u64>region) << SHIFT
}

/** The region of a chunk, 0 if it is in none. */
// @ts-ignore: decorator
@inline
export function regionOf(chunk: u32): u32 {
  return <u32>(placeOf(chunk) >> SHIFT)
}

/** The distance of a chunk from the start of its region. */
// @ts-ignore: decorator
@inline
export function offsetOf(chunk: u32): u64 {
  return placeOf(chunk) & OFFSET
}

/** The address of the block in a chunk, 0 if that is not known yet. */
// @ts-ignore: decorator
@inline
export function blockAt(chunk: u32): u64 {
  const place = placeOf(chunk)
  if (stateOf(chunk) >= MAPPED) return place + header
  const base = load<u64>(rowOf(<u32>(place >> SHIFT)), BASE)
  return base == 0 ? 0 : base + (place & OFFSET) + header
}

// @ts-ignore: decorator
@inline
export function baseOf(region: u32): u64 {
  return load<u64>(rowOf(region), BASE)
}

/** Sets the address of a region. */
export function setBase(region: u32, base: u64): void {
  set64(rowOf(region) + BASE, base)
}

// @ts-ignore: decorator
@inline
export function lengthOf(region: u32): u64 {
  return load<u64>(rowOf(region), LENGTH)
}

/** The bytes of the heaps of threads, except what is reserved for their growth. */
export function threadHeaps(): u64 {
  return threadBytes
}

export function setLength(region: u32, length: u64): void {
  threadBytes += length - lengthOf(region)
  set64(rowOf(region) + LENGTH, length)
}

export function ownerOf(region: u32): u32 {
  return load<u32>(rowOf(region), OWNER)
}

export function earlierOf(region: u32): u32 {
  return load<u32>(rowOf(region), EARLIER)
}

export function fenceOf(region: u32): u32 {
  return load<u32>(rowOf(region), FENCE)
}

export function setFence(region: u32, chunk: u32): void {
  set32(rowOf(region) + FENCE, chunk)
}

/**
 * The region that contains an address, 0 if none is known.
 * @param top the last chunk of the main heap, 0 if there is none
 */
export function regionAt(address: u64, top: u32): u32 {
  const main = baseOf(MAIN)
  if (main != 0 && top != 0 && address >= main) {
    if (address - main < offsetOf(top) + bytesOf(top) + MAIN_SLACK) return MAIN
  }
  const base = address & ~(heapRoom - 1)
  const count = load<u32>(COUNT)
  for (let region: u32 = MAIN + 1; region <= count; region++) {
    if (load<u64>(rowOf(region), BASE) == base && ownerOf(region) != OWNER_NONE) return region
  }
  return 0
}

/** Whether a region can begin there. */
export function fits(region: u32, base: u64): bool {
  if ((base & (PAGE - 1)) != 0 || base == 0 || base > OFFSET) return false
  return region == MAIN || ((base & (heapRoom - 1)) == 0 && regionAt(base, 0) == 0)
}

/** The virtual address of an address in a region. */
export function virtual(region: u32, address: u64): u64 {
  return startOfRegion(region) + address - baseOf(region)
}
