/**
 * Decides whether the block that a call ends was temporary. This is the only place that does: the statistics call
 * `judge` for each event that they count, and `judgeRows` (../fates/rows.ts) calls it for views that count nothing.
 *
 * Both definitions of a temporary block treat a realloc as a free and an allocation, and ignore calls without effect,
 * such as the free of the null pointer. A block that existed before the trace counts as no call.
 *
 * - heaptrack: the call after the allocation, in the same process, frees the block;
 * - memray, with its default threshold: the thread that allocated the block frees it, and has made at most one
 *   other allocation in between.
 */
import { BEGAN, BY_HEAPTRACK, BY_MEMRAY, DONE, UNKNOWN } from '../../lib/kernel/layouts/live'
import { FIRST, MAX_KEYS } from '../../lib/kernel/layouts/owners'
import { GROWING, GrowingTable } from '../shared/grow'
import { KIND_EXISTING } from '../shared/event'

/**
 * Per row, the rows of its thread and process: lib/blocks/callers.ts assigns them. If only `BY_HEAPTRACK` counts,
 * threads may have the rows of their processes, because blocks of one process have different numbers.
 */
export const THREADS: usize = memory.data(16576)
export const PROCESSES: usize = memory.data(16576)
/** Per row that begins or ends a block, what `judge` gave, and `HIGHEST`. */
export const FATES: usize = memory.data(4288)

/**
 * By process, the block that its last call allocated: the number, with the row of the thread above it; 0 if the last
 * call was a free.
 */
const LASTS: usize = memory.data((FIRST + MAX_KEYS) * 8)
/** By thread, the numbers of the two blocks that it allocated last, the later one first. */
const recent = changetype<GrowingTable>(memory.data(GROWING))

/** Makes room for the rows of this many threads. @returns whether there is memory */
export function makeCallers(threads: u32): bool {
  return recent.reserve((<u64>threads) << 3)
}

/**
 * Judges the next event about a block, in the order of the trace.
 * @param effect on the live set
 * @param ended the number of the block that it ends
 * @param begun the number of the block that it begins
 * @param owner the row of the thread that allocated or resized the block that it ends
 * @param isAllocated whether the trace has the event that did so
 * @returns `BY_HEAPTRACK` and `BY_MEMRAY`, if that block was temporary
 */
export function judge(row: usize, kind: u8, effect: u32, ended: u32, begun: u32, owner: u32, isAllocated: bool): u32 {
  const last = LASTS + ((<usize>load<u32>(PROCESSES + (row << 2))) << 3)
  if ((effect & (BEGAN | DONE)) == 0) {
    if ((effect & UNKNOWN) != 0) store<u64>(last, 0)
    return 0
  }
  const thread = load<u32>(THREADS + (row << 2))
  const calls = recent.at + ((<usize>thread) << 3)
  let fate: u32 = 0
  if ((effect & DONE) != 0) {
    // Numbers are reused, so the number alone may mean an earlier block.
    if (isAllocated && load<u64>(last) == blockOf(ended, owner)) fate |= BY_HEAPTRACK
    if (isAllocated && thread == owner && (load<u32>(calls) == ended || load<u32>(calls, 4) == ended)) fate |= BY_MEMRAY
    if ((effect & BEGAN) == 0) store<u64>(last, 0)
  }
  if ((effect & BEGAN) != 0 && kind != KIND_EXISTING) {
    store<u32>(calls, load<u32>(calls), 4)
    store<u32>(calls, begun)
    store<u64>(last, blockOf(begun, thread))
  }
  return fate
}

/** The process of a row ends: its last call was not an allocation. */
export function judgeProcessEnd(row: usize): void {
  store<u64>(LASTS + ((<usize>load<u32>(PROCESSES + (row << 2))) << 3), 0)
}

function blockOf(number: u32, thread: u32): u64 {
  return ((<u64>thread) << 32) | (<u64>number)
}
