/** Each size below this number has the row of its number. The row of that number is for all sizes without room. */
export const FEW = 4096

/**
 * A row of the blocks of a size: the offsets of its figures, and its length in bytes. Those are the size; numbers of
 * blocks that were allocated, leaked, and were temporary as heaptrack and as memray count them; the live blocks and
 * those at the peak, in four bytes each; and the moment when the latter were saved.
 */
export const SIZE = 0
export const ALLOCATIONS = 8
export const LEAKS = 16
export const HEAPTRACK = 24
export const MEMRAY = 32
export const LIVE = 40
export const PEAK = 44
export const STAMP = 48
export const SIZE_BYTES = 56
