/** HATF in ASCII, as mpatrol writes it: `heapflow/hatf-ascii`. */
import { hatfAscii as format } from '../metatf/hatf-ascii/index.js'
import { formatStreams } from '../streams/format-streams.js'

export const {
  /** Bytes to events; see `FormatStreams`. */
  decode,
  /** Events to bytes; see `FormatStreams`. */
  encode,
} = formatStreams(format)

export { format }
export * from '../metatf/hatf-ascii/index.js'
