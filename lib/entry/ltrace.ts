/** Logs of ltrace, which can only be read: `heapflow/ltrace`. */
import { ltrace as format } from '../formats/ltrace/index.js'
import { decoderOf } from '../streams/format-streams.js'

/** Bytes to events; see `FormatStreams`. */
export const decode = decoderOf(format)

export { format }
export * from '../formats/ltrace/index.js'
