/** HATF in ASCII, as mpatrol writes it: `heapflow/hatf-ascii`. */
import { hatfAscii as format } from '../metatf/hatf-ascii/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** Bytes to events, and events to bytes; see `FormatStreams`. */
export const { decode, encode } = formatStreams(format)

export { format }
export * from '../metatf/hatf-ascii/index.js'
