/** The output of glibc's mtrace: `heapflow/glibc-mtrace`. */
import { glibcMtrace as format } from '../formats/glibc-mtrace/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** Bytes to events, and events to bytes; see `FormatStreams`. */
export const { decode, encode } = formatStreams(format)

export { format }
export * from '../formats/glibc-mtrace/index.js'
