/** Arrow IPC streams, with a column for each field of events: `heapflow/arrow`. */
import { arrow as format } from '../formats/arrow/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** A stream, or an Arrow file, to events, and events to a stream; see `FormatStreams`. */
export const { decode, encode } = formatStreams(format)

export { format }
export type { ArrowEncodeOptions } from '../formats/arrow/index.js'
