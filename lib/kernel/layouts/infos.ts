/**
 * An info of heaptrack: a size and a site that blocks share. Offsets of its figures, and its length in bytes. Those are
 * the size; the moment when the blocks at the peak were saved; and, in four bytes each, the numbers of blocks that were
 * allocated, are live and were live at the peak, and the row of its site.
 */
export const SIZE = 0
export const STAMP = 8
export const ALLOCATIONS = 16
export const LIVE = 20
export const PEAK = 24
export const SITE = 28
export const INFO_BYTES = 32
