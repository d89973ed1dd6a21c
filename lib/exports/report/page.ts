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
    for (const limits of REPORT_LIMITS) {
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

/** The template before, between and after the markers. */
function partsOf(template: string): string[] {
  let rest = template
  const parts = MARKERS.map((marker) => {
    const pieces = rest.split(marker)
    if (pieces.length !== 2) throw new Error(`the page of reports does not have one ${marker} in its place`)
    rest = pieces[1]
    return pieces[0]
  })
  return [...parts, rest]
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

/** An element that has bytes, in pieces. */
function* packed(id: string, chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield encoder.encode(`<script type="application/octet-stream" id="${id}">`)
  yield* base64(chunks)
  yield encoder.encode('</script>')
}

/** The number of bytes that a piece of base64 stands for: a multiple of 3. */
const PIECE = 49_152
const DIGITS = encoder.encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = '='.charCodeAt(0)

/** Bytes as base64, in pieces. Strings in between would take several times the memory. */
function* base64(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  const piece = new Uint8Array(PIECE)
  let filled = 0
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + PIECE - filled)
      piece.set(part, filled)
      at += part.length
      filled += part.length
      if (filled < PIECE) break
      yield digitsOf(piece, filled)
      filled = 0
    }
  }
  if (filled > 0) yield digitsOf(piece, filled)
}

/** The first `count` bytes as base64, with padding. */
function digitsOf(bytes: Uint8Array, count: number): Uint8Array {
  const digits = new Uint8Array(4 * Math.ceil(count / 3))
  let to = 0
  bytes.fill(0, count)
  for (let i = 0; i < count; i += 3) {
    const bits = (bytes[i] << 16) | (bytes[i + 1] << 8) | bytes[i + 2]
    for (let shift = 18; shift >= 0; shift -= 6) digits[to++] = DIGITS[(bits >> shift) & 63]
  }
  digits.fill(PADDING, to - ((3 - (count % 3)) % 3))
  return digits
}
