/** HATF 1.0: `heapflow/hatf`. */
import { hatf as format } from '../formats/hatf/index.js'
import { formatStreams } from '../streams/format-streams.js'

export const {
  /** Bytes to events; see `FormatStreams`. */
  decode,
  /** Events to bytes; see `FormatStreams`. */
  encode,
} = formatStreams(format)

export { format }
export * from '../formats/hatf/index.js'
export { HatfSplitter, joinAddresses, joinStream, splitAddresses } from '../streams/split-addresses.js'
