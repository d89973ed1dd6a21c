import { checked, type TextDecodeOptions, type WritableFormat } from '../../event/format.js'
import { HeaptrackDecoder } from './decode.js'
import { HeaptrackEncoder, type HeaptrackEncodeOptions } from './encode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

export { HeaptrackDecoder } from './decode.js'
export { HeaptrackEncoder, type HeaptrackEncodeOptions } from './encode.js'

/** The recordings of heaptrack, raw or interpreted. */
export const heaptrack: WritableFormat<TextDecodeOptions, HeaptrackEncodeOptions> = checked({
  ...info,
  carried: CARRIED,
  sometimes: {
    fields: ['address'],
    when: 'address in raw files; an interpreted file says only of what size and stack the block is that is freed',
  },
  writtenAs: { existing: ['alloc'], realloc: ['free', 'alloc'] },
  sniff,
  decoder: (options) => new HeaptrackDecoder(options),
  encoder: (options?: HeaptrackEncodeOptions) => new HeaptrackEncoder(options),
})
