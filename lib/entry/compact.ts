/** Compact traces: `heapflow/compact`. */
import { compact as format } from '../formats/compact/index.js'
import { formatStreams } from '../streams/format-streams.js'

export const {
  /** Bytes to events; see `FormatStreams`. */
  decode,
  /** Events to bytes; see `FormatStreams`. */
  encode,
} = formatStreams(format)

export { format }
export * from '../formats/compact/index.js'
