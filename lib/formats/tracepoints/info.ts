import type { FormatInfo } from '../../event/format.js'
import type { ValueCheck } from '../../event/options.js'
import { LAST_LINE } from '../../text/last-line.js'

export const PAGE_SIZE: ValueCheck = {
  what: 'a power of two up to 2^30',
  is: (value) => typeof value === 'number' && value >= 1 && value <= 2 ** 30 && Number.isInteger(Math.log2(value)),
}

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
  optionChecks: { decode: { pageSize: PAGE_SIZE } },
}
