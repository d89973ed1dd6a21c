import { LAST_LINE, type FormatInfo } from '../../event/format.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'hatf-ascii',
  title: 'HATF in ASCII',
  extensions: ['.hatf.txt'],
  binary: false,
  decodeOptions: LAST_LINE,
  encodeOptions: {},
}
