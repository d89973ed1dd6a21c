import { decodeText } from '../../event/strings.js'
import type { Format } from '../format.js'
import { HeapmonDecoder, type HeapmonDecodeOptions } from './decode.js'
import { HeapmonEncoder, type HeapmonEncodeOptions } from './encode.js'
import { CARRIED, NAME } from './layout.js'

export { HeapmonDecoder, type HeapmonDecodeOptions } from './decode.js'
export { HeapmonEncoder, type HeapmonEncodeOptions } from './encode.js'
export type { HeapmonLayout } from './layout.js'

/** The titles as far as a short head has them, or a line's columns up to its size. */
const FIRST_LINE =
  /^\s*(?:Thread[ \t]+Time[ \t]+of[ \t]+event[ \t]+Address\b|\d+-\d+[ \t]+(?:\d+[ \t]+0[xX][\da-fA-F]+[ \t]+(?:del|\d+)|old[ \t]+0[xX][\da-fA-F]+[ \t]+\d+)(?:\s|$))/

/** Taligent's heap monitoring files: text, one event per line, with types and stack crawls. */
export const heapmon: Format<HeapmonDecodeOptions, HeapmonEncodeOptions> = {
  name: NAME,
  title: 'Taligent heap monitoring',
  extensions: ['.heapmon'],
  binary: false,
  carried: CARRIED,
  writtenAs: { realloc: ['free', 'alloc'] },
  decodeOptions: {
    skipBad: { help: 'report and count lines that fit no rule, instead of failing at the first', default: false },
  },
  encodeOptions: {
    titles: { help: 'begin with the titles of the columns, even if the trace was read from a file without', default: false },
    separator: {
      help: 'what separates the columns; default: as in the file that the trace was read from, or a tab',
      default: undefined,
      value: 'KIND',
      values: ['tab', 'blanks'],
    },
  },
  sniff: (head) => FIRST_LINE.test(decodeText(head.subarray(0, 4096))),
  decoder: (options) => new HeapmonDecoder(options),
  encoder: (options) => new HeapmonEncoder(options),
}
