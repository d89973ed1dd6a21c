/** The recordings of heaptrack: `heapflow/heaptrack`. */
import { heaptrack as format } from '../formats/heaptrack/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** Bytes to events, and events to bytes; see `FormatStreams`. */
export const { decode, encode } = formatStreams(format)

export { format }
export * from '../formats/heaptrack/index.js'
