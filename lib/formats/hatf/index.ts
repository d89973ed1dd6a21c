import { checked, type WritableFormat } from '../../event/format.js'
import type { HatfDecodeOptions } from './decode.js'
import { HatfEncoder, type HatfEncodeOptions } from './encode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { EitherDecoder } from './split/decode.js'
import { SplitEncoder } from './split/encode.js'
import { info } from './info.js'

export { HatfDecoder, type HatfDecodeOptions } from './decode.js'
export { HatfEncoder, type HatfEncodeOptions } from './encode.js'
export {
  PRESETS,
  strategiesOf,
  strategyNames,
  type Strategies,
  type StrategyName,
  type StrategyOptions,
} from './plan/strategies.js'
export { EitherDecoder, SplitDecoder } from './split/decode.js'
export { SplitEncoder } from './split/encode.js'
export { Joiner } from './split/join.js'
export { type PackOptions } from './split/pack.js'
export { Separator, type Piece } from './split/separate.js'
export { type HatfField, type SplitOptions } from './split/tracks.js'

/** Options of the format's encoder. */
export interface HatfFormatEncodeOptions extends HatfEncodeOptions {
  /** Write the single-file form, which stores addresses in a separate stream. Default false. */
  splitAddr?: boolean
  /** The deflate level of the streams of the single-file form: 1 to 9, or 0 for no compression. Default 6. */
  splitLevel?: number
}

/** HATF 1.0, the binary Heap Allocation Trace Format of Chilimbi, Jones and Zorn (ISMM 2000). */
export const hatf: WritableFormat<HatfDecodeOptions, HatfFormatEncodeOptions> = checked<
  HatfDecodeOptions,
  HatfFormatEncodeOptions
>({
  ...info,
  carried: CARRIED,
  writtenAs: { existing: ['alloc'] },
  sniff,
  decoder: (options) => new EitherDecoder(options),
  encoder: ({ splitAddr, splitLevel, ...options } = {}) => {
    const encoder = new HatfEncoder(options)
    if (splitAddr !== true) return encoder
    return new SplitEncoder(encoder, {
      // Including the addresses stored under baseOffset and delta makes files up to a fifth smaller.
      encoded: true,
      ...(splitLevel !== undefined && { level: splitLevel }),
      ...(options.latency === true && { blockBytes: 1 }),
    })
  },
})
