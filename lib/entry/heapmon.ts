/** Taligent heap monitoring: `heapflow/heapmon`. */
import { heapmon as format } from '../formats/heapmon/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** Bytes to events, and events to bytes; see `FormatStreams`. */
export const { decode, encode } = formatStreams(format)

export { format }
export * from '../formats/heapmon/index.js'
