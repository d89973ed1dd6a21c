import type { ReportData } from '../../lib/transforms/report/result.js'

/** What the page asks of its worker: the report of a trace. */
export interface Request {
  readonly file: Blob
  readonly name: string
  readonly generator: string
}

/** What the worker answers: how far it is, and then the report, or why there is none. */
export type Answer =
  | { readonly kind: 'progress'; readonly bytes: number; readonly events: number; readonly format: string }
  | { readonly kind: 'report'; readonly data: ReportData }
  | { readonly kind: 'error'; readonly message: string }
