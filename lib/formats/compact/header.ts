import { malformed, type TracePosition } from '../../event/error.js'
import type { TraceHeader } from '../../event/header.js'
import { decodeText } from '../../event/strings.js'
import { parseRecord } from '../ndjson/general.js'
import { HEADER_KIND } from '../../event/json-record.js'

/** The text of a header: its record on the NDJSON wire, without the line feed. */
export function headerText(header: TraceHeader): string {
  return JSON.stringify({ kind: HEADER_KIND, ...header })
}

/** The header that a text represents. @throws TraceError when the text is not a header */
export function parseHeader(bytes: Uint8Array, at: TracePosition): TraceHeader {
  try {
    const record = parseRecord(decodeText(bytes))
    if (record.kind === HEADER_KIND) return record.header
  } catch (error) {
    throw malformed(`the header of a trace: ${(error as Error).message}`, at)
  }
  throw malformed('the header of a trace is another record', at)
}
