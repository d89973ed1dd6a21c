import { checkedReader, type Format } from '../../event/format.js'
import { LtraceDecoder, type LtraceDecodeOptions } from './decode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

export { LtraceDecoder, type LtraceDecodeOptions } from './decode.js'

/** The logs of ltrace. */
export const ltrace: Format<LtraceDecodeOptions> = checkedReader({
  ...info,
  carried: CARRIED,
  sniff,
  decoder: (options) => new LtraceDecoder(options),
})
