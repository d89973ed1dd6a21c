import type { FormatInfo } from '../../event/format.js'

/** What commands tell of the format. */
export const info: FormatInfo = {
  name: 'hatf-ascii',
  title: 'HATF in ASCII',
  extensions: ['.hatf.txt'],
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
