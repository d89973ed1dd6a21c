/** HATF in ASCII, as mpatrol writes it: `heapflow/hatf-ascii`. */
import { hatfAscii as format } from '../metatf/hatf-ascii/index.js'
import { streamPair } from '../streams/pair.js'

export const {
  /** Bytes to events; see `StreamPair`. */
  decode,
  /** Events to bytes; see `StreamPair`. */
  encode,
} = streamPair(format)

export { format }
export * from '../metatf/hatf-ascii/index.js'
