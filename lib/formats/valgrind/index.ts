import { checkedReader, type Format, type TextDecodeOptions } from '../../event/format.js'
import { ValgrindDecoder } from './decode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

export { ValgrindDecoder } from './decode.js'

/** The output of valgrind with --trace-malloc=yes. */
export const valgrind: Format<TextDecodeOptions> = checkedReader({
  ...info,
  carried: CARRIED,
  sniff,
  decoder: (options) => new ValgrindDecoder(options),
})
