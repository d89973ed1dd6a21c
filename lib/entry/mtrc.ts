/** mpatrol MTRC: `heapflow/mtrc`. */
import { mtrc as format } from '../formats/mtrc/index.js'
import { formatStreams } from '../streams/format-streams.js'

export const {
  /** Bytes to events; see `FormatStreams`. */
  decode,
  /** Events to bytes; see `FormatStreams`. */
  encode,
} = formatStreams(format)

export { format }
export * from '../formats/mtrc/index.js'
