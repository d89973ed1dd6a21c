/** Android memory_replay: `heapflow/replay`. */
import { replay as format } from '../formats/replay/index.js'
import { formatStreams } from '../streams/format-streams.js'

export const {
  /** Bytes to events; see `FormatStreams`. */
  decode,
  /** Events to bytes; see `FormatStreams`. */
  encode,
} = formatStreams(format)

export { format }
export * from '../formats/replay/index.js'
