/** Android memory_replay: `heapflow/replay`. */
import { replay as format } from '../formats/replay/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** Bytes to events, and events to bytes; see `FormatStreams`. */
export const { decode, encode } = formatStreams(format)

export { format }
export * from '../formats/replay/index.js'
