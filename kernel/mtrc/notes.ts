/**
 * The notes of `encode` on an event that it wrote, changed or dropped, as bits of a set. The wrapper has the texts, and
 * reports them in this order.
 */
export const OTHER_TYPE: u32 = 1 << 0
export const EXISTING_AS_ALLOC: u32 = 1 << 1
export const ALLOC_NOWHERE: u32 = 1 << 2
export const FREE_OF_NULL: u32 = 1 << 3
export const FREE_OF_UNKNOWN: u32 = 1 << 4
export const NULL_TO_NULL: u32 = 1 << 5
export const REALLOC_OF_NULL: u32 = 1 << 6
export const REALLOC_FAILED: u32 = 1 << 7
export const REALLOC_TO_NOTHING: u32 = 1 << 8
export const REALLOC_OF_UNKNOWN: u32 = 1 << 9
export const NO_ADDRESS: u32 = 1 << 10
export const NO_SIZE: u32 = 1 << 11
export const NO_INDEX_LEFT: u32 = 1 << 12
export const INDEX_OF_OTHER: u32 = 1 << 13
export const ADDRESS_OF_UNKNOWN: u32 = 1 << 14
export const SIZE_OF_UNKNOWN: u32 = 1 << 15
export const OLD_ADDRESS_OF_UNKNOWN: u32 = 1 << 16
export const OTHER_ADDRESS: u32 = 1 << 17
export const OTHER_SIZE: u32 = 1 << 18
export const OTHER_OLD_ADDRESS: u32 = 1 << 19
export const UNFIT_FUNCTION: u32 = 1 << 20
export const UNFIT_FILE: u32 = 1 << 21
