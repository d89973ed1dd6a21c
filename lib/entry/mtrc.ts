/** mpatrol MTRC: `heapflow/mtrc`. */
import { mtrc as format } from '../formats/mtrc/index.js'
import { streamPair } from '../streams/pair.js'

export const {
  /** Bytes to events; see `StreamPair`. */
  decode,
  /** Events to bytes; see `StreamPair`. */
  encode,
} = streamPair(format)

export { format }
export * from '../formats/mtrc/index.js'
