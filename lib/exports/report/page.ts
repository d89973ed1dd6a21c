import {
  REPORT_LIMITS,
  type Report,
  type ReportDataOptions,
  type ReportLimits,
} from '../../transforms/report/report.js'
import type { ReportData } from '../../transforms/report/result.js'
import { escaped, shortened } from './html.js'
import { staticTables } from './tables.js'
import { MAX_PAGE_BYTES, packed, partsOf } from './template.js'
import { TRACE_NOTE } from './trace-note.js'

/** The options for a report's page. */
export interface PageOptions extends Omit<ReportDataOptions, 'limits'> {
  /** The page without a report: dist/page/report.html, or with a trace dist/page/report-trace.html. */
  readonly template: string
  /** The trace in the compact format, in pieces, from which the page recomputes its views. */
  readonly trace?: readonly Uint8Array[]
  /** Compresses bytes as gzip. */
  readonly gzip: (bytes: Uint8Array) => Uint8Array
  /** The maximum size of the page in bytes; `MAX_PAGE_BYTES` if absent. */
  readonly most?: number
}

const encoder = new TextEncoder()

/**
 * A report as a self-contained page, in pieces. If it would be too large, its largest parts are shortened, with a note.
 * @throws Error for an invalid template
 * @throws RangeError if even the smallest page is too large
 */
export function* reportPage(report: Report, options: PageOptions): Generator<Uint8Array> {
  const { template, gzip, most = MAX_PAGE_BYTES, trace, ...dataOptions } = options
  const parts = partsOf(template)
  const end = encoder.encode(parts.at(-1))
  const begin = () => {
    for (const limits of dataOptions.compared === undefined ? withoutChanges(REPORT_LIMITS) : REPORT_LIMITS) {
      const data = report.data({ ...dataOptions, limits })
      const pieces = fill(parts, data, gzip, trace !== undefined)
      if (pieces.reduce((sum, { length }) => sum + length, end.length) <= most) return pieces
    }
    throw new RangeError(`the smallest report has more than ${most} bytes`)
  }
  yield* begin()
  if (trace !== undefined) yield* packed('report-trace', trace)
  yield end
}

/** The limits that differ where there is no comparison. */
function withoutChanges(limits: readonly ReportLimits[]): readonly ReportLimits[] {
  return limits.filter(({ nodes }, n) => nodes !== limits[n - 1]?.nodes)
}

/** The page up to the end of the data. @param hasTrace whether the trace follows */
function fill(parts: readonly string[], data: ReportData, gzip: PageOptions['gzip'], hasTrace: boolean): Uint8Array[] {
  const title = `${escaped(shortened(data.name))} - heapflow report`
  const tables = [...(hasTrace ? [`<p>${TRACE_NOTE}</p>`] : []), ...staticTables(data)].join('')
  return [
    encoder.encode(`${parts[0]}${title}${parts[1]}${tables}${parts[2]}`),
    ...packed('report-data', [gzip(encoder.encode(JSON.stringify(data)))]),
  ]
}
