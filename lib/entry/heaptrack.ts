/** What heaptrack records: `heapflow/heaptrack`. */
import { heaptrack as format } from '../formats/heaptrack/index.js'
import { streamPair } from '../streams/pair.js'

export const {
  /** Bytes to events; see `StreamPair`. */
  decode,
  /** Events to bytes; see `StreamPair`. */
  encode,
} = streamPair(format)

export { format }
export * from '../formats/heaptrack/index.js'
