import type { Format } from '../../formats/format.js'
import { NdjsonDecoder } from './decode.js'
import { NdjsonEncoder } from './encode.js'
import { CARRIED } from './layout.js'

/** Events as lines of JSON: what travels between the commands, and what jq reads and writes. */
export const ndjson: Format = {
  name: 'ndjson',
  title: 'heapflow NDJSON',
  extensions: ['.ndjson', '.jsonl'],
  binary: false,
  carried: CARRIED,
  decodeOptions: {},
  encodeOptions: {},
  sniff: (head) => /^\s*\{/.test(Buffer.from(head.subarray(0, 64)).toString('latin1')),
  decoder: () => new NdjsonDecoder(),
  encoder: () => new NdjsonEncoder(),
}
