import type { SimulateSettings } from './policies.js'

/** A simulated heap after some event. All memory is in bytes, added up over all address spaces. */
export interface HeapMoment {
  /** The number of the event in its trace, from 1. */
  readonly event: number
  /** The number of live blocks, and the bytes requested for them. */
  readonly blocks: number
  readonly requested: number
  /** The bytes that the live blocks take with headers and rounding. */
  readonly granted: number
  /** The bytes that the heap has from the system. */
  readonly heap: number
  /** The bytes of the pages with live blocks. */
  readonly pages: number
}

/** Allocations of similar sizes, or of a size class. */
export interface SizeFigures {
  /** The largest size of these blocks: a power of two, or the size of their class. */
  readonly upTo: number
  readonly allocations: number
  /** The sums of requested sizes, and of the bytes that the blocks take. */
  readonly requested: number
  readonly granted: number
}

/**
 * Fragmentation by the four definitions of Johnstone and Wilson (1998): the ratio of the memory that the allocator uses
 * to the memory that the program requested, less 1. 0.14 means 14 %. Null where nothing was requested.
 */
export interface Fragmentation {
  /** Averages over the events that changed the live set. */
  readonly average: number | null
  /** Both at the peak of live bytes. */
  readonly atMostLive: number | null
  /** Both at the first moment when the heap was largest. */
  readonly atLargestHeap: number | null
  /** The largest heap, relative to the maximum of live bytes. */
  readonly ofMaxima: number | null
}

/** Numbers of blocks, or the bytes requested for them, in a simulation with predicted lifetimes. */
export interface PredictionFigures {
  /** All allocated blocks. A realloc allocates a block. */
  readonly allocated: number
  /** Blocks that were short-lived. */
  readonly short: number
  /** Blocks that were expected to be short-lived. */
  readonly predicted: number
  /** Blocks in arenas. The other expected blocks found no room in one. */
  readonly inArenas: number
  /** Blocks in arenas that were not short-lived, including those still live. */
  readonly late: number
}

/** Figures of a simulated heap. */
export interface SimulationResult {
  readonly settings: SimulateSettings
  /** The number of events, and the number that changed the live set. */
  readonly events: number
  readonly changes: number
  /** The number of address spaces with blocks; 0 for `ideal`. */
  readonly heaps: number
  /** Frees and reallocs of blocks that were not live; and allocations at the address of a live block. */
  readonly unknown: number
  readonly reused: number
  /** Blocks whose alignments are not a power of two, or above 2^45. Their alignments are ignored. */
  readonly unaligned: number
  /** Reallocs of blocks that stayed in place, and of blocks that moved. */
  readonly stayed: number
  readonly moved: number
  /** The moments when most bytes were live, the heap was largest, and most pages had live blocks. Null: no blocks. */
  readonly mostLive: HeapMoment | null
  readonly largestHeap: HeapMoment | null
  readonly mostPages: HeapMoment | null
  readonly fragmentation: Fragmentation
  /**
   * Searches of the list of free blocks, and the number of blocks that they would examine one by one. Null: no such
   * list.
   */
  readonly searches: { readonly count: number; readonly mean: number; readonly longest: number } | null
  /**
   * How often a page without live blocks got one: the page faults of a program, if such pages are returned to the
   * system at once. If none is returned, each page of the heap that is written to causes one. Null for `ideal`.
   */
  readonly pageFaults: number | null
  /** The predictions and their results. Null without predictions. */
  readonly prediction: { readonly blocks: PredictionFigures; readonly bytes: PredictionFigures } | null
  readonly sizes: readonly SizeFigures[]
  /** Up to 1,024 moments at equal distances. */
  readonly timeline: readonly HeapMoment[]
}
