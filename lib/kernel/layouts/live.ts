/** The actual or intended effect of an event on the live set: bits of a set; see lib/blocks/block-effect.ts. */
export const BEGAN = 1
export const DONE = 2
export const UNKNOWN = 4
export const AGAIN = 8
export const REUSED = 16
export const NOTHING = 32
export const FAILED = 64

/** Only in what an event is to do: the keys are indices; a function of a kernel is to end a block; a process ends. */
export const INDEXED = 128
export const BY_KERNEL = 16
export const LEAVES = 4

/** Instead of the bits of an address space: no event about a block was of this process. */
export const NO_SPACE = -1

/** The fate of the block that an event ends or begins: bits of a set; see kernel/live/fates.ts. */
export const BY_HEAPTRACK = 1
export const BY_MEMRAY = 2
/** With it, the live bytes reach a new maximum. */
export const HIGHEST = 4
