/** The data of each live block, and the counts at its end. */
import { FAMILY_BITS, HISTOGRAM, RESIDENT_PRESENT, RESIDENT_SIZE } from '../../lib/kernel/layouts/totals'
import { S_CROSS_CPU } from '../../lib/kernel/layouts/owners'
import { API, CPU, PRESENT, TIME } from '../shared/columns'
import { HAS_API, HAS_CPU, HAS_PRESENT, HAS_TIME } from '../shared/event'
import { addTo, count, record, recordWide } from './sums'
import { ALLOCATED } from './totals'

/**
 * The layout of the 48 bytes of a block (live/records.ts): the number of the event that allocated it, among those about
 * blocks; its size; and the time of its allocation.
 */
const B_EVENT: usize = 0
export const B_SIZE: usize = 8
const B_TIME: usize = 16
/**
 * The bytes allocated since the beginning of the stream, including the block: the low 64 bits. The flags have 16 more
 * bits.
 */
const B_CLOCK: usize = 24
/** Rows of the site and the thread that allocated or resized it last. */
export const B_SITE: usize = 32
export const B_THREAD: usize = 36
/** The CPU that allocated it. */
const B_CPU: usize = 40
const B_FLAGS: usize = 44

/** The lowest bits of the flags are the family of the function that allocated or resized the block, 0 if unknown. */
const FAMILY: u32 = (1 << FAMILY_BITS) - 1
const ON_CPU: u32 = 8
const TIMED: u32 = 16
/** The block was there before: its birth is not known, and, until it is resized, neither is its allocation. */
const UNBORN: u32 = 32
const UNALLOCATED: u32 = 64
const CLOCK_SHIFT: u32 = 16
const CLOCK_TOP: u64 = 0xffff

/** The family of each API, from 1. */
export const FAMILIES: usize = memory.data(256)
/**
 * Counts of blocks that were freed by another family. The index has the allocating family above `FAMILY_BITS`, and the
 * freeing family below.
 */
export const MISMATCHES: usize = memory.data(512)
export const LIFE_EVENTS: usize = memory.data(HISTOGRAM)
export const LIFE_BYTES: usize = memory.data(HISTOGRAM)
export const LIFE_TIME: usize = memory.data(HISTOGRAM)
/**
 * The number of frees with the resident size of their block, the sum of these sizes, and the sum of the blocks' sizes.
 */
export const RESIDENT: usize = memory.data(40)
/** Blocks freed on another CPU. */
export const CROSS_CPU: usize = memory.data(8)

function familyOf(row: usize, mask: u32): u32 {
  return (mask & HAS_API) != 0 ? <u32>load<u8>(FAMILIES + <usize>load<u8>(API + row)) : 0
}

/** Counts the data in an event that ends or resizes a block. */
export function partsWith(block: usize, row: usize, mask: u32): void {
  const owner = load<u32>(block, B_FLAGS) & FAMILY
  const family = familyOf(row, mask)
  if (family != owner && family != 0 && owner != 0)
    count(MISMATCHES + ((<usize>((owner << FAMILY_BITS) | family)) << 3))
  if ((mask & HAS_PRESENT) == 0) return
  count(RESIDENT)
  addTo(RESIDENT + RESIDENT_PRESENT, load<u64>(PRESENT + (row << 3)))
  addTo(RESIDENT + RESIDENT_SIZE, load<u64>(block, B_SIZE))
}

/**
 * Counts the lifetime of a block, and how it ended.
 * @param event the number of the event that ended it, among those about blocks
 */
// @ts-ignore: decorator
@inline
export function dies(block: usize, site: usize, row: usize, mask: u32, event: u64): void {
  const born = load<u64>(block, B_EVENT)
  const flags = load<u32>(block, B_FLAGS)
  if ((mask & HAS_CPU) != 0 && (flags & ON_CPU) != 0 && load<u32>(CPU + (row << 2)) != load<u32>(block, B_CPU)) {
    count(CROSS_CPU)
    count(site + S_CROSS_CPU)
  }
  if ((flags & UNBORN) != 0) return
  record(LIFE_EVENTS, event - born)
  const low = load<u64>(ALLOCATED)
  const clock = load<u64>(block, B_CLOCK)
  // The clock of a block has 80 bits; beyond them, the lifetime is capped.
  const high = <i64>(load<u64>(ALLOCATED, 8) - <u64>(flags >> CLOCK_SHIFT) - <u64>(low < clock))
  if (high == 0) record(LIFE_BYTES, low - clock)
  else recordWide(LIFE_BYTES, low - clock, <u64>max<i64>(0, high))
  if ((mask & HAS_TIME) != 0 && (flags & TIMED) != 0) {
    const time = load<u64>(TIME + (row << 3))
    const then = load<u64>(block, B_TIME)
    // If time runs backwards, there is no lifetime.
    if (time >= then) record(LIFE_TIME, time - then)
  }
}

/** Whether the event that allocated or resized the block last is in the trace. */
export function isAllocated(block: usize): bool {
  return (load<u32>(block, B_FLAGS) & UNALLOCATED) == 0
}

/**
 * Sets the data of a new block.
 * @param isTimed the times of the trace are used
 * @param isOld the block was there before
 */
export function isBorn(block: usize, row: usize, mask: u32, event: u64, isTimed: bool, isOld: bool): void {
  const top = load<u64>(ALLOCATED, 8)
  let flags = familyOf(row, mask) | ((<u32>min<u64>(CLOCK_TOP, top)) << CLOCK_SHIFT)
  if (isOld) flags |= UNBORN | UNALLOCATED
  store<u64>(block, event, B_EVENT)
  store<u64>(block, load<u64>(ALLOCATED), B_CLOCK)
  if ((mask & HAS_CPU) != 0) {
    flags |= ON_CPU
    store<u32>(block, load<u32>(CPU + (row << 2)), B_CPU)
  }
  if ((mask & HAS_TIME) != 0 && isTimed) {
    flags |= TIMED
    store<u64>(block, load<u64>(TIME + (row << 3)), B_TIME)
  }
  store<u32>(block, flags, B_FLAGS)
}

/** The lifetime of a resized block begins at its first allocation. */
export function livesOn(block: usize, from: usize, row: usize, mask: u32): void {
  const family = familyOf(row, mask)
  const flags = load<u32>(from, B_FLAGS) & ~UNALLOCATED
  store<u64>(block, load<u64>(from, B_EVENT), B_EVENT)
  store<u64>(block, load<u64>(from, B_CLOCK), B_CLOCK)
  store<u64>(block, load<u64>(from, B_TIME), B_TIME)
  store<u32>(block, load<u32>(from, B_CPU), B_CPU)
  store<u32>(block, family != 0 ? (flags & ~FAMILY) | family : flags, B_FLAGS)
}
