import { checkedReader, type Format } from '../../event/format.js'
import { ValgrindDecoder } from './decode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

export { ValgrindDecoder } from './decode.js'

/** What valgrind prints with --trace-malloc=yes. */
export const valgrind: Format = checkedReader({
  ...info,
  carried: CARRIED,
  sniff,
  decoder: () => new ValgrindDecoder(),
})
