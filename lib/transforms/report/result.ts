import type { Frame } from '../profile/profile.js'
import type { Statistics } from '../statistics/result.js'

/*
 * The data of a report: plain JSON, in columns of equal length rather than an object for each row. Rows refer to each
 * other by index. Figures have the names and the meaning that they have in the statistics.
 */

/** An integer: a number where a double holds it exactly, otherwise decimal digits. */
export type Integer = number | string

/** A value as JSON, with its integers as `Integer`. */
export type Plain<T> = T extends bigint
  ? Integer
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [Key in keyof T]: Plain<T[Key]> }
      : T

/**
 * A stack: indices into `ReportData.frames`, the innermost frame first. Of a deep stack, only the innermost frames are
 * there, and then -1.
 */
export type StackFrames = number[]

/** Pairs of a cell and a count, one after the other; cells without a count are left out. See `heatCell`. */
export type HeatCells = number[]

/** How many rows and columns the heat map has: one for each number of bits, from 0 to 64. */
export const HEAT_SIDE = 65

/**
 * The cell of the heat map for blocks of a size and a lifetime, which are given as the numbers of their bits: 0 for
 * zero, n for the values from `2^(n-1)` to `2^n - 1`.
 */
export function heatCell(sizeBits: number, lifetimeBits: number): number {
  return sizeBits * HEAT_SIDE + lifetimeBits
}

/** Moments of the trace, in order. */
export interface Moments {
  /** The number of the last event of each, from 1. */
  event: number[]
  /**
   * The time since `summary.time.first`, in the unit of the header; null where it is not known. Absent if events have
   * no time. Below zero only where time runs backwards, or another trace follows.
   */
  time?: (Integer | null)[]
}

/** The statistics without their tables: names and figures are those of `hf-stats --json`. */
export type ReportSummary = Plain<
  Omit<Statistics, 'sites' | 'threads' | 'processes' | 'cpus' | 'timeline' | 'sizes'> & {
    sizes: Omit<Statistics['sizes'], 'exact' | 'others'>
  }
> & {
  /** How many stacks, threads, processes and CPUs there are. 0 where events do not have any. */
  siteCount: number
  threadCount: number
  processCount: number
  cpuCount: number
}

/** How live bytes and blocks went up and down, in at most 2,000 parts of equally many events. */
export interface ReportTimeline extends Moments {
  /** What is live after the last event of each part. */
  liveBytes: Integer[]
  liveBlocks: number[]
  /** The lowest and the highest level in each part. */
  minBytes: Integer[]
  maxBytes: Integer[]
  minBlocks: number[]
  maxBlocks: number[]
  /** What was allocated in it, and how many blocks were freed. */
  allocations: number[]
  allocatedBytes: Integer[]
  frees: number[]
}

/** The figures of which the nodes of the tree have a value each. */
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
 * The stacks as a tree. Node 0 is the root. What small nodes had is in nodes whose frame is called `(other)`, so the
 * sum of each column is the figure of the whole trace.
 */
export interface ReportTree extends Record<TreeMetric, Integer[]> {
  /** The parent of each node, which has a lower number: the caller. -1 for the root. */
  parents: number[]
  /** The frame of each node, an index into `frames`; -1 for the root. */
  frames: number[]
}

/**
 * The stacks that have most of any figure, at most 1,000 rows, the most bytes allocated first. If there are more, the
 * last row is of all others together, so that each column sums up to the figure of the whole trace. (Not `ownPeak`.)
 */
export interface ReportSites {
  /** The node of the tree that is the stack, or the nearest of its callers that the tree has. */
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
  /** The most bytes that were live at a time, and in how many blocks. The row of all others has 0. */
  ownPeakBlocks: number[]
  ownPeakBytes: Integer[]
  /** By heaptrack's definition. */
  temporaryBlocks: number[]
  temporaryBytes: Integer[]
  /** By memray's definition. */
  memrayBlocks: number[]
  memrayBytes: Integer[]
  /** Blocks that another thread freed. */
  foreignFrees: number[]
  /** How long blocks were live on average, in events about blocks; and in the unit of time, if events have times. */
  meanEvents: number[]
  meanTime?: number[]
  /** Absent unless allocations say what they took: the difference to what they asked for. */
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

/** Slices of the run of equally many events (the last one may have fewer), at most 32, and what of each is left. */
export interface ReportGenerations extends Moments {
  /** What was allocated or resized in the slice. */
  allocatedBytes: Integer[]
  allocatedBlocks: number[]
  /** What of this was live at the end of its trace. */
  endBytes: Integer[]
  endBlocks: number[]
  /** The same for each of the sites that have most live at the end: rows of `sites`, with one figure for each slice. */
  sites: { site: number[]; endBytes: Integer[][]; endBlocks: number[][] }
}

/** The ten sites that have most at the peak, over time, at no more than 512 moments. */
export interface ReportPeakSites extends Moments {
  /** Rows of `sites`. */
  site: number[]
  /** Live bytes of each of them, to 7 digits. */
  bytes: number[][]
  /** Live bytes of all other sites. */
  rest: number[]
}

/** A histogram: values from `from` to `to`, both included; null where there is no upper end. */
export interface ReportBars {
  from: number[]
  to: (number | null)[]
  count: number[]
}

/** What comes and goes. */
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
  /** Blocks by how many times they were resized, at least once; those that are live at the end too. */
  chains: ReportBars
  /** Reallocs that resized a block: those after which it was larger, smaller, as large, and at another address. */
  grown: number
  shrunk: number
  same: number
  moved: number
  /** By how many bytes blocks grew and shrank in all. */
  grownBytes: Integer
  shrunkBytes: Integer
}

/** The 32 threads with most events; if there are more, the last row is of all others together. */
export interface ReportThreads {
  /** What the row is, as in `process 3, thread 5`; an empty string for the row of all others. */
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
   * Blocks that the thread of row `from` allocated and that of row `to` freed. The counts sum up to all frees; those
   * where the two differ, together with `othersForeign` of the row of all others, to all foreign frees.
   */
  matrix: { from: number[]; to: number[]; blocks: number[]; bytes: Integer[] }
  /** Blocks of threads in the row of all others that another thread in that row freed. */
  othersForeign: number
}

/** Addresses from `from` on, and below `to`, that rows of the map are of, with no large gap between them. */
export interface AddressRange {
  name: string
  /** Hexadecimal digits after `0x`. */
  from: string
  to: string
  process?: Integer
  /** The rows of the map: their number, and the first of them. */
  row: number
  rows: number
}

/** How addresses are used. */
export interface ReportAddresses {
  /** Live bytes by address and time. */
  map: Moments & {
    /** How many bytes each row is of. */
    rowBytes: Integer
    /** In order of addresses. */
    ranges: AddressRange[]
    /** How much of each row is live at each moment, in thousandths: `cells[row][moment]`. At most 256 rows and 512. */
    cells: number[][]
  }
  pageBytes: number
  /**
   * Pages that have a live byte, by how many bytes of them are live: over `from`, and up to `to`. At the peak of live
   * bytes, and at the end.
   */
  pages: { from: number[]; to: number[]; atPeak: number[]; atEnd: number[] }
  /** Live bytes, and pages that have a live byte, over time. */
  use: Moments & { liveBytes: Integer[]; pages: number[] }
  /**
   * Sites whose blocks keep pages alive at the end of which at most a quarter is live: rows of `sites`; how many such
   * pages, as shares where several blocks keep a page; and the bytes of them that are not live.
   */
  sparse: { site: number[]; pages: number[]; bytes: number[] }
}

/**
 * Kinds of problems, in the order of the codes of kernel/report/observe.ts, as in `summary.faults` and `summary.reallocs`; and allocations of no bytes. A failed allocation
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

/** What ought not to be. */
export interface ReportProblems {
  /** All of each kind. */
  counts: Record<ProblemKind, number>
  /** The first 1,000. */
  kind: ProblemKind[]
  event: number[]
  /** Hexadecimal, with `0x`. */
  address: (string | null)[]
  size: (Integer | null)[]
  /** Where it happened; empty if the event does not say. */
  stack: StackFrames[]
}

/** Figures that are compared, of the old run and of the new one. */
export const COMPARED = [
  'allocatedBlocks',
  'allocatedBytes',
  'peakBlocks',
  'peakBytes',
  'endBlocks',
  'endBytes',
  'temporaryBlocks',
  'temporaryBytes',
] as const
/** See `COMPARED`. */
export type ComparedName = (typeof COMPARED)[number]

/** What differs from another run. */
export interface ReportComparison {
  /** The name of the other trace. */
  old: string
  totals: { old: Record<ComparedName, Integer>; new: Record<ComparedName, Integer> }
  /** How many stacks differ, listed or not. */
  differing: number
  /**
   * The stacks that differ, those with the largest differences, at most 1,000. If there are more, the last row is of
   * all others together, with an empty stack.
   */
  stack: StackFrames[]
  before: Record<ComparedName, Integer[]>
  after: Record<ComparedName, Integer[]>
}

/** Everything that a report shows. */
export interface ReportData {
  version: 1
  /** The name of the trace. */
  name: string
  /** The program and its version. */
  generator: string
  /** What readers must know, in sentences: that the trace is truncated, for example. */
  notes: string[]
  /** What was left out of the report, and how much, in sentences. */
  omitted: string[]
  summary: ReportSummary
  timeline: ReportTimeline
  frames: Frame[]
  tree: ReportTree
  sites: ReportSites
  generations: ReportGenerations
  peakSites: ReportPeakSites
  churn: ReportChurn
  threads: ReportThreads
  /** Absent if events have no addresses. */
  addresses?: ReportAddresses
  problems: ReportProblems
  /** Present if the trace was compared with another one. */
  comparison?: ReportComparison
}
