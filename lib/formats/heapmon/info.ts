import type { FormatInfo } from '../../event/format.js'
import { LAST_LINE } from '../../text/last-line.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'heapmon',
  title: 'Taligent heap monitoring',
  extensions: ['.heapmon'],
  binary: false,
  hides: ['families'],
  decodeOptions: {
    ...LAST_LINE,
    skipBad: { help: 'report and count lines that fit no rule, instead of failing at the first', default: false },
  },
  encodeOptions: {
    headerRow: {
      help: 'write a header row even if the input had none',
      default: false,
    },
    separator: {
      help: 'separator of the columns (default: as in the input, else a tab)',
      default: undefined,
      value: 'KIND',
      values: ['tab', 'spaces'],
    },
  },
}
