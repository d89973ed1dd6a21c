import type { LiveSites, LogMoment } from '../../lib/transforms/report/live-log.js'
import type { ReportData } from '../../lib/transforms/report/result.js'
import type { EventNumbers } from './event-numbers.js'

/**
 * A flag of hf-filter, and its value if it has one; besides these, `depth`, the number of frames that stacks keep, and
 * `part`, a part of the run with the live set when it begins.
 */
export type Criterion = readonly [flag: string, value?: string]

/** The page's request to its worker for the report of a trace, or for the log of its live set. */
export interface Request {
  /** With `log`, the worker then answers questions about moments. */
  readonly task?: 'report' | 'log'
  readonly file: Blob
  readonly name: string
  readonly generator: string
  /** The trace that it is compared with. */
  readonly old?: { readonly file: Blob; readonly name: string } | undefined
  /** The rules that leave leaks out, as files have them. */
  readonly rules?: string | undefined
  /** What of the trace the report is on; all of it if there are none. The same is taken of the other trace. */
  readonly criteria: readonly Criterion[]
}

/** The report of a trace, or of a part of it. */
export interface Taken {
  readonly data: ReportData
  /** The numbers that the events of the part have in the trace. */
  readonly numbers: EventNumbers
}

/** A question about the live set at a moment, or its change between two. Numbers of events count in the log. */
export interface Question {
  /** Comes back with the answer. */
  readonly question: number
  readonly to: LogMoment
  readonly from?: LogMoment
}

/** The worker's answers: its progress, and then the report, or the reason why there is none. */
export type Answer =
  | { readonly kind: 'progress'; readonly bytes: number; readonly events: number; readonly format: string }
  | ({ readonly kind: 'report' } & Taken)
  | { readonly kind: 'log'; readonly events: number }
  | { readonly kind: 'live'; readonly question: number; readonly sites: LiveSites }
  | { readonly kind: 'error'; readonly message: string }
