/** HATF 1.0: `heapflow/hatf`. */
import { hatf as format } from '../formats/hatf/index.js'
import { streamPair } from '../streams/pair.js'

export const {
  /** Bytes to events; see `StreamPair`. */
  decode,
  /** Events to bytes; see `StreamPair`. */
  encode,
} = streamPair(format)

export { format }
export * from '../formats/hatf/index.js'
export { HatfSplitter, joinAddresses, joinStream, splitAddresses } from '../streams/split-addresses.js'
