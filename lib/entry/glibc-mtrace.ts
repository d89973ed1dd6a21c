/** The output of glibc's mtrace: `heapflow/glibc-mtrace`. */
import { glibcMtrace as format } from '../formats/glibc-mtrace/index.js'
import { formatStreams } from '../streams/format-streams.js'

export const {
  /** Bytes to events; see `FormatStreams`. */
  decode,
  /** Events to bytes; see `FormatStreams`. */
  encode,
} = formatStreams(format)

export { format }
export * from '../formats/glibc-mtrace/index.js'
