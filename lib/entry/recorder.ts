/** Recordings of heapflow's own recorder, which can only be read: `heapflow/recorder`. */
import { recorder as format } from '../formats/recorder/index.js'
import { decoderOf } from '../streams/format-streams.js'

/** Bytes to events; see `FormatStreams`. */
export const decode = decoderOf(format)

export { format }
export * from '../formats/recorder/index.js'
