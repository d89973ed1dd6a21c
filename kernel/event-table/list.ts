/**
 * The rows of the table, for events whose effects on the live set are known. Events of other formats than mpatrol's
 * have the number of their block's allocation as an index; frees and reallocs have the address, size and lifetime of
 * the block that they end.
 */
import { BEGAN, DONE, REUSED, UNKNOWN } from '../../lib/kernel/layouts/live'
import { BEGUN, EFFECTS, ENDED, nextGone, numbers } from '../live/follow'
import { blockAt, makeBlocks } from '../live/records'
import { ADDRESS, INDEX, KIND, MASK, OLD_ADDRESS, SIZE } from '../shared/columns'
import * as Event from '../shared/event'
import { allocates, endsUnfreed, frees, LIVE, LIVE_BYTES, overlaps } from '../statistics/totals'
import { gap, number6, number8, pointer, sum8, typeOf } from './text'

/** The output: rows begin within the first 57344 bytes, and there is room to complete the last one. */
export const OUTPUT: usize = memory.data(57600)
const LAST: usize = OUTPUT + 57344
/** Per row of the batch, the position in the output after its text. */
export const ROW_ENDS: usize = memory.data(16576)

/** The bytes of output. */
export let written: u32 = 0
/** The number of events about blocks. */
let events: u64 = 0
/** The number of frees and reallocs of an unknown block. */
export let unknown: u64 = 0

/** The data of a live block: the event that allocated it, its address, size and index. */
const B_BORN: usize = 0
const B_ADDRESS: usize = 8
const B_SIZE: usize = 16
const B_INDEX: usize = 24
const BLOCK: usize = 32

/** The last index that was given to a block without one. */
let lastIndex: u64 = 0
/** The event that last freed a block by an index, and the data of that block. */
let lastFree: u64 = 0
const LAST_FREED: usize = memory.data(32)
/** The minimum number of digits of addresses. */
let digits: u32 = 16

/** Begins the table of a trace whose addresses have at least 8 or 16 digits. */
export function begin(atLeast: u32): void {
  digits = atLeast
}

/** Makes room for the blocks of the live set. @returns whether there is memory */
export function makeRoom(): bool {
  return makeBlocks(numbers)
}

/**
 * Counts the rows from `row` on and writes them. Stops at reserved memory, which is left to the caller, or when the
 * output is full.
 * @returns the first row that was not counted
 */
export function list(row: u32, rows: u32): u32 {
  let p = OUTPUT
  for (; row < rows && p < LAST; row++) {
    const kind = load<u8>(KIND + <usize>row)
    if (kind == Event.KIND_RESERVE) break
    if (kind <= Event.KIND_EXISTING) p = event(<usize>row, kind, p)
    else if (kind == Event.KIND_PROCESS_END) endProcess(row)
    store<u32>(ROW_ENDS + ((<usize>row) << 2), <u32>(p - OUTPUT))
  }
  written = <u32>(p - OUTPUT)
  return row
}

/** Ends a process, and with it its live blocks. */
function endProcess(row: u32): void {
  for (let number = nextGone(row); number != 0; number = nextGone(row)) endsUnfreed(load<u64>(blockAt(number), B_SIZE))
}

// @ts-ignore: decorator
@inline
function event(row: usize, kind: u8, p: usize): usize {
  events++
  const mask = load<u32>(MASK + (row << 2))
  const effect = <u32>load<u8>(EFFECTS + row)
  const size = (mask & Event.HAS_SIZE) != 0 ? load<u64>(SIZE + (row << 3)) : 0
  const ended = blockAt(load<u32>(ENDED + (row << 2)))
  const begun = blockAt(load<u32>(BEGUN + (row << 2)))
  p = gap(number6(p, events))
  store<u64>(p, typeOf(kind))
  p += 8
  if ((effect & DONE) != 0) {
    frees(load<u64>(ended, B_SIZE))
    if (kind == Event.KIND_FREE && (mask & Event.HAS_INDEX) != 0) {
      lastFree = events
      memory.copy(LAST_FREED, ended, BLOCK)
    }
    if ((effect & BEGAN) == 0) {
      p = pointer(number6(p, load<u64>(ended, B_INDEX)), load<u64>(ended, B_ADDRESS), digits)
      p = gap(number8(p, load<u64>(ended, B_SIZE)))
      p = gap(number6(p, events - load<u64>(ended, B_BORN)))
    }
  }
  if ((effect & UNKNOWN) != 0) unknown++
  if ((effect & BEGAN) != 0) {
    if ((effect & REUSED) != 0) overlaps(load<u64>(begun, B_SIZE))
    allocates(size, events, 0, 0)
    begins(row, mask, (effect & DONE) != 0, ended, begun, size)
    p = pointer(number6(p, load<u64>(begun, B_INDEX)), load<u64>(begun, B_ADDRESS), digits)
    p = noLifetime(number8(p, size))
  } else if ((effect & DONE) == 0) {
    p = bystander(row, mask, size, p)
  }
  p = gap(number6(p, load<u64>(LIVE)))
  p = sum8(p, load<u64>(LIVE_BYTES), load<u64>(LIVE_BYTES, 8))
  store<u8>(p, 0x0a)
  return p + 1
}

/** Ten spaces, in place of a lifetime. */
function noLifetime(p: usize): usize {
  return gap(gap(gap(gap(gap(p)))))
}

/** The middle of the row of an event that affected no block: its own values. */
function bystander(row: usize, mask: u32, size: u64, p: usize): usize {
  if ((mask & Event.HAS_INDEX) != 0) p = number6(p, load<u64>(INDEX + (row << 3)))
  else p = spaces(p, 6)
  if ((mask & Event.HAS_ADDRESS) != 0) p = pointer(p, load<u64>(ADDRESS + (row << 3)), digits)
  else p = spaces(p, digits + 6)
  if ((mask & Event.HAS_SIZE) != 0) p = number8(p, size)
  else p = spaces(p, 8)
  return noLifetime(p)
}

function spaces(p: usize, n: u32): usize {
  memory.fill(p, 0x20, <usize>n)
  return p + <usize>n
}

/** Stores the data of the block that began. @param goesOn whether it is the block that ended, resized */
function begins(row: usize, mask: u32, goesOn: bool, ended: usize, begun: usize, size: u64): void {
  const isIndexed = (mask & Event.HAS_INDEX) != 0
  const own = load<u64>(INDEX + (row << 3))
  // In old traces a realloc is a free and an allocation of one index.
  const isResized = isIndexed && lastFree != 0 && lastFree + 1 == events && own == load<u64>(LAST_FREED, B_INDEX)
  const born = goesOn ? load<u64>(ended, B_BORN) : isResized ? load<u64>(LAST_FREED, B_BORN) : events
  const index = isIndexed ? own : goesOn ? load<u64>(ended, B_INDEX) : ++lastIndex
  // A realloc that stayed in place may name only one address.
  const address =
    (mask & Event.HAS_ADDRESS) != 0
      ? load<u64>(ADDRESS + (row << 3))
      : (mask & Event.HAS_OLD_ADDRESS) != 0
        ? load<u64>(OLD_ADDRESS + (row << 3))
        : 0
  store<u64>(begun, born, B_BORN)
  store<u64>(begun, address, B_ADDRESS)
  store<u64>(begun, size, B_SIZE)
  store<u64>(begun, index, B_INDEX)
}
