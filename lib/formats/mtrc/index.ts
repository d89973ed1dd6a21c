import type { Format } from '../format.js'
import { MtrcDecoder, type MtrcDecodeOptions } from './decode.js'
import { CARRIED, MtrcEncoder } from './encode.js'
import { FORMAT, readHeader } from './layout.js'

/** mpatrol tracing output. */
export const mtrc: Format<MtrcDecodeOptions> = {
  name: FORMAT,
  title: 'mpatrol MTRC',
  extensions: ['.mtrc'],
  binary: true,
  carried: CARRIED,
  writtenAs: { existing: ['alloc'] },
  decodeOptions: {
    resolve: {
      help: 'leave frees and reallocs without the address and size of their block; needs no memory for live blocks',
      default: true,
    },
  },
  encodeOptions: {},
  sniff: (head) => head.length > 0 && readHeader(head, 0, head.length) !== 'bad',
  decoder: (options) => new MtrcDecoder(options),
  encoder: (options) => new MtrcEncoder(options),
}

export { MtrcDecoder, type MtrcDecodeOptions } from './decode.js'
export { MtrcEncoder } from './encode.js'
