import type { ReportData } from '../../lib/transforms/report/result.js'
import type { EventNumbers } from './event-numbers.js'

/**
 * A flag of hf-filter, and its value if it has one; besides these, `depth`, the number of frames that stacks keep, and
 * `part`, a part of the run with what is live when it begins.
 */
export type Criterion = readonly [flag: string, value?: string]

/** The page's request to its worker for the report of a trace. */
export interface Request {
  readonly file: Blob
  readonly name: string
  readonly generator: string
  /** What of the trace the report is on; all of it if there are none. */
  readonly criteria: readonly Criterion[]
}

/** The report of a trace, or of a part of it. */
export interface Taken {
  readonly data: ReportData
  /** The numbers that the events of the part have in the trace. */
  readonly numbers: EventNumbers
}

/** The worker's answers: its progress, and then the report, or the reason why there is none. */
export type Answer =
  | { readonly kind: 'progress'; readonly bytes: number; readonly events: number; readonly format: string }
  | ({ readonly kind: 'report' } & Taken)
  | { readonly kind: 'error'; readonly message: string }
