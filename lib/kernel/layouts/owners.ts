/**
 * The rows of a table: the row of events without a key; the row of all keys without their own; the first row of a
 * single key.
 */
export const NONE = 0
export const OTHERS = 1
export const FIRST = 2
/** The maximum number of distinct keys of a table. Further keys are counted together, as "others". */
export const MAX_KEYS = 65_536

/**
 * Rows of the blocks of sites and threads: the offsets of their figures, in bytes. Every row begins with the allocated
 * and the live blocks and bytes, the moment when the figures at the peak were saved, these figures, the leaks, and
 * temporary blocks by heaptrack's and by memray's definition.
 */
export const ALLOCATIONS = 0
export const BYTES = 8
export const LIVE = 24
export const LIVE_BYTES = 32
export const STAMP = 48
export const PEAK = 56
export const PEAK_BYTES = 64
export const LEAKS = 80
export const LEAK_BYTES = 88
export const HEAPTRACK = 104
export const MEMRAY = 128

/**
 * A site's row continues with its peak of live bytes, the blocks that were freed on another CPU, the bytes that
 * allocations took, the blocks at that maximum of its own, the blocks that another thread freed, and the total lifetime
 * of its blocks, in events about blocks and in time.
 */
export const S_MOST = 152
export const S_CROSS_CPU = 168
export const S_HITS = 176
export const S_REQUESTED = 184
export const S_USABLE = 200
export const S_MOST_BLOCKS = 216
export const S_FOREIGN = 224
export const S_EVENTS = 232
export const S_TIME = 248
/** The thread of which the site's blocks were counted last, plus 1, and the row of this site and thread. */
export const S_SHARE_THREAD = 264
export const S_SHARE = 268
export const SITE_BYTES = 272

/** A thread's row continues with the thread's actions. */
export const T_EVENTS = 152
export const T_FREES = 160
export const T_FOREIGN = 168
export const THREAD_BYTES = 176
