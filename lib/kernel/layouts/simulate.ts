/**
 * The constants that kernel/simulate.ts and lib/transforms/simulate/ share. A moment of a heap is a number of doubles:
 * its event, and live blocks, requested, granted and used bytes, and pages. The figures of a size are allocations, and
 * requested and granted bytes.
 */

/** The doubles of a moment, and of a size. */
export const MOMENT_FIGURES = 6
export const SIZE_FIGURES = 3
/** The number of sizes, by their logarithms, and of the size classes that follow them. */
export const SIZE_ROWS = 64
export const CLASS_ROWS = 256

/** The reason why not all rows were placed: memory is exhausted, a heap would be too large, or see below. */
export const EXHAUSTED = 1
export const TOO_LARGE = 2
/** The policy has one heap, and the trace several address spaces. */
export const SEVERAL = 3
/** A simulated jemalloc has too many extents. */
export const TOO_MANY = 4
/** An alignment is too large. */
export const OVERALIGNED = 5
/** A simulated ptmalloc has no addresses left for mappings. */
export const UNMAPPED = 6
