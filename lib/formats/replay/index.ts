import { checked, type EncodeOptions, type TextDecodeOptions, type WritableFormat } from '../../event/format.js'
import { ReplayDecoder } from './decode.js'
import { ReplayEncoder } from './encode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

export { ReplayDecoder } from './decode.js'
export { ReplayEncoder } from './encode.js'

/** memory_replay: Android's text dumps of allocations, one per line. */
export const replay: WritableFormat<TextDecodeOptions> = checked({
  ...info,
  carried: CARRIED,
  writtenAs: { existing: ['alloc'] },
  sniff,
  decoder: (options) => new ReplayDecoder(options),
  encoder: (options?: EncodeOptions) => new ReplayEncoder(options),
})
