/**
 * Pages of memory with live bytes, by the number of their live bytes. A block covers its first and last page in part;
 * these are in a hash table. The pages between them are only counted.
 */
import { PAGE_SHIFT, SPACE_BITS, STEP_SHIFT, STEPS as COUNTS } from '../../lib/kernel/layouts/report'
import { HashTable, TABLE } from '../shared/hash-table'

const PAGE: u64 = PAGE_SHIFT
const PAGE_BYTES: u64 = 1 << PAGE
/** Pages with more live bytes than this are not nearly empty. */
export const SPARSE: u32 = 1024

/** The two words of a page's value: its live bytes, and the number of their blocks, which is never 0. */
const LIVE: usize = 8
const BLOCKS: usize = 12
const table = changetype<HashTable>(memory.data(TABLE))

/** Pages by live bytes, in 16 counts (1 to 256 live bytes, and so on): now, at the peak, and at the ends of traces. */
export const PAGES: usize = memory.data(128)
export const PEAK_PAGES: usize = memory.data(128)
export const END_PAGES: usize = memory.data(128)
const STEP: u32 = STEP_SHIFT
const STEPS: u32 = COUNTS
/** The number of pages, and the largest that it was. */
export let touched: u64 = 0
export let mostTouched: u64 = 0

/** Makes room for this many more pages. @returns whether there is memory */
export function makePages(more: u32): bool {
  return table.reserve(more)
}

/** The position in a histogram of pages with this many live bytes. */
// @ts-ignore: decorator
@inline
function stepOf(live: u32): usize {
  return (<usize>min<u32>(STEPS - 1, (live - 1) >> STEP)) << 3
}

/** Adds a block's bytes to a page. */
// @ts-ignore: decorator
@inline
function gain(key: u64, bytes: u32): void {
  let slot = table.slotOf(key)
  let live: u32 = 0
  if (load<u32>(slot, BLOCKS) == 0) {
    slot = table.put(slot, key)
    touched++
    if (touched > mostTouched) mostTouched = touched
  } else {
    live = load<u32>(slot, LIVE)
    const at = PAGES + stepOf(live)
    store<u64>(at, load<u64>(at) - 1)
  }
  live += bytes
  store<u32>(slot, live, LIVE)
  store<u32>(slot, load<u32>(slot, BLOCKS) + 1, BLOCKS)
  const at = PAGES + stepOf(live)
  store<u64>(at, load<u64>(at) + 1)
}

/** Reverses `gain`. */
// @ts-ignore: decorator
@inline
function lose(key: u64, bytes: u32): void {
  const slot = table.slotOf(key)
  const before = load<u32>(slot, LIVE)
  const at = PAGES + stepOf(before)
  store<u64>(at, load<u64>(at) - 1)
  const blocks = load<u32>(slot, BLOCKS) - 1
  if (blocks == 0) {
    touched--
    table.remove(slot)
    return
  }
  const live = before - bytes
  store<u32>(slot, live, LIVE)
  store<u32>(slot, blocks, BLOCKS)
  const to = PAGES + stepOf(live)
  store<u64>(to, load<u64>(to) + 1)
}

/** The key of an address's page. @param space the number of the address space, below 4095 */
// @ts-ignore: decorator
@inline
function keyOf(space: u32, address: u64): u64 {
  return ((<u64>space) << SPACE_BITS) | (address >> PAGE)
}

/** Adds a block to its pages, or removes it. @param size at least 1; the block must end within the address space */
export function takePages(space: u32, address: u64, size: u64, isGain: bool): void {
  const end = address + (size - 1)
  const within = address & (PAGE_BYTES - 1)
  const first = keyOf(space, address)
  const last = keyOf(space, end)
  if (first == last) {
    if (isGain) gain(first, <u32>size)
    else lose(first, <u32>size)
    return
  }
  const full = last - first - 1
  const at = PAGES + ((<usize>(STEPS - 1)) << 3)
  if (isGain) {
    gain(first, <u32>(PAGE_BYTES - within))
    gain(last, <u32>(end & (PAGE_BYTES - 1)) + 1)
    touched += full
    if (touched > mostTouched) mostTouched = touched
    store<u64>(at, load<u64>(at) + full)
  } else {
    lose(first, <u32>(PAGE_BYTES - within))
    lose(last, <u32>(end & (PAGE_BYTES - 1)) + 1)
    touched -= full
    store<u64>(at, load<u64>(at) - full)
  }
}

/** The block's share in the nearly empty pages that it keeps, and in their bytes that are not live. */
export let sparsePages: f64 = 0
export let sparseBytes: f64 = 0

/** Computes these two for a live block. */
export function findSparse(space: u32, address: u64, size: u64): void {
  sparsePages = 0
  sparseBytes = 0
  const first = keyOf(space, address)
  const last = keyOf(space, address + (size - 1))
  share(first)
  if (last != first) share(last)
}

function share(key: u64): void {
  const slot = table.slotOf(key)
  const live = load<u32>(slot, LIVE)
  if (live > SPARSE) return
  const part = 1.0 / <f64>load<u32>(slot, BLOCKS)
  sparsePages += part
  sparseBytes += part * <f64>(<u32>PAGE_BYTES - live)
}

/** Notes that the peak is now. */
export function keepPages(): void {
  memory.copy(PEAK_PAGES, PAGES, 128)
}

/** Ends a trace: its pages are counted among those at the ends of traces, and no pages remain. */
export function endPages(): void {
  for (let step: usize = 0; step < 128; step += 8) {
    store<u64>(END_PAGES + step, load<u64>(END_PAGES + step) + load<u64>(PAGES + step))
  }
  memory.fill(PAGES, 0, 128)
  touched = 0
  table.clear()
}
