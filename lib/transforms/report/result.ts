import { HEAT_SIDE } from '../../kernel/layouts/report.js'
import type { Frame } from '../profile/profile.js'
import type { Statistics } from '../statistics/result.js'
import type { ReplayResult } from '../drive/comparison.js'
import type { ReportComparison } from './compared.js'
import type { Integer, Moments, Plain } from './values.js'

/*
 * The data of a report: plain JSON, in columns of equal length rather than an object for each row. Rows refer to each
 * other by index. Figures have the names and the meaning that they have in the statistics.
 */

/**
 * A stack: indices into `ReportData.frames`, the innermost frame first. A deep stack has only its innermost frames,
 * followed by -1.
 */
export type StackFrames = number[]

/** Pairs of a cell and its count, one after the other; empty cells are omitted. See `heatCell`. */
export type HeatCells = number[]

export { HEAT_SIDE }
export type { Integer, Moments, Plain } from './values.js'
export { COMPARED, type ComparedName, type ReportChanges, type ReportComparison } from './compared.js'

/**
 * The cell of the heat map for blocks with this size and lifetime, each given by its number of bits: 0 for zero, n for
 * the values from `2^(n-1)` to `2^n - 1`.
 */
export function heatCell(sizeBits: number, lifetimeBits: number): number {
  return sizeBits * HEAT_SIDE + lifetimeBits
}

/** The statistics without their tables, with the names and figures of `hf-stats --json`. */
export type ReportSummary = Plain<
  Omit<Statistics, 'sites' | 'threads' | 'processes' | 'cpus' | 'timeline' | 'sizes'> & {
    sizes: Omit<Statistics['sizes'], 'exact' | 'others'>
  }
> & {
  /** The time of the peak of live bytes since the beginning, as of moments; absent if it is not known. */
  peakTime?: Integer
  /** The numbers of stacks, threads, processes and CPUs; 0 if events have none. */
  siteCount: number
  threadCount: number
  processCount: number
  cpuCount: number
}

/** Live bytes and blocks over time, in at most 2,000 parts with the same number of events. */
export interface ReportTimeline extends Moments {
  /** The live bytes and blocks after the last event of each part. */
  liveBytes: Integer[]
  liveBlocks: number[]
  /** The lowest and the highest level in each part. */
  minBytes: Integer[]
  maxBytes: Integer[]
  minBlocks: number[]
  maxBlocks: number[]
  /** The allocations in each part, and the number of blocks freed. */
  allocations: number[]
  allocatedBytes: Integer[]
  frees: number[]
  /**
   * The maximum number of resident bytes of all processes in each part, null where none are known; absent if no event
   * has any.
   */
  resident?: (Integer | null)[]
}

/** The data of a trace about its recording. */
export interface ReportOrigin {
  /** The command line, and the path of the program. */
  command?: string
  program?: string
  /** The recorder and its version. */
  recorder?: string
  /** The bytes of memory of the machine, in decimal digits. */
  memory?: string
}

/** Places that the trace names: its comments, and where the recorder lost events. The first 50. */
export interface ReportMarks extends Moments {
  title: string[]
}

/** The figures that each node of the tree has. */
export const TREE_METRICS = [
  'allocatedBytes',
  'allocatedBlocks',
  'peakBytes',
  'peakBlocks',
  'endBytes',
  'endBlocks',
  'temporaryBlocks',
  'foreignFrees',
] as const
/** See `TREE_METRICS`. */
export type TreeMetric = (typeof TREE_METRICS)[number]

/**
 * The stacks as a tree. Node 0 is the root. Small nodes are combined in nodes whose frame is called `(other)`, so the
 * sum of each column is the figure of the whole trace.
 */
export interface ReportTree extends Record<TreeMetric, Integer[]> {
  /** The parent of each node, which has a lower number: the caller. -1 for the root. */
  parents: number[]
  /** The frame of each node, an index into `frames`; -1 for the root. */
  frames: number[]
}

/**
 * The stacks with the largest values of any figure, at most 1,000 rows, by bytes allocated. If there are more, the last
 * row combines all others, so that the sum of each column except `ownPeak` is the figure of the whole trace.
 */
export interface ReportSites {
  /** The stack's node in the tree, or the nearest of its callers in the tree. */
  node: number[]
  /** The stack; empty for the row of all others. */
  stack: StackFrames[]
  allocatedBlocks: number[]
  allocatedBytes: Integer[]
  /** Live at the peak of live bytes. */
  peakBlocks: number[]
  peakBytes: Integer[]
  /** Live at the end (leaked). */
  endBlocks: number[]
  endBytes: Integer[]
  /** The maximum of live bytes, and the number of blocks at that time. The row of all others has 0. */
  ownPeakBlocks: number[]
  ownPeakBytes: Integer[]
  /** By heaptrack's definition. */
  temporaryBlocks: number[]
  temporaryBytes: Integer[]
  /** By memray's definition. */
  memrayBlocks: number[]
  memrayBytes: Integer[]
  /** Also live at the end, but excluded from `endBlocks` and `endBytes` by rules; absent without rules. */
  suppressedBlocks?: number[]
  suppressedBytes?: Integer[]
  /** Blocks freed by another thread. */
  foreignFrees: number[]
  /**
   * The average lifetime of blocks, in events about blocks and, if all traces with blocks have times, in the unit of
   * time.
   */
  meanEvents: number[]
  meanTime?: number[]
  /** The difference between allocated and requested bytes; absent unless allocations have the former. */
  wastedBytes?: Integer[]
  /** Reallocs that resized a block of the site; blocks that then grew, shrank, and have another address. */
  reallocs: number[]
  grown: number[]
  shrunk: number[]
  moved: number[]
  /** Live bytes at each of `sparkMoments`, to 7 digits. */
  spark: number[][]
  /** At most 32. */
  sparkMoments: Moments
  /** Blocks that were freed, by size and lifetime. See `ReportChurn.heat`. */
  heatCells: HeatCells[]
}

/**
 * Slices of the run with the same number of events (the last one may have fewer), at most 32, and the part of each that
 * remains live.
 */
export interface ReportGenerations extends Moments {
  /** Blocks allocated or resized in the slice. */
  allocatedBytes: Integer[]
  allocatedBlocks: number[]
  /** The number of these blocks that were live at the end of their trace. */
  endBytes: Integer[]
  endBlocks: number[]
  /**
   * The same for each of the sites with the most live bytes at the end: rows of `sites`, with one figure for each
   * slice.
   */
  sites: { site: number[]; endBytes: Integer[][]; endBlocks: number[][] }
}

/** The ten sites with the most live bytes at the peak, over time, at no more than 512 moments. */
export interface ReportPeakSites extends Moments {
  /** Rows of `sites`. */
  site: number[]
  /** Live bytes of each of them, to 7 digits. */
  bytes: number[][]
  /** Live bytes of all other sites. */
  rest: number[]
}

/** A histogram of values from `from` to `to`, inclusive; null if there is no upper end. */
export interface ReportBars {
  from: number[]
  to: (number | null)[]
  count: number[]
}

/** Blocks by size, by lifetime and by reallocs. */
export interface ReportChurn {
  /**
   * Blocks that were freed, by size and by lifetime in events about blocks, from the first allocation of the block on.
   * The sums by lifetime are `summary.lifetimes.events`.
   */
  heat: HeatCells
  /** The most frequent sizes, at most 200. If there are more, `others` has the rest. */
  sizes: {
    size: Integer[]
    count: number[]
    peakBlocks: number[]
    endBlocks: number[]
    temporaryBlocks: number[]
    others?: { sizes: number; count: number; bytes: Integer }
  }
  /** Blocks by the number of times they were resized, at least once, including blocks that are live at the end. */
  chains: ReportBars
  /** Reallocs that resized a block: the numbers that enlarged it, shrank it, kept its size, and moved it. */
  grown: number
  shrunk: number
  same: number
  moved: number
  /** The total number of bytes by which blocks grew and shrank. */
  grownBytes: Integer
  shrunkBytes: Integer
}

/** The 32 threads with the most events; if there are more, the last row combines all others. */
export interface ReportThreads {
  /** The name of the row, such as `process 3, thread 5`; an empty string for the row of all others. */
  name: string[]
  process: (Integer | null)[]
  thread: (Integer | null)[]
  events: number[]
  allocatedBlocks: number[]
  allocatedBytes: Integer[]
  peakBlocks: number[]
  peakBytes: Integer[]
  endBlocks: number[]
  endBytes: Integer[]
  frees: number[]
  foreignFrees: number[]
  /**
   * Blocks allocated by the thread of row `from` and freed by the thread of row `to`. The sum of the counts is the
   * number of all frees; the sum of those with different rows, plus `othersForeign` of the row of all others, is the
   * number of all foreign frees.
   */
  matrix: { from: number[]; to: number[]; blocks: number[]; bytes: Integer[] }
  /** Blocks of threads in the row of all others freed by other threads in that row. */
  othersForeign: number
  /**
   * What each thread allocated at each site, the most bytes first, at most 1,000 rows: rows of `sites` and of threads.
   * Absent, as `handoffs`, if one thread allocated and freed all blocks.
   */
  sites?: {
    site: number[]
    thread: number[]
    allocatedBlocks: number[]
    allocatedBytes: Integer[]
    peakBlocks: number[]
    peakBytes: Integer[]
    endBlocks: number[]
    endBytes: Integer[]
  }
  /**
   * Blocks of a site that were freed by another thread than the allocating one, the most bytes first, at most 1,000
   * rows: rows of `sites`, and of the threads that allocated and freed them.
   */
  handoffs?: { site: number[]; from: number[]; to: number[]; blocks: number[]; bytes: Integer[] }
}

/** Addresses from `from` to below `to` in consecutive rows of the map, without large gaps. */
export interface AddressRange {
  name: string
  /** Whose addresses they are, such as `process 5, gcc -c a.c`; empty if the trace does not say. */
  owner: string
  /** Hexadecimal digits after `0x`. */
  from: string
  to: string
  process?: Integer
  /** The number of rows of the map, and the first row. */
  row: number
  rows: number
}

/** How addresses are used. */
export interface ReportAddresses {
  /** Live bytes by address and time. */
  map: Moments & {
    /** The number of bytes in each row. */
    rowBytes: Integer
    /** In order of addresses. */
    ranges: AddressRange[]
    /**
     * The live share of each row at each moment, in thousandths: `cells[row][moment]`. At most 256 rows and 512
     * moments.
     */
    cells: number[][]
    /** The number of address spaces without rows, because they never had 1 % of the largest one's live bytes. */
    small: number
  }
  pageBytes: number
  /** The maximum number of pages with live bytes after any event; those of the moments in `use` can all be fewer. */
  mostPages: number
  /**
   * Pages with live bytes, by the number of their live bytes, above `from` and up to `to`: at the peak of live bytes,
   * and at the end.
   */
  pages: { from: number[]; to: number[]; atPeak: number[]; atEnd: number[] }
  /** Live bytes, and pages with live bytes, over time. */
  use: Moments & { liveBytes: Integer[]; pages: number[] }
  /**
   * Sites whose blocks, at the end, keep pages of which at most a quarter is live: rows of `sites`; the number of such
   * pages, with shares if several blocks keep a page; and the bytes of these pages that are not live.
   */
  sparse: { site: number[]; pages: number[]; bytes: number[] }
}

/**
 * Kinds of problems, as in `summary.faults` and `summary.reallocs`; and allocations of zero bytes. A failed allocation
 * can be a realloc.
 */
export const PROBLEM_KINDS = [
  'unknownFree',
  'doubleFree',
  'overlap',
  'failedAllocation',
  'zeroSize',
  'unknownRealloc',
] as const
/** See `PROBLEM_KINDS`. */
export type ProblemKind = (typeof PROBLEM_KINDS)[number]

/** Anomalies of the trace. */
export interface ReportProblems {
  /** The total number of each kind. */
  counts: Record<ProblemKind, number>
  /** The first 1,000. */
  kind: ProblemKind[]
  event: number[]
  /** Hexadecimal, with `0x`. */
  address: (string | null)[]
  size: (Integer | null)[]
  /** The place; empty if the event has none. */
  stack: StackFrames[]
}

/** Rules that exclude known leaks from a report. */
export interface ReportSuppression {
  /** The rules as in files: one after the other, each on separate lines. */
  rules: string
  /** The flags of hf-stats that name these rules; absent if there are none. */
  flags?: string[]
}

/** Everything that a report shows. */
export interface ReportData {
  version: 1
  /** The name of the trace. */
  name: string
  /** Whether the trace is a complete file with this name, so that commands can read it again. */
  isFile: boolean
  /** Frames have names that the file does not have: commands get them from hf-symbolize. */
  isSymbolized?: true
  /** The program and its version. */
  generator: string
  /** Which of `function`, `file`, `module`, `type` and `stack` any event has. */
  fields: string[]
  /** The view that is shown first; the overview if absent. */
  view?: 'comparison'
  /** Present if the trace is available and rules exclude leaks, so that they can be applied to a part of it. */
  suppression?: ReportSuppression
  /** Notes for readers, as sentences, for example that the trace is truncated. */
  notes: string[]
  /** What was omitted from the report, with amounts, as sentences. */
  omitted: string[]
  summary: ReportSummary
  timeline: ReportTimeline
  /** Absent if the trace says nothing of its recording. */
  origin?: ReportOrigin
  /** Absent if there are none. */
  marks?: ReportMarks
  frames: Frame[]
  tree: ReportTree
  sites: ReportSites
  generations: ReportGenerations
  peakSites: ReportPeakSites
  churn: ReportChurn
  threads: ReportThreads
  /** Absent if no block has an address of the program. */
  addresses?: ReportAddresses
  /**
   * The reason why `addresses` is absent: events have no addresses, or only addresses that the decoder of interpreted
   * heaptrack files invents.
   */
  noAddresses?: 'none' | 'invented'
  problems: ReportProblems
  /** Present if the trace was compared with another one. */
  comparison?: ReportComparison
  /** Present if real allocators made the calls of the trace. */
  replay?: ReplayResult
}
