import type { FormatInfo } from '../../event/format.js'
import { LAST_LINE } from '../../text/last-line.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'heaptrack',
  title: 'heaptrack',
  extensions: ['.heaptrack', '.heaptrack.raw', '.raw'],
  binary: false,
  hides: ['failures'],
  decodeOptions: LAST_LINE,
  encodeOptions: {
    interpreted: {
      help:
        'Write a raw trace as an interpreted one, which heaptrack_print and heaptrack_gui open; functions have no ' +
        'names then',
      default: false,
    },
  },
}
