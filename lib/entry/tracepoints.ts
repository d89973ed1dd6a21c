/** Linux kmem tracepoints as text, which can only be read: `heapflow/tracepoints`. */
import { tracepoints as format } from '../formats/tracepoints/index.js'
import { decoderOf } from '../streams/pair.js'

/** Bytes to events; see `StreamPair`. */
export const decode = decoderOf(format)

export { format }
export * from '../formats/tracepoints/index.js'
