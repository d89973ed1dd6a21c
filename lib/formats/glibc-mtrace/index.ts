import { checked, type EncodeOptions, type TextDecodeOptions, type WritableFormat } from '../../event/format.js'
import { MtraceDecoder } from './decode.js'
import { MtraceEncoder } from './encode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

export { MtraceDecoder } from './decode.js'
export { MtraceEncoder } from './encode.js'

/** The output of glibc's mtrace to the file that MALLOC_TRACE names. */
export const glibcMtrace: WritableFormat<TextDecodeOptions> = checked({
  ...info,
  carried: CARRIED,
  writtenAs: { existing: ['alloc'] },
  sniff,
  decoder: (options) => new MtraceDecoder(options),
  encoder: (options?: EncodeOptions) => new MtraceEncoder(options),
})
