import type { FormatInfo } from '../../event/format.js'
import { LAST_LINE } from '../../text/last-line.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'replay',
  title: 'memory_replay',
  extensions: ['.replay', '.txt'],
  binary: false,
  hides: ['families'],
  decodeOptions: LAST_LINE,
  encodeOptions: {},
}
