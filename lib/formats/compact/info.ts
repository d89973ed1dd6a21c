import type { FormatInfo } from '../../event/format.js'

/** What commands show of the format. */
export const info: FormatInfo = {
  name: 'compact',
  title: 'heapflow compact',
  extensions: ['.hfc'],
  lossless: true,
  binary: true,
  decodeOptions: {},
  encodeOptions: {},
}
