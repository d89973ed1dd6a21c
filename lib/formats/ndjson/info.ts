import type { FormatInfo } from '../../event/format.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'ndjson',
  title: 'heapflow NDJSON',
  extensions: ['.ndjson', '.jsonl'],
  lossless: true,
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
