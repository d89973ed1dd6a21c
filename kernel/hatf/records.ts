/** HATF records of a window before they have a layout. An encoder that has to wait for more keeps them outside. */

/** More records than a window has, for it may end in the midst of an event's. */
export const MAX_RECORDS: u32 = 2064
export const RECORD_BYTES: u32 = 56
/**
 * Each record has its size, address, time, thread, old address and heap as 64-bit words, zero where it has none, and
 * what the offsets say.
 */
export const RECORDS: usize = memory.data(115584)

export const R_SIZE: usize = 0
/** The one address, or the new address of a realloc. */
export const R_ADDRESS: usize = 8
export const R_TIME: usize = 16
export const R_THREAD: usize = 24
export const R_OLD_ADDRESS: usize = 32
export const R_HEAP: usize = 40
/**
 * Where the data of the record, attributes or a comment's text, ends in that of the window; it begins where that of the
 * one before ends.
 */
export const R_DATA_END: usize = 48
export const R_TAG: usize = 52
/** Which of thread, heap and time an event has: the record's is not a zero in the place of one. */
export const R_GIVEN: usize = 53

export const GIVEN_THREAD: u32 = 1
export const GIVEN_HEAP: u32 = 2
export const GIVEN_TIME: u32 = 4

// @ts-ignore: decorator
@inline
export function recordAt(r: u32): usize {
  return RECORDS + <usize>(r * RECORD_BYTES)
}

// @ts-ignore: decorator
@inline
export function dataStart(r: u32): u32 {
  return r == 0 ? 0 : load<u32>(recordAt(r - 1), R_DATA_END)
}
