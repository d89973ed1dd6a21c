import type { FormatInfo } from '../../event/format.js'
import { LAST_LINE } from '../../text/last-line.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'ltrace',
  title: 'ltrace',
  extensions: ['.ltrace'],
  readOnly: true,
  binary: false,
  decodeOptions: {
    ...LAST_LINE,
    inner: {
      help: 'Also give the calls that an allocator makes within a call: operator new calls malloc',
      default: false,
    },
  },
  encodeOptions: {},
}
