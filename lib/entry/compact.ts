/** Compact traces: `heapflow/compact`. */
import { compact as format } from '../formats/compact/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** Bytes to events, and events to bytes; see `FormatStreams`. */
export const { decode, encode } = formatStreams(format)

export { format }
export * from '../formats/compact/index.js'
