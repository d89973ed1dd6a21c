import type { FormatInfo } from '../../event/format.js'
import { LAST_LINE } from '../../text/last-line.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'hatf-ascii',
  title: 'HATF in ASCII',
  extensions: ['.hatf.txt'],
  binary: false,
  decodeOptions: LAST_LINE,
  encodeOptions: {},
}
