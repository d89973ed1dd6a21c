import { KINDS, type KindName } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import { decodeText } from '../../event/strings.js'
import { CARRIED } from './layout.js'

/**
 * What `attributes: true` adds to HATF so that nothing is lost. Fields that a record cannot represent go into its
 * attributes as `hf{...}`; events without a record, and the trace header, go into comments as `heapflow:{...}`. Both
 * are JSON without spaces, with the fields named and written as in NDJSON.
 */

const encoder = new TextEncoder()

/** The start of attributes with extra fields, including the brace of the JSON object. */
export const EXTRA_FIELDS_MARK = encoder.encode('hf{')

/** The start of a comment that holds an event or the trace header, including the brace of the JSON object. */
export const COMMENT_MARK = encoder.encode('heapflow:{')

const HEADER_MARK = encoder.encode('heapflow:{"kind":"header",')

/** The key that lists the fields that the record has but the event does not. */
export const WITHOUT = 'without'

/** The key of an event's kind. */
export const KIND = 'kind'

/** Per kind of event, by code, the fields that its HATF record has; 0 for kinds without a record. */
export const RECORD_FIELDS = Int32Array.from(KINDS, (kind: KindName) => CARRIED[kind] ?? 0)

/** Whether `bytes[start..end)` starts with a mark. */
export function hasMark(bytes: Uint8Array, start: number, end: number, mark: Uint8Array): boolean {
  if (end - start < mark.length) return false
  for (let i = 0; i < mark.length; i++) if (bytes[start + i] !== mark[i]) return false
  return true
}

/** The comment that represents a trace header. */
export function headerComment(header: TraceHeader): Uint8Array {
  const { format, timeUnit, layout } = header
  return encoder.encode(`heapflow:${JSON.stringify({ kind: 'header', format, timeUnit, layout })}`)
}

/** The header that a comment represents, or undefined if it is an ordinary comment. */
export function parseHeaderComment(bytes: Uint8Array, start: number, end: number): TraceHeader | undefined {
  if (!hasMark(bytes, start, end, HEADER_MARK)) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(decodeText(bytes.subarray(start + COMMENT_MARK.length - 1, end)))
  } catch {
    return undefined
  }
  const { format, timeUnit, layout, kind: _kind, ...unknown } = parsed as Record<string, unknown>
  if (typeof format !== 'string' || Object.keys(unknown).length > 0) return undefined
  if (timeUnit !== undefined && timeUnit !== 'ns' && timeUnit !== 'us') return undefined
  if (layout !== undefined && !isLayout(layout)) return undefined
  return { format, ...(timeUnit !== undefined && { timeUnit }), ...(layout !== undefined && { layout }) }
}

function isLayout(value: unknown): value is NonNullable<TraceHeader['layout']> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((entry) => ['string', 'number', 'boolean'].includes(typeof entry))
}
