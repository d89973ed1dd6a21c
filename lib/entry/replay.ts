/** Android memory_replay: `heapflow/replay`. */
import { replay as format } from '../formats/replay/index.js'
import { streamPair } from '../streams/pair.js'

export const {
  /** Bytes to events; see `StreamPair`. */
  decode,
  /** Events to bytes; see `StreamPair`. */
  encode,
} = streamPair(format)

export { format }
export * from '../formats/replay/index.js'
