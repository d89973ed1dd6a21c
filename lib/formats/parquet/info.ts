import type { FormatInfo } from '../../event/format.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'parquet',
  title: 'Parquet',
  extensions: ['.parquet', '.pq'],
  lossless: true,
  keepsBatches: true,
  fromFile: true,
  binary: true,
  decodeOptions: {},
  encodeOptions: {
    codec: {
      help: 'How columns are compressed; zstd needs Node 22.15 or newer',
      value: 'NAME',
      values: ['snappy', 'zstd', 'none'],
      default: 'snappy',
    },
  },
}
