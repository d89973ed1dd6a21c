import type { FormatInfo } from '../../event/format.js'
import { LAST_LINE } from '../../text/last-line.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'tracepoints',
  title: 'Linux kmem tracepoints as text',
  extensions: ['.tracepoints'],
  readOnly: true,
  binary: false,
  decodeOptions: {
    ...LAST_LINE,
    pageSize: {
      help: 'bytes of a page of the kernel that was traced: addresses and sizes of pages are multiples of it',
      default: 4096,
      value: 'BYTES',
    },
  },
  encodeOptions: {},
}
