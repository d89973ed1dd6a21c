/** HATF 1.0: `heapflow/hatf`. */
import { hatf as format } from '../formats/hatf/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** Bytes to events, and events to bytes; see `FormatStreams`. */
export const { decode, encode } = formatStreams(format)

export { format }
export * from '../formats/hatf/index.js'
export { HatfSplitter, joinAddresses, joinStream, splitAddresses } from '../streams/split-addresses.js'
