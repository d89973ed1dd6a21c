import type { FormatInfo } from '../../event/format.js'

/** What commands tell of the format. */
export const info: FormatInfo = {
  name: 'ndjson',
  title: 'heapflow NDJSON',
  extensions: ['.ndjson', '.jsonl'],
  lossless: true,
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
