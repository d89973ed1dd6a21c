import type { ApiName, KindName } from '../../event/fields.js'
import type { TimeUnit } from '../../event/header.js'

/*
 * The statistics of a trace. Counts are numbers, because no trace has 2^53 events. Bytes, times and other values from
 * 64-bit integers are exact, as BigInts. Statistics that do not apply to a trace are absent.
 */

/** A number of blocks and their bytes together (as requested). */
export interface Amount {
  blocks: number
  bytes: bigint
}

/** The values from `from` to `to`, both included: zero alone, or those of as many bits. */
export interface HistogramBar {
  from: bigint
  to: bigint
  count: number
}

/** Values by powers of two; bars without any are left out. */
export interface HistogramResult {
  count: number
  sum: bigint
  /** 0 where there is no value. */
  mean: number
  bars: HistogramBar[]
}

/** Temporary allocations, by two definitions: see docs/statistics.md. */
export interface Temporary<T> {
  /** The next call of the process freed the block. */
  heaptrack: T
  /** The thread that allocated the block freed it, with at most one other allocation of its own in between. */
  memray: T
}

/** What a site, a size or a thread has a part in. Over all rows of a table, each sums up to that of the whole trace. */
export interface Shares {
  /** Allocations and the bytes they asked for. */
  allocated: Amount
  /** What was live at the peak of live bytes. */
  atPeak: Amount
  /** Blocks that were live when their trace ended. */
  leaked: Amount
  temporary: Temporary<Amount>
}

/** The moment when more was live than ever before. */
export interface Peak extends Amount {
  /** The event that brought it about: its number in the stream, from 1. */
  event: number
  /** Bytes allocated from the beginning of the stream to that event, with it. */
  allocatedBytes: bigint
  /** The time of that event, in the header's unit. */
  time?: bigint
}

/** The figures of mpatrol's own statistics, as its trace reader counts them. */
export interface MpatrolStatistics {
  allocated: Amount
  freed: Amount
  /** Allocated less freed. */
  unfreed: Amount
  /** The most blocks that were live at a time, and the most bytes; not at the same moment. */
  peak: Amount
  /** Memory that the allocator took from the system for the program's blocks. */
  reserved: Amount
  /** Memory that the allocator took for itself. */
  internal: Amount
  /** The smallest size; a size of zero counts only until another one comes, as in mpatrol. */
  smallest: bigint
  largest: bigint
}

/** Where blocks come from: a place in the program, or what stands for the places that have no row of their own. */
export interface Site {
  /**
   * `others`: all places that came when the table was full. `none`: allocations that do not say where they were made.
   */
  rest?: 'others' | 'none'
  /** Innermost frame first. */
  stack?: string[]
  function?: string
  file?: string
  line?: number
  /** The program or library of the call site. */
  module?: string
  callSite?: bigint
}

/** How long blocks were live, added up. Those that were never freed lived until the end of their trace. */
export interface Lived {
  /** In events about blocks. */
  events: bigint
  /** In the unit of the (first) header; absent if no event has a time. */
  time?: bigint
}

/** What came from one site. */
export interface SiteStatistics extends Site, Shares {
  /** The most bytes from here that were live at a time, and in how many blocks; not necessarily at the peak. */
  ownPeak: Amount
  /** Blocks that another thread freed than the one that allocated them. */
  foreignFrees: number
  /** How long the blocks were live, added up. For this, a realloc ends a block, and another one begins. */
  lived: Lived
  /** Present if allocations say how many bytes they really took. */
  overhead?: Overhead
  /** Blocks freed on another CPU than the one that allocated them. */
  crossCpuFrees?: number
}

/** What allocations really took. */
export interface Overhead {
  /** Allocations that say so. */
  hits: number
  /** Bytes they asked for. */
  requested: bigint
  /** Bytes they got. */
  allocated: bigint
  /** The difference: internal fragmentation. */
  wasted: bigint
}

/** What became of the blocks of one size, in numbers of blocks: the bytes follow from the size. */
export interface SizeStatistics {
  size: bigint
  /** Allocations. */
  count: number
  /** Blocks that were live at the peak of live bytes. */
  atPeak: number
  leaked: number
  temporary: Temporary<number>
}

/** What one thread did, and what became of the blocks that it allocated or resized last. */
export interface ThreadStatistics extends Shares {
  /**
   * `others`: all threads that came when the table was full. `none`: events without a thread or a process, if any of
   * them allocated or freed a block.
   */
  rest?: 'others' | 'none'
  /** Absent where events have none; without a thread, the row is of all events of the process that have none. */
  process?: bigint
  thread?: bigint
  events: number
  /** Blocks that it freed, regardless of the thread that allocated them. */
  frees: number
  /** Of these, blocks that another thread allocated. */
  foreignFrees: number
}

/**
 * A part of the timeline: some events that follow each other. The level of live bytes is that after each of these
 * events, and the one before the first of them.
 */
export interface TimelinePart {
  /** The number of its last event, from 1. */
  event: number
  /** The time of its last event that has one, in the header's unit. */
  time?: bigint
  /** What is live after its last event. */
  live: Amount
  /** The lowest and the highest level of live bytes. */
  minBytes: bigint
  maxBytes: bigint
  /** The fewest and the most live blocks. */
  minBlocks: number
  maxBlocks: number
  /** What was allocated in it. */
  allocated: Amount
  /** How many blocks were freed in it. */
  frees: number
}

/** How many events have a value. */
export interface ValueCount {
  value: bigint
  events: number
}

/** Blocks that one family of functions allocated and another one freed. */
export interface Mismatch {
  allocatedBy: ApiFamily
  freedBy: ApiFamily
  count: number
}

/** Functions that belong together: what one of them allocates only its like may free. */
export const API_FAMILIES = ['malloc', 'new', 'kmalloc', 'kmem_cache', 'pages'] as const
/** See `API_FAMILIES`. */
export type ApiFamily = (typeof API_FAMILIES)[number]

/** What reallocs did. */
export interface ReallocCounts {
  /** The block stayed where it was. */
  inPlace: number
  moved: number
  /** The block was resized, but the events do not give both addresses. */
  resized: number
  /** Of the null pointer: an allocation. */
  allocated: number
  /** To nothing: a free. */
  freed: number
  /** No memory: the old block lives on. */
  failed: number
  /** Of the null pointer to nothing. */
  nothing: number
  /** Of a block that was not live. */
  unknown: number
}

/** What ought not to be, and frees of the null pointer. */
export interface FaultCounts {
  /** Frees of blocks that were not live, other than double frees. */
  unknownFrees: number
  /** Frees of blocks that were freed not long ago. */
  doubleFrees: number
  nullFrees: number
  /** Allocations at the address of a live block, whose free is missing: the block is taken to have ended. */
  overlaps: Amount
  /** Allocations without a result. */
  failedAllocations: number
}

/** When things happened. */
export interface TimeStatistics {
  unit?: TimeUnit
  /** The earliest and latest time of the (first) trace. */
  first: bigint
  last: bigint
  /** From the earliest to the latest, for all traces together. */
  span: bigint
  /** Per second; absent without a unit, or where no time passed. */
  rates?: { events: number; allocations: number; bytes: number }
}

/** Everything that one pass over a trace finds. */
export interface Statistics {
  /** The input was read to its end. */
  complete: boolean
  /** Events were left out of a trace with no regard to blocks (see `lacksEvents`): leaks may be false. */
  filtered: boolean
  /**
   * False only where the sum of memory that was reserved passes 2^85, as in a damaged trace it might: it is rounded
   * then.
   */
  exact: boolean
  /** How many traces there were in the stream; the figures are of all together. */
  traces: number
  /** The formats that the traces came from. */
  formats: string[]
  /** All events. */
  events: number
  /** Those that are about blocks: alloc, free, realloc, existing. */
  blockEvents: number
  kinds: Partial<Record<KindName, number>>
  apis: Partial<Record<ApiName, number>>
  /** A realloc that resized a block counts as an allocation and a free, as in mpatrol. */
  allocated: Amount
  freed: Amount
  /** Blocks that were live when their trace ended. */
  leaked: Amount
  peakBytes: Peak
  peakBlocks: Peak
  temporary: Temporary<Amount>
  reallocs: ReallocCounts
  faults: FaultCounts
  sizes: {
    smallest: bigint
    largest: bigint
    histogram: HistogramResult
    /** Every size with its figures, the most frequent first. */
    exact: SizeStatistics[]
    /** All sizes that came when the table was full. */
    others?: Shares
  }
  /** How long blocks lived that were freed. */
  lifetimes: {
    /** In events about blocks, from the one that allocated it to the one that freed it. */
    events: HistogramResult
    /** In bytes that any thread allocated in between. */
    bytes: HistogramResult
    /** In the header's unit. */
    time?: HistogramResult
  }
  time?: TimeStatistics
  /** The most bytes allocated first. */
  sites: SiteStatistics[]
  threads: ThreadStatistics[]
  processes: ValueCount[]
  cpus: ValueCount[]
  overhead?: Overhead
  /** Present if events have a CPU: blocks freed on another CPU than the one that allocated them. */
  crossCpuFrees?: number
  mismatches: Mismatch[]
  /** Present if frees say how much of the block was resident. */
  resident?: { blocks: number; present: bigint; size: bigint }
  mpatrol: MpatrolStatistics
  /** The tables that were full, so that what came later was counted as others. */
  full: ('sites' | 'sizes' | 'threads' | 'processes' | 'cpus')[]
  /** How live bytes went up and down, in parts of equally many events (the last one may have fewer), at most 2,000. */
  timeline: TimelinePart[]
}
