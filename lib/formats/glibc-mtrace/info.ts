import type { FormatInfo } from '../../event/format.js'
import { LAST_LINE } from '../../text/last-line.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'glibc-mtrace',
  title: "glibc's mtrace",
  extensions: ['.mtrace'],
  binary: false,
  decodeOptions: LAST_LINE,
  encodeOptions: {},
}
