import type { Format } from '../format.js'
import { HatfDecoder, type HatfDecodeOptions } from './decode.js'
import { HatfEncoder, type HatfEncodeOptions } from './encode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'

export { HatfDecoder, type HatfDecodeOptions } from './decode.js'
export { HatfEncoder, type HatfEncodeOptions } from './encode.js'
export type { FieldStates } from './fields.js'
export { plainPlanner, type Plan, type Planner } from './plan.js'
export { Given, type Records } from './records.js'

/** HATF 1.0, the binary Heap Allocation Trace Format of Chilimbi, Jones and Zorn (ISMM 2000). */
export const hatf: Format<HatfDecodeOptions, HatfEncodeOptions> = {
  name: 'hatf',
  title: 'HATF 1.0',
  extensions: ['.hatf'],
  binary: true,
  carried: CARRIED,
  decodeOptions: {
    fold: { help: 'also give the alloc and free records that reallocs made, which then count twice', default: true },
  },
  encodeOptions: {
    attributes: { help: 'keep fields and events that HATF has no place for, in attributes and comments', default: false },
  },
  sniff,
  decoder: (options) => new HatfDecoder(options),
  encoder: (options) => new HatfEncoder(options),
}
