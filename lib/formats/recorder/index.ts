import { checkedReader, type Format } from '../../event/format.js'
import type { NoOptions } from '../../event/options.js'
import { RecorderDecoder } from './decode.js'
import { info } from './info.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'

export { RecorderDecoder } from './decode.js'

/** The recordings of heapflow's own recorder. */
export const recorder: Format<NoOptions> = checkedReader({
  ...info,
  carried: CARRIED,
  sniff,
  decoder: () => new RecorderDecoder(),
})
