import { decodeText } from '../../event/strings.js'
import type { EncodeOptions, Format } from '../format.js'
import { ReplayDecoder } from './decode.js'
import { ReplayEncoder } from './encode.js'
import { CARRIED, NAME } from './layout.js'

export { ReplayDecoder } from './decode.js'
export { ReplayEncoder } from './encode.js'

/** A line's beginning up to its action; the head may end inside it, but not before the action can be told from prose. */
const FIRST_LINE = /^\s*-?\d+:[ \t]*(?:malloc|calloc|memalign|realloc|free|thread_done)[ \t]/

/** memory_replay: Android's text dumps of allocations, one per line. */
export const replay: Format = {
  name: NAME,
  title: 'memory_replay',
  extensions: ['.replay', '.txt'],
  binary: false,
  carried: CARRIED,
  writtenAs: { existing: ['alloc'] },
  decodeOptions: {},
  encodeOptions: {},
  sniff: (head) => FIRST_LINE.test(decodeText(head.subarray(0, 4096))),
  decoder: () => new ReplayDecoder(),
  encoder: (options?: EncodeOptions) => new ReplayEncoder(options),
}
