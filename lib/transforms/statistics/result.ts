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

/** The values from `from` to `to`, inclusive: zero alone, or all values with a number of bits. */
export interface HistogramBar {
  from: bigint
  to: bigint
  count: number
}

/** Values by powers of two, without empty bars. */
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
  /** The thread that allocated the block freed it, with at most one other allocation by that thread in between. */
  memray: T
}

/**
 * Figures of a site, a size or a thread. Added up over all rows of a table, each equals the figure of the whole trace.
 */
export interface Shares {
  /** Allocations and the bytes they asked for. */
  allocated: Amount
  /** What was live at the peak of live bytes. */
  atPeak: Amount
  /** Blocks that were live when their trace ended. */
  leaked: Amount
  temporary: Temporary<Amount>
}

/** Leaks that are not reported. */
export interface Suppressed extends Amount {
  /** The rules that hold for any leak, with what each suppresses. */
  rules: ({ name: string } & Amount)[]
}

/** The moment of the maximum of live bytes or blocks. */
export interface Peak extends Amount {
  /** The number of the event that reached it in the stream, from 1. */
  event: number
  /** Bytes allocated from the beginning of the stream to that event, inclusive. */
  allocatedBytes: bigint
  /** The time of that event, in the header's unit; absent where that is not the unit of the first trace. */
  time?: bigint
}

/**
 * The resident set of all processes at an event, with the live bytes at that moment. For each process, it has the value
 * of the last event until then, unless the process or its trace has ended.
 */
export interface ResidentMoment {
  bytes: bigint
  /** Live bytes then. The rest is memory that the allocator keeps, and memory from elsewhere: code, stacks, files. */
  live: bigint
  /** The number of the event in the stream, from 1. */
  event: number
  /** Its time, in the header's unit. */
  time?: bigint
}

/** The resident set of all processes over time. */
export interface ResidentSet {
  /** The number of events with the resident set of their process. */
  events: number
  /** The first event at which it was largest. */
  most: ResidentMoment
  /** The first of these events after the peak of live bytes was reached; absent if none came in its trace. */
  atPeak?: ResidentMoment
  last: ResidentMoment
}

/** The figures of mpatrol's own statistics, as its trace reader counts them. */
export interface MpatrolStatistics {
  allocated: Amount
  freed: Amount
  /** Allocated minus freed. */
  unfreed: Amount
  /** The maxima of live blocks and of live bytes, not necessarily at the same moment. */
  peak: Amount
  /** Memory that the allocator reserved for the program's blocks. */
  reserved: Amount
  /** Memory that the allocator reserved for itself. */
  internal: Amount
  /** The smallest size; a size of zero counts only until another size occurs, as in mpatrol. */
  smallest: bigint
  largest: bigint
}

/** The origin of blocks: a place in the program, or the group of all places without their own row. */
export interface Site {
  /** `others`: all places that occurred when the table was full. `none`: allocations without a place. */
  rest?: 'others' | 'none'
  /**
   * Innermost frame first. Made from the tree of all stacks each time that it is read: a program may have many deep
   * stacks. A spread (`{ ...site }`) keeps it.
   */
  stack?: string[]
  function?: string
  file?: string
  line?: number
  /** The program or library of the call site, or of the call if no more is known. */
  module?: string
  callSite?: bigint
}

/** The sum of the blocks' lifetimes. The lifetime of a block that was not freed ends with its trace. */
export interface Lived {
  /** In events about blocks. */
  events: bigint
  /**
   * In the unit of the (first) header; absent if no event has a time. It is the sum of all blocks unless
   * `TimeStatistics.partial` is there.
   */
  time?: bigint
}

/** A thread, or all threads without a row, or the events without a thread. */
export interface Thread {
  /**
   * `others`: all threads that occurred when the table was full. `none`: events without a thread or a process.
   */
  rest?: 'others' | 'none'
  /** Absent if events have none. A row without a thread has all events of the process that have no thread. */
  process?: bigint
  thread?: bigint
  /** What it was last called, if the trace says so: recordings by hf-record do. */
  name?: string
}

/** Blocks that one thread freed and another one allocated. */
export interface Handoff extends Thread, Amount {}

/** The allocations of a thread at a site. */
export interface SiteThread extends Thread, Shares {
  /** Its blocks that other threads freed, by thread, the most bytes first; absent if there are none. */
  freedBy?: Handoff[]
}

/** The figures of a site. */
export interface SiteStatistics extends Site, Shares {
  /** The maximum of live bytes from this place, and the number of blocks at that time; not necessarily at the peak. */
  ownPeak: Amount
  /** Blocks that were freed by another thread than the one that allocated them. */
  foreignFrees: number
  /**
   * The same by thread, the most bytes first. Absent if all blocks of the trace were allocated and freed by one thread.
   * At most 65,536 sites and threads have figures; `full` then names `siteThreads`, or `handoffs` if there are more
   * pairs of threads.
   */
  threads?: SiteThread[]
  /** The sum of the blocks' lifetimes, for which a realloc ends a block and begins another one. */
  lived: Lived
  /** For a function or a module, to which sites were added up: the figures of all sites with it on their stacks. */
  inclusive?: Shares
  /** Present if allocations have the number of bytes actually allocated. */
  overhead?: Overhead
  /** Blocks freed on another CPU than the one that allocated them. */
  crossCpuFrees?: number
}

/** The bytes actually allocated. */
export interface Overhead {
  /** Allocations with that number. */
  hits: number
  /** Bytes they asked for. */
  requested: bigint
  /** Bytes they got. */
  allocated: bigint
  /** The difference: internal fragmentation. */
  wasted: bigint
}

/** The fates of the blocks of one size, in numbers of blocks; the bytes follow from the size. */
export interface SizeStatistics {
  size: bigint
  /** Allocations. */
  count: number
  /** Blocks that were live at the peak of live bytes. */
  atPeak: number
  leaked: number
  temporary: Temporary<number>
}

/** The actions of one thread, and the fates of the blocks that it last allocated or resized. */
export interface ThreadStatistics extends Thread, Shares {
  events: number
  /** Blocks that it freed, regardless of the thread that allocated them. */
  frees: number
  /** Of these, blocks that another thread allocated. */
  foreignFrees: number
}

/**
 * A part of the timeline: some consecutive events. It has the levels of live bytes before the first of these events,
 * and after each of them.
 */
export interface TimelinePart {
  /** The number of its last event, from 1. */
  event: number
  /** The time of its last event that has one, in the header's unit. */
  time?: bigint
  /** The live set after its last event. */
  live: Amount
  /** The lowest and the highest level of live bytes. */
  minBytes: bigint
  maxBytes: bigint
  /** The fewest and the most live blocks. */
  minBlocks: number
  maxBlocks: number
  /**
   * The maximum number of resident bytes of all processes, as far as known after these events or before the first;
   * absent where none are.
   */
  resident?: bigint
  /** What was allocated in it. */
  allocated: Amount
  /** The number of blocks freed in it. */
  frees: number
}

/** The number of events with a value. */
export interface ValueCount {
  value: bigint
  events: number
}

/** The figures of a process: those of its threads, absent if some threads were counted as others. */
export interface ProcessStatistics extends ValueCount, Partial<Shares> {
  /** In a recording, if known: what it runs, without the program's folder, in at most 120 characters. */
  command?: string
}

/** Blocks that one family of functions allocated and another one freed. */
export interface Mismatch {
  allocatedBy: ApiFamily
  freedBy: ApiFamily
  count: number
}

/** A family of functions: only functions of the same family may free what one of them allocates. */
export type ApiFamily = 'malloc' | 'new' | 'kmalloc' | 'kmem_cache' | 'pages'

/** The outcomes of reallocs. */
export interface ReallocCounts {
  /** The block stayed in place. */
  inPlace: number
  moved: number
  /** The block was resized, but the events do not give both addresses. */
  resized: number
  /** Of the null pointer: an allocation. */
  allocated: number
  /** To zero bytes: a free. */
  freed: number
  /** Memory was exhausted; the old block remains live. */
  failed: number
  /** Of the null pointer to zero bytes. */
  nothing: number
  /** The block was not live. */
  unknown: number
}

/** Faults of the trace, and frees of the null pointer. */
export interface FaultCounts {
  /** Frees of blocks that were not live, other than double frees. */
  unknownFrees: number
  /** Frees of blocks that were freed not long ago. */
  doubleFrees: number
  nullFrees: number
  /** Allocations at the address of a live block, whose free is missing; that block counts as ended. */
  overlaps: Amount
  /** Allocations without a result. */
  failedAllocations: number
}

/** The times of the events. */
export interface TimeStatistics {
  unit?: TimeUnit
  /** The earliest and latest time of the (first) trace. */
  first: bigint
  last: bigint
  /** From the earliest to the latest, for all traces together. */
  span: bigint
  /**
   * Present if blocks were allocated in traces without times, or with times in another unit: the lifetimes in time
   * (`Lived.time`) then lack these blocks.
   */
  partial?: true
  /** Per second, of the traces whose times are in the span; absent without a unit, or where no time passed. */
  rates?: { events: number; allocations: number; bytes: number }
}

/** The results of one pass over a trace. */
export interface Statistics {
  /** The input was read to its end. */
  complete: boolean
  /** Events were removed from a trace regardless of blocks (see `lacksEvents`), so leaks may be false. */
  filtered: boolean
  /** Present if a recording ended while its program ran on: blocks that were live then may have been freed later. */
  endsEarly?: boolean
  /**
   * The number of events with a weight other than 1, if there are any. Each was sampled, and stands for that number of
   * events. All other figures count each event once, because samples do not show what was live or at the peak.
   */
  weighted?: number
  /**
   * Whether each event names its block. An interpreted heaptrack file only gives the size and the stack of a freed
   * block, which many blocks share. Then temporary blocks and lifetimes are unknown. The figures `temporary`,
   * `lifetimes` and `lived` take the block that was allocated last, and must not be shown.
   */
  identified: boolean
  /**
   * False only if the sum of reserved memory exceeds 2^85 and is rounded, which is possible only in a damaged trace.
   */
  exact: boolean
  /** The number of traces in the stream; the figures are for all of them together. */
  traces: number
  /** The formats that the traces came from. */
  formats: string[]
  /** All events. */
  events: number
  /** Events about blocks: alloc, free, realloc, existing. */
  blockEvents: number
  kinds: Partial<Record<KindName, number>>
  /**
   * The number of events that the recorder lost, as far as `lost` events say it; above 2^53, the nearest number. Absent
   * without such events.
   */
  lostEvents?: number
  apis: Partial<Record<ApiName, number>>
  /** A realloc that resized a block counts as an allocation and a free, as in mpatrol. */
  allocated: Amount
  freed: Amount
  /** Blocks that were live when their trace ended. */
  leaked: Amount
  /** The leaks that `leaked` excludes because they were suppressed; present if there are rules. */
  suppressed?: Suppressed
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
    /** All sizes that occurred when the table was full. */
    others?: Shares
  }
  /** The lifetimes of freed blocks. */
  lifetimes: {
    /** In events about blocks, from the one that allocated it to the one that freed it. */
    events: HistogramResult
    /** In bytes that any thread allocated in between. */
    bytes: HistogramResult
    /** In the header's unit. */
    time?: HistogramResult
  }
  time?: TimeStatistics
  /** The sites, those with the most allocated bytes first. */
  sites: SiteStatistics[]
  threads: ThreadStatistics[]
  processes: ProcessStatistics[]
  cpus: ValueCount[]
  overhead?: Overhead
  /** Present if events have a CPU: blocks freed on another CPU than the one that allocated them. */
  crossCpuFrees?: number
  mismatches: Mismatch[]
  /** Present if frees have the resident size of the block. */
  resident?: { blocks: number; present: bigint; size: bigint }
  /** Present if events have the resident set of their process. */
  residentSet?: ResidentSet
  mpatrol: MpatrolStatistics
  /** The tables that were full, so that further keys were counted as others. */
  full: ('sites' | 'sizes' | 'threads' | 'processes' | 'cpus' | 'siteThreads' | 'handoffs')[]
  /** Live bytes over time, in at most 2,000 parts with the same number of events (the last one may have fewer). */
  timeline: TimelinePart[]
}
