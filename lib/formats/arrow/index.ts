import { ALL_GROUP_FIELDS } from '../../event/fields.js'
import { checked, type WritableFormat } from '../../event/format.js'
import type { NoOptions } from '../../event/options.js'
import { ArrowDecoder } from './decode.js'
import { ArrowEncoder, type ArrowEncodeOptions } from './encode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

/** Events as an Arrow IPC stream: columns, which commands pass on quickly, and which tools that analyze data read. */
export const arrow: WritableFormat<NoOptions, ArrowEncodeOptions> = checked({
  ...info,
  carried: CARRIED,
  groups: ALL_GROUP_FIELDS,
  sniff,
  decoder: () => new ArrowDecoder(),
  encoder: (options) => new ArrowEncoder(options),
})

export type { ArrowEncodeOptions } from './encode.js'
