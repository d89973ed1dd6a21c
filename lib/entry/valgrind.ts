/** Logs of valgrind --trace-malloc, which can only be read: `heapflow/valgrind`. */
import { valgrind as format } from '../formats/valgrind/index.js'
import { decoderOf } from '../streams/format-streams.js'

/** Bytes to events; see `FormatStreams`. */
export const decode = decoderOf(format)

export { format }
export * from '../formats/valgrind/index.js'
