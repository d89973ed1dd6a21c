import type { SizeCount } from './peak-sizes.js'

/** The number of calls of each function. */
export interface CallCounts {
  readonly malloc: number
  readonly calloc: number
  readonly memalign: number
  readonly realloc: number
  readonly free: number
}

/** Live blocks at some time, and the bytes that were requested for them. */
export interface LiveAmount {
  readonly blocks: number
  readonly bytes: number
}

/** Events that are not replayed exactly. */
export interface SkippedCounts {
  /** Frees and reallocs of blocks that were never live; a realloc then allocates. */
  readonly unknown: number
  /** The same for blocks that were freed before. */
  readonly again: number
  /** Allocations at the address of a live block, which is freed first. */
  readonly reused: number
  /** Blocks that were live when their process ended, at which point they are freed. */
  readonly left: number
  /** Blocks that existed before the recording began, and calls that end them. */
  readonly existing: number
  /** Calls that failed. */
  readonly failed: number
  /** Allocations of more than 2^46 bytes, and calls that end them. */
  readonly absurd: number
  /** Alignments that are not a power of two, or above 2^30: the next power of two, or 2^30, is used instead. */
  readonly unaligned: number
  /** Events of further traces in the same stream. */
  readonly later: number
}

/** The results of `prepareReplay`. All sizes are in bytes. */
export interface PreparedReplay {
  readonly events: number
  readonly calls: CallCounts
  readonly skipped: SkippedCounts
  readonly threads: number
  /** Processes whose blocks are in one heap. */
  readonly processes: number
  /** The number of slots, the places where blocks are kept. */
  readonly slots: number
  readonly epochs: number
  readonly peak: LiveAmount
  /** The live blocks of at most 1,024 bytes when most bytes were live, by size. */
  readonly peakSizes: readonly SizeCount[]
  readonly final: LiveAmount
  /** From the first event with a time to the last one, in nanoseconds; null if there are no times in a known unit. */
  readonly duration: number | null
}
