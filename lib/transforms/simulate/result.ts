import type { SimulateSettings } from './policies.js'

/** A simulated heap after some event. All memory is in bytes; of several address spaces, the sums. */
export interface HeapMoment {
  /** The number of the event in its trace, from 1. */
  readonly event: number
  /** The live blocks, and the bytes that were requested for them. */
  readonly blocks: number
  readonly requested: number
  /** The bytes that the live blocks take with headers and rounding. */
  readonly granted: number
  /** The bytes that the heap has from the system. */
  readonly heap: number
  /** The bytes of the pages in which live blocks are. */
  readonly pages: number
}

/** Allocations of similar sizes. */
export interface SizeFigures {
  /** The largest size of these blocks: a power of two. */
  readonly upTo: number
  readonly allocations: number
  /** The sums of requested sizes, and of the bytes that the blocks take. */
  readonly requested: number
  readonly granted: number
}

/**
 * Fragmentation by the four definitions of Johnstone and Wilson (1998): the memory that the allocator uses over that
 * which the program requested, less 1. 0.14 means 14 %. Null where nothing was requested.
 */
export interface Fragmentation {
  /** Averages over the events that changed the live set. */
  readonly average: number | null
  /** Both when most bytes were live. */
  readonly atMostLive: number | null
  /** Both when the heap was largest, for the first time. */
  readonly atLargestHeap: number | null
  /** The largest heap over the most live bytes. */
  readonly ofMaxima: number | null
}

/** Blocks, or the bytes that were requested for them, in a simulation with predicted lifetimes. */
export interface PredictionFigures {
  /** All that were allocated; a realloc allocates a block. */
  readonly allocated: number
  /** Those that were short-lived. */
  readonly short: number
  /** Those that were expected to be. */
  readonly predicted: number
  /** Those that were in arenas: the others had no room in one. */
  readonly inArenas: number
  /** Those in arenas that were not short-lived, with those that are live. */
  readonly late: number
}

/** Figures of a simulated heap. */
export interface SimulationResult {
  readonly settings: SimulateSettings
  /** The number of events, and of those that changed the live set. */
  readonly events: number
  readonly changes: number
  /** The number of address spaces with blocks; 0 for `ideal`. */
  readonly heaps: number
  /** Frees and reallocs of blocks that were not live; and allocations at the address of a live block. */
  readonly unknown: number
  readonly reused: number
  /** Blocks whose alignments are no power of two, or above 2^45: they are placed as if they had none. */
  readonly unaligned: number
  /** Reallocs of a block that could stay, and of those that moved. */
  readonly stayed: number
  readonly moved: number
  /** The moments when most bytes were live, the heap was largest, and most pages had live blocks. Null: no blocks. */
  readonly mostLive: HeapMoment | null
  readonly largestHeap: HeapMoment | null
  readonly mostPages: HeapMoment | null
  readonly fragmentation: Fragmentation
  /** Searches of the list of free blocks, and how many of these they would examine one by one. Null: no such list. */
  readonly searches: { readonly count: number; readonly mean: number; readonly longest: number } | null
  /** What was predicted, and how it turned out. Null without prediction. */
  readonly prediction: { readonly blocks: PredictionFigures; readonly bytes: PredictionFigures } | null
  readonly sizes: readonly SizeFigures[]
  /** Up to 1,024 moments in equal distances. */
  readonly timeline: readonly HeapMoment[]
}
