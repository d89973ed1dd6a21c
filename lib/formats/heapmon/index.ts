import { checked, type WritableFormat } from '../../event/format.js'
import { HeapmonDecoder, type HeapmonDecodeOptions } from './decode.js'
import { HeapmonEncoder, type HeapmonEncodeOptions } from './encode.js'
import { CARRIED } from './layout.js'
import { sniff } from './sniff.js'
import { info } from './info.js'

export { HeapmonDecoder, type HeapmonDecodeOptions } from './decode.js'
export { HeapmonEncoder, type HeapmonEncodeOptions } from './encode.js'
export type { HeapmonLayout } from './layout.js'

/** Taligent's heap monitoring files: text, one event per line, with types and stack crawls. */
export const heapmon: WritableFormat<HeapmonDecodeOptions, HeapmonEncodeOptions> = checked({
  ...info,
  carried: CARRIED,
  writtenAs: { realloc: ['free', 'alloc'] },
  sniff,
  decoder: (options) => new HeapmonDecoder(options),
  encoder: (options) => new HeapmonEncoder(options),
})
