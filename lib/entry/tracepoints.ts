/** Linux kmem tracepoints as text, which can only be read: `heapflow/tracepoints`. */
import { tracepoints as format } from '../formats/tracepoints/index.js'
import { decoderOf } from '../streams/format-streams.js'

/** Bytes to events; see `FormatStreams`. */
export const decode = decoderOf(format)

export { format }
export * from '../formats/tracepoints/index.js'
