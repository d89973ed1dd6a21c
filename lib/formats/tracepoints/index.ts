import { checkedReader, type Format } from '../../event/format.js'
import { TracepointsDecoder, type TracepointsDecodeOptions } from './decode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

export { TracepointsDecoder, type TracepointsDecodeOptions } from './decode.js'

/** The Linux kernel's kmem tracepoints, as ftrace, perf script and trace-cmd report write them. */
export const tracepoints: Format<TracepointsDecodeOptions> = checkedReader({
  ...info,
  carried: CARRIED,
  sniff,
  decoder: (options) => new TracepointsDecoder(options),
})
