import { ALL_GROUP_FIELDS } from '../../event/fields.js'
import { checked, type WritableFormat } from '../../event/format.js'
import type { NoOptions } from '../../event/options.js'
import { NdjsonDecoder } from './decode.js'
import { NdjsonEncoder } from './encode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

/** Events as lines of JSON, which the commands pass to each other, and which jq reads and writes. */
export const ndjson: WritableFormat<NoOptions> = checked({
  ...info,
  carried: CARRIED,
  groups: ALL_GROUP_FIELDS,
  sniff,
  decoder: () => new NdjsonDecoder(),
  encoder: () => new NdjsonEncoder(),
})
