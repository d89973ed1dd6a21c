/** mpatrol MTRC: `heapflow/mtrc`. */
import { mtrc as format } from '../formats/mtrc/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** Bytes to events, and events to bytes; see `FormatStreams`. */
export const { decode, encode } = formatStreams(format)

export { format }
export * from '../formats/mtrc/index.js'
