/**
 * Chunks: the parts of heaps, free or in use, and the mappings of large blocks. A chunk is a record of 48 bytes,
 * identified by the record's offset; 0 means none. Chunks of a heap are linked in the order of their addresses.
 *
 * The address of a chunk in a heap is virtual: the number of the region of the heap (regions.ts) and the offset there.
 * So a heap can be used before its address is known.
 */
import { GROWING, GrowingTable } from '../../shared/grow'
import { save, set32, set64 } from './log'

/** Offsets in a record. */
export const AT: usize = 0
export const BYTES: usize = 8
/** The chunks before and after it in its heap. */
export const BEFORE: usize = 16
export const AFTER: usize = 20
/** The chunks after and before it in its list. */
export const NEXT: usize = 24
export const LAST: usize = 28
/**
 * In a large bin: the first chunks of the next smaller and the next larger size. 0 for chunks that are not the first of
 * their size.
 */
export const SMALLER: usize = 32
export const LARGER: usize = 36
/** For a block that is a thread's table: the start of the stack that was mapped for the thread. */
export const STACK: usize = 32
export const STATE: usize = 40
export const LIVE: usize = 41
const ARENA: usize = 42
/** For a mapping: the bytes before the chunk. */
export const LEAD: usize = 44
export const RECORD: u32 = 48

/** States. A used chunk belongs to a live block (`LIVE`), to the allocator, or to unseen calls. */
export const USED: u8 = 0
export const CACHED: u8 = 1
export const FAST: u8 = 2
export const BINNED: u8 = 3
export const TOP: u8 = 4
export const MAPPED: u8 = 5
/** A block whose chunk is unknown. */
export const FOREIGN: u8 = 6
/** The record is not in use, or is the head of a bin. */
export const NO_CHUNK: u8 = 7

/** Values of `LIVE`: a block, or one with a stack. */
export const IS_BLOCK: u8 = 1
export const HAS_STACK: u8 = 3

/** The maximum number of records that a call may need. */
const SPARE: u32 = 512 * RECORD
const FEWEST: u32 = 17

const table = changetype<GrowingTable>(memory.data(GROWING))
/** The start of the records, which are the table. */
export let records: usize = 0
/** Words restored on undo: the end of the used records, and the first free one. */
export const END: usize = memory.data(8)
export const FREE: usize = END + 4

/** Removes all chunks. @returns false if memory is exhausted */
export function clearChunks(): bool {
  const isMade = table.restart(FEWEST)
  records = table.at
  store<u32>(END, RECORD)
  store<u32>(FREE, 0)
  return isMade
}

/** The end of the records used so far. */
export function endOfRecords(): u32 {
  return load<u32>(END)
}

/** Makes room for the records that a call may need. Moves the records. @returns false if memory is exhausted */
// @ts-ignore: decorator
@inline
export function reserveChunks(): bool {
  return table.has(<u64>(load<u32>(END) + SPARE)) ? true : growChunks()
}

function growChunks(): bool {
  if (!table.extend(<u64>(load<u32>(END) + SPARE))) return false
  records = table.at
  return true
}

/** The heads of the bins of a new arena: `count` consecutive records. */
export function takeHeads(count: u32): u32 {
  const first = load<u32>(END)
  for (let i: u32 = 0; i < count; i++) {
    const head = first + i * RECORD
    const at = records + head
    store<u32>(at, head, NEXT)
    store<u32>(at, head, LAST)
    store<u32>(at, head, SMALLER)
    store<u32>(at, NO_CHUNK, STATE)
  }
  set32(END, first + count * RECORD)
  return first
}

export function placeOf(chunk: u32): u64 {
  return load<u64>(records + chunk, AT)
}

export function bytesOf(chunk: u32): u64 {
  return load<u64>(records + chunk, BYTES)
}

export function setBytes(chunk: u32, bytes: u64): void {
  set64(records + chunk + BYTES, bytes)
}

/** One of the links of a chunk. */
export function link(chunk: u32, which: usize): u32 {
  return load<u32>(records + chunk + which)
}

/** The address of a link of a chunk. */
export function linkAt(chunk: u32, which: usize): usize {
  return records + chunk + which
}

export function setLink(chunk: u32, which: usize, to: u32): void {
  set32(records + chunk + which, to)
}

export function stateOf(chunk: u32): u8 {
  return load<u8>(records + chunk, STATE)
}

export function setState(chunk: u32, state: u8): void {
  save(records + chunk + STATE)
  store<u8>(records + chunk, state, STATE)
}

export function isLive(chunk: u32): bool {
  return load<u8>(records + chunk, LIVE) != 0
}

export function setLive(chunk: u32, live: u8): void {
  save(records + chunk + STATE)
  store<u8>(records + chunk, live, LIVE)
}

export function arenaOf(chunk: u32): u32 {
  return load<u16>(records + chunk, ARENA)
}
