/** Taligent heap monitoring: `heapflow/heapmon`. */
import { heapmon as format } from '../formats/heapmon/index.js'
import { formatStreams } from '../streams/format-streams.js'

export const {
  /** Bytes to events; see `FormatStreams`. */
  decode,
  /** Events to bytes; see `FormatStreams`. */
  encode,
} = formatStreams(format)

export { format }
export * from '../formats/heapmon/index.js'
