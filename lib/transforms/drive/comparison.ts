import type { PreparedReplay } from './result.js'

/** Values of several runs. */
export interface Spread {
  readonly median: number
  /** The first and the third quartile. */
  readonly low: number
  readonly high: number
}

/** A moment of a run. */
export interface ResidentMoment {
  /** The calls of all threads so far. */
  readonly calls: number
  /** Nanoseconds from the beginning of the run. */
  readonly time: number
  readonly resident: number
}

/** The figures of one allocator: times in ns, memory in bytes, of the allocator alone. */
export interface AllocatorFigures {
  readonly name: string
  readonly library: string | null
  /** Of all calls together, without the share of the driver. */
  readonly time: Spread
  /** Wall time of the run, with the driver's share. */
  readonly wall: Spread
  /** The resident set at its peak, and at the end. */
  readonly peak: Spread
  readonly final: Spread
  readonly pageFaults: Spread
  /**
   * The median of the peaks over the most live bytes, less 1: fragmentation by the fourth definition of Johnstone and
   * Wilson (1998). Null if blocks are not written to as a whole, or have no bytes.
   */
  readonly fragmentation: number | null
  /**
   * 1 and the number of allocators that are certainly better: the quartiles do not overlap. Null: calls failed, so it
   * is not compared.
   */
  readonly timeRank: number | null
  readonly peakRank: number | null
  /** Of sampled calls: the time that this percentage of them does not exceed. Null: there were no samples. */
  readonly percentiles: Readonly<Record<'50' | '90' | '99' | '99.9' | '100', number>> | null
  readonly moments: readonly ResidentMoment[]
  /** Calls that got no memory. */
  readonly failed: number
}

/** The results of replaying a trace with several allocators. */
export interface ReplayComparison {
  readonly trace: PreparedReplay
  readonly options: { readonly order: string; readonly touch: string; readonly paced: boolean; readonly runs: number }
  /** The processor time of the driver itself, in ns for all calls: it is subtracted. */
  readonly driver: Spread
  readonly allocators: readonly AllocatorFigures[]
}

/** What a report has of a comparison. */
export interface ReplayResult extends Omit<ReplayComparison, 'trace'> {
  readonly trace: Pick<PreparedReplay, 'events' | 'calls' | 'threads' | 'peak'>
  /** The result in sentences. */
  readonly verdict: readonly string[]
}

/** The number of calls that a trace has. */
export function callsOf({ calls }: Pick<PreparedReplay, 'calls'>): number {
  return Object.values(calls).reduce((sum, n) => sum + n, 0)
}
