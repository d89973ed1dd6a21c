/**
 * The address spaces that the map has. When it has as many as it may, a space whose blocks grow to twice the size that
 * those of the smallest in it ever had takes that one's place. So a program that starts many small ones is in it.
 */
import { dropRegions } from './regions'

/** Address spaces from this number on are not followed. */
export const SPACES: u32 = 4095
const MOST: u32 = 64

/** By address space: its live bytes, their maximum, and the number of its blocks that the map has had. */
const LIVE: usize = memory.data(SPACES * 8)
const HIGHEST: usize = memory.data(SPACES * 8)
const BLOCKS: usize = memory.data(SPACES * 8)
const IS_MAPPED: usize = memory.data(SPACES)
/** The spaces of the map, how many there are, and at most the smallest `HIGHEST` of them. */
const MAPPED: usize = memory.data(MOST * 4)
let mapped: u32 = 0
let least: u64 = 0
/** The number of blocks that the map does not have, because it does not have their space. */
export let unmapped: u64 = 0
/** How many blocks may be examined to add spaces. Each block that begins adds `READS`, which limits the time. */
let reads: u64 = 1 << 20
const READS: u64 = 4

// @ts-ignore: decorator
@inline
export function isMapped(space: u32): bool {
  return load<u8>(IS_MAPPED + space) != 0
}

/** Counts a block that begins, and its bytes. @returns whether its space, which has no map, should get one */
// @ts-ignore: decorator
@inline
export function spaceGains(space: u32, bytes: u64): bool {
  const at = (<usize>space) << 3
  const live = load<u64>(LIVE + at) + bytes
  store<u64>(LIVE + at, live)
  if (live > load<u64>(HIGHEST + at)) store<u64>(HIGHEST + at, live)
  reads += READS
  if (!isMapped(space) && mapped < MOST) addSpace(space, mapped++)
  if (isMapped(space)) {
    store<u64>(BLOCKS + at, load<u64>(BLOCKS + at) + 1)
    return false
  }
  unmapped++
  return live >> 1 > least
}

// @ts-ignore: decorator
@inline
export function spaceLoses(space: u32, bytes: u64): void {
  const at = LIVE + ((<usize>space) << 3)
  store<u64>(at, load<u64>(at) - bytes)
}

/**
 * Makes room for a space in the map.
 * @param blocks how many are examined to find its live blocks
 * @returns whether there is room; if so, `mapBlocks` must follow
 */
export function mapSpace(space: u32, blocks: u32): bool {
  if (reads < blocks) return false
  const slot = smallest()
  const old = load<u32>(MAPPED + ((<usize>slot) << 2))
  least = load<u64>(HIGHEST + ((<usize>old) << 3))
  if (load<u64>(LIVE + ((<usize>space) << 3)) >> 1 <= least) return false
  reads -= blocks
  dropRegions(old)
  store<u8>(IS_MAPPED + old, 0)
  unmapped += load<u64>(BLOCKS + ((<usize>old) << 3))
  addSpace(space, slot)
  return true
}

function addSpace(space: u32, slot: u32): void {
  store<u32>(MAPPED + ((<usize>slot) << 2), space)
  store<u8>(IS_MAPPED + space, 1)
  store<u64>(BLOCKS + ((<usize>space) << 3), 0)
}

/** The map now has these live blocks of a space. */
export function mapBlocks(space: u32, blocks: u64): void {
  store<u64>(BLOCKS + ((<usize>space) << 3), blocks)
  unmapped -= blocks
}

/** The slot of the space in the map that had the fewest live bytes at its maximum. */
function smallest(): u32 {
  let found: u32 = 0
  let fewest: u64 = u64.MAX_VALUE
  for (let slot: u32 = 0; slot < mapped; slot++) {
    const highest = load<u64>(HIGHEST + ((<usize>load<u32>(MAPPED + ((<usize>slot) << 2))) << 3))
    if (highest >= fewest) continue
    fewest = highest
    found = slot
  }
  return found
}

/** Ends a trace: no block is live. */
export function endSpaces(): void {
  memory.fill(LIVE, 0, SPACES * 8)
}
