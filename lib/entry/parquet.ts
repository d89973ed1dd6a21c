/** Parquet files: `heapflow/parquet`. They are written as streams, and read from files by `openTrace` and `events`. */
import { parquet as format } from '../formats/parquet/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** Events to a file; see `FormatStreams`. */
export const { encode } = formatStreams(format)

export { format }
export type { ParquetEncodeOptions } from '../formats/parquet/index.js'
