import type { FormatTraits } from '../../event/format.js'

/** What commands tell of the format. */
export const traits: FormatTraits = {
  name: 'ndjson',
  title: 'heapflow NDJSON',
  extensions: ['.ndjson', '.jsonl'],
  lossless: true,
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
