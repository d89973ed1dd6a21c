import type { FormatInfo } from '../../event/format.js'

/** What commands tell of the format. */
export const info: FormatInfo = {
  name: 'arrow',
  title: 'Arrow',
  extensions: ['.arrows'],
  lossless: true,
  keepsBatches: true,
  binary: true,
  decodeOptions: {},
  encodeOptions: {},
}
