/** Taligent heap monitoring: `heapflow/heapmon`. */
import { heapmon as format } from '../formats/heapmon/index.js'
import { streamPair } from '../streams/pair.js'

export const {
  /** Bytes to events; see `StreamPair`. */
  decode,
  /** Events to bytes; see `StreamPair`. */
  encode,
} = streamPair(format)

export { format }
export * from '../formats/heapmon/index.js'
