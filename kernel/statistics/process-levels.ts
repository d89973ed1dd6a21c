/**
 * The live blocks and bytes of each process, so that they are known at once when the process ends. Blocks have the
 * stamp of their process. When the process ends, its stamp changes. A trace of one process needs none of this: nothing
 * is kept before `watchProcesses` is called.
 */
import { endAllUnfreed, LIVE, LIVE_BYTES } from './totals'
import { addTo, copySum, takeFrom } from './sums'

/** Of a process: the sum of its live bytes, the number of its live blocks, and how often it ended. */
const BLOCKS: usize = 16
const ENDS: usize = 24
const LOG: usize = 5
/** An address space has the number of its process in these bits: lib/blocks/address-spaces.ts. */
const PROCESS_SHIFT: u32 = 16
const LAST_PROCESS: u32 = 0x7fff

const BYTES: usize = 1048576
const LEVELS: usize = memory.data(1048576)
/** Whether blocks have stamps. */
export let isWatched: bool = false

export function clearProcesses(): void {
  if (isWatched) memory.fill(LEVELS, 0, BYTES)
  isWatched = false
}

/**
 * Gives blocks stamps from now on. The blocks that are already live have 0, the first stamp of events without a
 * process.
 */
export function watchProcesses(): void {
  if (isWatched) return
  store<u64>(LEVELS, load<u64>(LIVE), BLOCKS)
  copySum(LEVELS, LIVE_BYTES)
  isWatched = true
}

// @ts-ignore: decorator
@inline
function levelOf(space: u32): usize {
  return LEVELS + ((<usize>((space >> PROCESS_SHIFT) & LAST_PROCESS)) << LOG)
}

/** The stamp of blocks of the process of an address space. */
// @ts-ignore: decorator
@inline
function stampOf(space: u32): u64 {
  return (load<u64>(levelOf(space), ENDS) << 32) | (<u64>(space & (LAST_PROCESS << PROCESS_SHIFT)))
}

/** A block of this size begins. @returns its stamp */
export function enters(space: u32, size: u64): u64 {
  const level = levelOf(space)
  addTo(level, size)
  store<u64>(level, load<u64>(level, BLOCKS) + 1, BLOCKS)
  return stampOf(space)
}

/** Whether the process of a block with this stamp has not ended. */
export function isLive(stamp: u64): bool {
  return stampOf(<u32>stamp) == stamp
}

/** Removes a live block with this stamp. */
export function leaves(stamp: u64, size: u64): void {
  const level = levelOf(<u32>stamp)
  takeFrom(level, size)
  store<u64>(level, load<u64>(level, BLOCKS) - 1, BLOCKS)
}

/** Ends the process of an address space. */
export function endsProcess(space: u32): void {
  const level = levelOf(space)
  endAllUnfreed(load<u64>(level, BLOCKS), level)
  memory.fill(level, 0, ENDS)
  store<u64>(level, load<u64>(level, ENDS) + 1, ENDS)
}
