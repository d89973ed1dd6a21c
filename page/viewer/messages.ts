import type { ReportData } from '../../lib/transforms/report/result.js'

/** The page's request to its worker for the report of a trace. */
export interface Request {
  readonly file: Blob
  readonly name: string
  readonly generator: string
}

/** The worker's answers: its progress, and then the report, or the reason why there is none. */
export type Answer =
  | { readonly kind: 'progress'; readonly bytes: number; readonly events: number; readonly format: string }
  | { readonly kind: 'report'; readonly data: ReportData }
  | { readonly kind: 'error'; readonly message: string }
