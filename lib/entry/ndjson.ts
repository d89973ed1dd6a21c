/** Events as lines of JSON, as the commands pass them on: `heapflow/ndjson`. */
import { ndjson as format } from '../formats/ndjson/index.js'
import { lineDecoder, formatStreams } from '../streams/format-streams.js'

export const {
  /** Events to lines; see `FormatStreams`. */
  encode,
} = formatStreams(format)

/**
 * Lines to events: in the canonical form, or as jq and people rewrite them. A header record without its end record is
 * an error, because the writer failed.
 */
export const decode = lineDecoder(format)

export { format }
