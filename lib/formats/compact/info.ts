import type { FormatInfo } from '../../event/format.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'compact',
  title: 'heapflow compact',
  extensions: ['.hfc'],
  lossless: true,
  binary: true,
  decodeOptions: {},
  encodeOptions: {},
}
