/**
 * The total figures of a trace: offsets in bytes of the numbers of blocks and the sums of their bytes. The last but one
 * are blocks that were live when another one began at the same address, the last those that ended with their process.
 */
export const ALLOCATIONS = 0
export const FREES = 8
export const ALLOCATED = 16
export const FREED = 32
export const LIVE = 48
export const PEAK_LIVE = 56
export const LIVE_BYTES = 64
export const MOST_BYTES = 80
export const SMALLEST = 96
export const LARGEST = 104
export const OVERLAPS = 112
export const OVERLAP_BYTES = 120
export const UNFREED = 136
export const UNFREED_BYTES = 144

/** The moment of a peak: offsets of event, blocks, bytes, bytes allocated, whether the time is known, and time. */
export const AT_EVENT = 0
export const AT_BLOCKS = 8
export const AT_BYTES = 16
export const AT_ALLOCATED = 32
export const AT_TIMED = 48
export const AT_TIME = 56

/** A histogram: the number of its counts, for integers of 0 to 96 bits; the offset of their sum; its size in bytes. */
export const BARS = 97
export const SUM = 98 * 8
export const HISTOGRAM = SUM + 16

/**
 * Frees with the resident size of their block: offsets of the sum of these sizes, and of the sum of the blocks' sizes.
 */
export const RESIDENT_PRESENT = 8
export const RESIDENT_SIZE = 24

/** Blocks freed by another family of functions: the number of bits for the freeing family in the place of a count. */
export const FAMILY_BITS = 3
