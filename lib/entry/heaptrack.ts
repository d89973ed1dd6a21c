/** The recordings of heaptrack: `heapflow/heaptrack`. */
import { heaptrack as format } from '../formats/heaptrack/index.js'
import { formatStreams } from '../streams/format-streams.js'

export const {
  /** Bytes to events; see `FormatStreams`. */
  decode,
  /** Events to bytes; see `FormatStreams`. */
  encode,
} = formatStreams(format)

export { format }
export * from '../formats/heaptrack/index.js'
