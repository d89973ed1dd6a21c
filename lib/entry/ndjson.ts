/** Events as lines of JSON, as the commands pass them on: `heapflow/ndjson`. */
import { ndjson as format } from '../formats/ndjson/index.js'
import { formatStreams } from '../streams/format-streams.js'

/**
 * Lines to events, as heapflow writes them or as jq and people rewrite them, and events to lines; see `FormatStreams`.
 * A header record without its end record is an error, because the writer failed.
 */
export const { decode, encode } = formatStreams(format)

export { format }
