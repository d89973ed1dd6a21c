/**
 * A site's row: offsets of the numbers of reallocs and of blocks that grew, shrank and moved; as floats, the nearly
 * empty pages that its blocks keep, and their bytes that are not live; and its size in bytes.
 */
export const REALLOCS = 0
export const GROWN = 8
export const SHRUNK = 16
export const MOVED = 24
export const SPARSE_PAGES = 32
export const SPARSE_BYTES = 40
export const SITE_BYTES = 48

/** The figures of reallocs: offsets of the numbers of blocks that grew, shrank, kept their size, moved; bytes. */
export const ALL_GROWN = 0
export const ALL_SHRUNK = 8
export const ALL_SAME = 16
export const ALL_MOVED = 24
export const GROWN_BYTES = 32
export const SHRUNK_BYTES = 48

/** Blocks that were resized this often or more are counted together. */
export const LONGEST = 255

/** The side of the heat map: sizes and lifetimes have 0 to 64 bits. The number of bits of the cell in keys by site. */
export const HEAT_SIDE = 65
export const CELL_BITS = 13

/** A slice of the generations: the offset of its bytes, after its blocks; its size. Its bits in keys by site. */
export const SLICE_BLOCKS = 0
export const SLICE_SUM = 8
export const SLICE_BYTES = 24
export const SLICE_BITS = 6

/** Regions: the number of floats in a row of each, and the bits of its key that are below the address space. */
export const COLUMNS = 512
export const SPACE_BITS = 52
/** The address space of a kernel's pages, which contain objects with addresses of their own. */
export const KERNEL_PAGES = 4094

/** Counts of pages by live bytes: how many there are, and the logarithm of the bytes of each. */
export const STEPS = 16
export const STEP_SHIFT = 8
/** The logarithm of the size of a page. */
export const PAGE_SHIFT = 12

/** Anomalies: the number of bits of their kind, above which is the row, and the kinds. */
export const PROBLEM_BITS = 3
export const UNKNOWN_FREE = 0
export const DOUBLE_FREE = 1
export const OVERLAP = 2
export const FAILED = 3
export const ZERO_SIZE = 4
export const UNKNOWN_REALLOC = 5

/** The maximum number of blocks of a process that ends at a time. */
export const MOST_GONE = 4096
