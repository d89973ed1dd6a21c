/**
 * Which allocations are temporary. Both definitions treat a realloc as a free and an allocation, and ignore calls
 * without effect, such as the free of the null pointer:
 *
 * - heaptrack: the call after the allocation, in the same process, frees the block;
 * - memray, with its default threshold: the thread that allocated the block frees it, and has made at most one other
 *   allocation in between.
 */
import { FIRST, MAX_KEYS } from '../../lib/kernel/layouts/owners'
import { isRecent, threadAt } from './owners'
import { addTo, count } from './sums'

/**
 * By process, the block that its last call allocated: the number, with the row of the thread above it; 0 if the last
 * call was a free.
 */
const LASTS: usize = memory.data((FIRST + MAX_KEYS) * 8)

/** Blocks that were temporary, and their bytes. */
export const HEAPTRACK: usize = memory.data(24)
export const MEMRAY: usize = memory.data(24)

/** A block was allocated. */
// @ts-ignore: decorator
@inline
export function noteAllocation(process: u32, number: u32, threadRow: u32): void {
  store<u64>(LASTS + ((<usize>process) << 3), blockOf(number, threadRow))
}

/** A block was freed, live or not. */
// @ts-ignore: decorator
@inline
export function noteFree(process: u32): void {
  store<u64>(LASTS + ((<usize>process) << 3), 0)
}

/**
 * Whether the block ended by the current event is temporary by heaptrack's definition.
 * @param owner the row of the thread that allocated it: a number alone may be that of an earlier block
 */
// @ts-ignore: decorator
@inline
export function isHeaptracks(process: u32, number: u32, owner: u32): bool {
  return load<u64>(LASTS + ((<usize>process) << 3)) == blockOf(number, owner)
}

/** The same by memray's definition. @param owner the row of the thread that allocated it */
// @ts-ignore: decorator
@inline
export function isMemrays(threadRow: u32, number: u32, owner: u32): bool {
  return threadRow == owner && isRecent(threadAt(threadRow), number)
}

export function countTemporary(size: u64, toHeaptrack: bool, toMemray: bool): void {
  if (toHeaptrack) {
    count(HEAPTRACK)
    addTo(HEAPTRACK + 8, size)
  }
  if (toMemray) {
    count(MEMRAY)
    addTo(MEMRAY + 8, size)
  }
}

// @ts-ignore: decorator
@inline
function blockOf(number: u32, threadRow: u32): u64 {
  return ((<u64>threadRow) << 32) | (<u64>number)
}
