import { AsciiDecoder } from '../ascii/decoder.js'
import { AsciiEncoder } from '../ascii/encoder.js'
import { checked, type EncodeOptions, type TextDecodeOptions, type WritableFormat } from '../../event/format.js'
import { CARRIED, HATF_12, HEAD, WRITTEN_AS } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

export { HATF_12 } from './layout.js'

/** HATF in ASCII as mpatrol writes it: lines by a DTD of Meta-TF 1.2. */
export const hatfAscii: WritableFormat<TextDecodeOptions, EncodeOptions> = checked({
  ...info,
  carried: CARRIED,
  writtenAs: WRITTEN_AS,
  sniff,
  decoder: (options) => new AsciiDecoder(HATF_12, { ...options, name: info.name }),
  encoder: ({ strict = false }: EncodeOptions = {}) =>
    new AsciiEncoder(HATF_12, { name: info.name, head: HEAD, strict }),
})
