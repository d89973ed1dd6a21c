/** The simulated allocators. */
export const NO_ALLOCATOR = 0
export const PTMALLOC = 1
export const JEMALLOC = 2

/** The functions that allocate blocks. */
export const MALLOC = 0
export const CALLOC = 1
export const MEMALIGN = 2
export const REALLOC = 3

/** The result of a prediction: no block began, the block is at the predicted address, or it is elsewhere. */
export const NO_BLOCK = 0
export const HIT = 1
export const MISS = 2
