import type { FormatTraits } from '../../event/format.js'

/** The facts about the format that commands show. */
export const traits: FormatTraits = {
  name: 'heapmon',
  title: 'Taligent heap monitoring',
  extensions: ['.heapmon'],
  binary: false,
  decodeOptions: {
    skipBad: { help: 'report and count lines that fit no rule, instead of failing at the first', default: false },
  },
  encodeOptions: {
    titles: {
      help: 'begin with the titles of the columns, even if the trace was read from a file without',
      default: false,
    },
    separator: {
      help: 'what separates the columns; default: as in the file that the trace was read from, or a tab',
      default: undefined,
      value: 'KIND',
      values: ['tab', 'blanks'],
    },
  },
}
