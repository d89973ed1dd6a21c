import { checked, type WritableFormat } from '../../event/format.js'
import { MtrcDecoder, type MtrcDecodeOptions } from './decode.js'
import { CARRIED, MtrcEncoder } from './encode.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

/** mpatrol tracing output. */
export const mtrc: WritableFormat<MtrcDecodeOptions> = checked({
  ...info,
  carried: CARRIED,
  writtenAs: { existing: ['alloc'] },
  sniff,
  decoder: (options) => new MtrcDecoder(options),
  encoder: (options) => new MtrcEncoder(options),
})

export { MtrcDecoder, type MtrcDecodeOptions } from './decode.js'
export { MtrcEncoder } from './encode.js'
