/**
 * Pages of memory with live bytes, by the number of their live bytes. A block covers its first and last page in part;
 * these are in a hash table. The pages between them are only counted.
 */
import { PAGE_SHIFT, SPACE_BITS, STEP_SHIFT, STEPS as COUNTS } from '../../lib/kernel/layouts/report'
import { giveRoom, takeRoom } from '../live/room'
import { mix, secretFrom } from '../shared/mix'

const PAGE: u64 = PAGE_SHIFT
const PAGE_BYTES: u64 = 1 << PAGE
/** Pages with more live bytes than this are not nearly empty. */
export const SPARSE: u32 = 1024

/** A slot: the key of the page plus 1, or 0 for none; its live bytes, and the number of their blocks. */
const SLOT: u32 = 4
const KEY: usize = 0
const LIVE: usize = 8
const BLOCKS: usize = 12
const FEWEST: u32 = 10

/** Pages by live bytes, in 16 counts (1 to 256 live bytes, and so on): now, at the peak, and at the ends of traces. */
export const PAGES: usize = memory.data(128)
export const PEAK_PAGES: usize = memory.data(128)
export const END_PAGES: usize = memory.data(128)
const STEP: u32 = STEP_SHIFT
const STEPS: u32 = COUNTS
/** How many pages there are. */
export let touched: u64 = 0

let table: usize = 0
let log: u32 = 0
let used: u32 = 0
let seed: u64 = 0

/** Sets a random seed, so that the author of a trace cannot choose addresses that collide. */
export function seedPages(low: u32, high: u32): void {
  seed = secretFrom(low, high)
}

/** Makes room for this many more pages. @returns whether there is memory */
export function makePages(more: u32): bool {
  const wanted = used + more
  if (log != 0 && wanted <= 5 << (log - 3)) return true
  let needed = max(log, FEWEST)
  while (wanted > 5 << (needed - 3)) needed++
  const slots = takeRoom(needed + SLOT)
  if (slots == 0) return false
  memory.fill(slots, 0, (<usize>1) << (needed + SLOT))
  const from = table
  const end = from + ((<usize>1) << (log + SLOT))
  const before = log
  table = slots
  log = needed
  if (from == 0) return true
  for (let slot = from; slot < end; slot += 1 << SLOT) {
    if (load<u64>(slot) != 0) memory.copy(find(load<u64>(slot)), slot, 1 << SLOT)
  }
  giveRoom(from, before + SLOT)
  return true
}

/** The offset at which the search for a page begins. */
// @ts-ignore: decorator
@inline
function home(key: u64): usize {
  return (<usize>(mix(key, seed) >> (<u64>(64 - log)))) << SLOT
}

/** The slot with a key plus 1, otherwise an empty one. */
// @ts-ignore: decorator
@inline
function find(key: u64): usize {
  const last = (((<usize>1) << log) - 1) << SLOT
  let at = home(key)
  while (true) {
    const there = load<u64>(table + at)
    if (there == key || there == 0) return table + at
    at = (at + (1 << SLOT)) & last
  }
}

/** Removes the entry of a slot, and moves back the entries displaced by it. */
function remove(slot: usize): void {
  const last = (((<usize>1) << log) - 1) << SLOT
  let hole = slot - table
  let next = hole
  while (true) {
    next = (next + (1 << SLOT)) & last
    const key = load<u64>(table + next)
    if (key == 0) break
    if (((next - home(key)) & last) >= ((next - hole) & last)) {
      memory.copy(table + hole, table + next, 1 << SLOT)
      hole = next
    }
  }
  store<u64>(table + hole, 0)
  used--
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
  const slot = find(key + 1)
  let live: u32 = 0
  if (load<u64>(slot) == 0) {
    store<u64>(slot, key + 1, KEY)
    store<u64>(slot, 0, LIVE)
    used++
    touched++
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
  const slot = find(key + 1)
  const before = load<u32>(slot, LIVE)
  const at = PAGES + stepOf(before)
  store<u64>(at, load<u64>(at) - 1)
  const blocks = load<u32>(slot, BLOCKS) - 1
  if (blocks == 0) {
    touched--
    remove(slot)
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
  const slot = find(key + 1)
  const live = load<u32>(slot, LIVE)
  if (live > SPARSE) return
  const part = 1.0 / <f64>load<u32>(slot, BLOCKS)
  sparsePages += part
  sparseBytes += part * <f64>(<u32>PAGE_BYTES - live)
}

/** The peak is now. */
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
  if (log == 0) return
  giveRoom(table, log + SLOT)
  table = 0
  log = 0
  used = 0
}
