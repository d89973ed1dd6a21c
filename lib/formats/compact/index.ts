import { ALL_GROUP_FIELDS } from '../../event/fields.js'
import { checked, type WritableFormat } from '../../event/format.js'
import type { NoOptions } from '../../event/options.js'
import { CompactDecoder } from './decode.js'
import { CompactEncoder, type CompactEncodeOptions } from './encode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

/** Traces in as few bytes as their model needs: for archives. */
export const compact: WritableFormat<NoOptions, CompactEncodeOptions> = checked({
  ...info,
  carried: CARRIED,
  groups: ALL_GROUP_FIELDS,
  sniff,
  decoder: () => new CompactDecoder(),
  encoder: (options) => new CompactEncoder(options),
})

export { CompactDecoder } from './decode.js'
export { CompactEncoder, type CompactEncodeOptions } from './encode.js'
export { type CompactLevel } from './layout.js'
