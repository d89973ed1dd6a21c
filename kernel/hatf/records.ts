/**
 * The HATF records of a window, before they have a layout. An encoder that must wait for more input stores them
 * outside.
 */

/** More records than a window has, because a window may end within the records of an event. */
export const MAX_RECORDS: u32 = 2064
export const RECORD_BYTES: u32 = 56
/**
 * Each record has its size, address, time, thread, old address and heap as 64-bit words (0 if absent), and the data at
 * the offsets below.
 */
export const RECORDS: usize = memory.data(115584)

export const R_SIZE: usize = 0
/** The only address, or the new address of a realloc. */
export const R_ADDRESS: usize = 8
export const R_TIME: usize = 16
export const R_THREAD: usize = 24
export const R_OLD_ADDRESS: usize = 32
export const R_HEAP: usize = 40
/**
 * Where the record's data (attributes or a comment's text) ends within the data of the window. It starts where the
 * previous record's data ends.
 */
export const R_DATA_END: usize = 48
export const R_TAG: usize = 52
/** Which of thread, heap and time the event has, because the record stores an absent one as 0. */
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
