import type { Format, OptionSpec } from '../format.js'
import type { HatfDecodeOptions } from './decode.js'
import { HatfEncoder, type HatfEncodeOptions } from './encode.js'
import { CARRIED } from './layout.js'
import { DEFAULT_PRESET, PRESETS, strategyNames, type Strategies } from './plan/strategies.js'
import { sniff } from './sniff.js'
import { EitherDecoder } from './split/decode.js'
import { SplitEncoder } from './split/encode.js'
import { formOf } from './split/layout.js'

export { HatfDecoder, type HatfDecodeOptions } from './decode.js'
export { HatfEncoder, type HatfEncodeOptions } from './encode.js'
export type { FieldStates } from './fields.js'
export { plainPlanner, type Plan, type Planner } from './plan.js'
export {
  PRESETS, plannerFor, strategiesOf, strategyNames, type Strategies, type StrategyName, type StrategyOptions,
} from './plan/strategies.js'
export { Given, type Records } from './records.js'
export { EitherDecoder, SplitDecoder } from './split/decode.js'
export { SplitEncoder } from './split/encode.js'
export { Joiner } from './split/join.js'
export { type PackOptions } from './split/pack.js'
export { Separator, type Piece } from './split/separate.js'
export { type HatfField, type SplitOptions } from './split/tracks.js'

/** What the format's encoder can be told. */
export interface HatfFormatEncodeOptions extends HatfEncodeOptions {
  /** Write the single-file form, in which addresses are a stream of their own. Default false. */
  splitAddr?: boolean
  /** How hard the streams of the single-file form are deflated, from 1 to 9, or 0 for not at all. Default 6. */
  splitLevel?: number
}

/** HATF 1.0, the binary Heap Allocation Trace Format of Chilimbi, Jones and Zorn (ISMM 2000). */
export const hatf: Format<HatfDecodeOptions, HatfFormatEncodeOptions> = {
  name: 'hatf',
  title: 'HATF 1.0',
  extensions: ['.hatf'],
  binary: true,
  carried: CARRIED,
  writtenAs: { existing: ['alloc'] },
  decodeOptions: {
    fold: { help: 'also give the alloc and free records that reallocs made, which then count twice', default: true },
  },
  encodeOptions: {
    attributes: { help: 'keep fields and events that HATF has no place for, in attributes and comments', default: false },
    preset: {
      help: 'how to lay out fields: for the fewest bytes, or without looking ahead', default: DEFAULT_PRESET,
      value: 'NAME', values: Object.keys(PRESETS),
    },
    sizeEncoding: encoding('size'),
    addressEncoding: encoding('address'),
    threadEncoding: encoding('thread'),
    heapEncoding: encoding('heap'),
    timeEncoding: encoding('time'),
    attributesEncoding: encoding('attributes'),
    latency: { help: 'for live input: write events as they come, instead of collecting some thousand', default: false },
    splitAddr: { help: 'write addresses as a stream of their own beside the rest, each compressed by itself, in one file', default: false },
    splitLevel: { help: 'with --split-addr, how hard to compress; 0 is not at all', default: 6, value: 'N', values: [...'0123456789'] },
  },
  sniff: (head) => formOf(head, true) === 'split' || sniff(head),
  decoder: (options) => new EitherDecoder(options),
  encoder: ({ splitAddr, splitLevel, ...options } = {}) => {
    const encoder = new HatfEncoder(options)
    if (splitAddr !== true) return encoder
    return new SplitEncoder(encoder, {
      // With those under baseOffset and delta among them, files are up to a fifth shorter.
      encoded: true,
      ...(splitLevel !== undefined && { level: splitLevel }),
      ...(options.latency === true && { blockBytes: 1 }),
    })
  },
}

/** The option that lays out one field in another way than the preset does. */
function encoding(field: keyof Strategies): OptionSpec {
  const help = `how to lay out the field ${field}, if not as the preset does`
  return { help, default: undefined, value: 'NAME', values: strategyNames(field) }
}
