import type { Report, ReportDataOptions } from '../../transforms/report/report.js'
import { REPORT_LIMITS } from '../../transforms/report/report.js'
import type { ReportData } from '../../transforms/report/result.js'
import { escaped, shortened } from './html.js'
import { staticTables } from './tables.js'
import { TRACE_NOTE } from './trace-note.js'

/** A page has no more bytes, besides those of a trace in it. */
export const MAX_PAGE_BYTES = 5_000_000

/** The markers in the template for title, tables and data, each present once. */
const MARKERS = ['<!--heapflow:title-->', '<!--heapflow:tables-->', '<!--heapflow:data-->'] as const

/** The options for a report's page. */
export interface PageOptions extends Omit<ReportDataOptions, 'limits'> {
  /** The page without a report: dist/page/report.html, or with a trace dist/page/report-trace.html. */
  readonly template: string
  /** The trace in the compact format, from which the page recomputes its views. */
  readonly trace?: Uint8Array
  /** Compresses bytes as gzip. */
  readonly gzip: (bytes: Uint8Array) => Uint8Array
  /** The maximum size of the page in bytes; `MAX_PAGE_BYTES` if absent. */
  readonly most?: number
}

const encoder = new TextEncoder()

/**
 * A report as a self-contained page. If it would be too large, its largest parts are shortened, with a note.
 * @throws Error for an invalid template
 * @throws RangeError if even the smallest page is too large
 */
export function reportPage(report: Report, options: PageOptions): Uint8Array {
  const { template, gzip, most = MAX_PAGE_BYTES, trace, ...dataOptions } = options
  const parts = partsOf(template)
  const copy = trace === undefined ? '' : packed('report-trace', trace)
  for (const limits of REPORT_LIMITS) {
    const data = report.data({ ...dataOptions, limits })
    const page = encoder.encode(fill(parts, data, gzip, copy))
    if (page.length - copy.length <= most) return page
  }
  throw new RangeError(`the smallest report has more than ${most} bytes`)
}

/** The template before, between and after the markers. */
function partsOf(template: string): string[] {
  let rest = template
  const parts = MARKERS.map((marker) => {
    const pieces = rest.split(marker)
    if (pieces.length !== 2) throw new Error(`the page of reports does not have one ${marker} in its place`)
    rest = pieces[1] as string
    return pieces[0] as string
  })
  return [...parts, rest]
}

/** @param copy the element that has the trace, or nothing */
function fill(parts: readonly string[], data: ReportData, gzip: PageOptions['gzip'], copy: string): string {
  const filled = [
    `${escaped(shortened(data.name))} - heapflow report`,
    [...(copy === '' ? [] : [`<p>${TRACE_NOTE}</p>`]), ...staticTables(data)].join(''),
    packed('report-data', gzip(encoder.encode(JSON.stringify(data)))) + copy,
  ]
  return parts.map((part, i) => part + (filled[i] ?? '')).join('')
}

/** An element that has bytes. */
function packed(id: string, bytes: Uint8Array): string {
  return `<script type="application/octet-stream" id="${id}">${base64(bytes)}</script>`
}

/** The number of bytes converted to text at a time: a multiple of 3. */
const PIECE = 24_576

/** Bytes as base64, in Node as in a browser. */
function base64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE) text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)))
  return text
}
