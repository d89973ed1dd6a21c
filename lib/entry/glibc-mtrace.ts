/** What glibc's mtrace writes: `heapflow/glibc-mtrace`. */
import { glibcMtrace as format } from '../formats/glibc-mtrace/index.js'
import { streamPair } from '../streams/pair.js'

export const {
  /** Bytes to events; see `StreamPair`. */
  decode,
  /** Events to bytes; see `StreamPair`. */
  encode,
} = streamPair(format)

export { format }
export * from '../formats/glibc-mtrace/index.js'
