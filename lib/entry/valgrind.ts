/** Logs of valgrind --trace-malloc, which can only be read: `heapflow/valgrind`. */
import { valgrind as format } from '../formats/valgrind/index.js'
import { decoderOf } from '../streams/pair.js'

/** Bytes to events; see `StreamPair`. */
export const decode = decoderOf(format)

export { format }
export * from '../formats/valgrind/index.js'
