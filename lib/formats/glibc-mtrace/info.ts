import type { FormatInfo } from '../../event/format.js'

/** What commands tell of the format. */
export const info: FormatInfo = {
  name: 'glibc-mtrace',
  title: "glibc's mtrace",
  extensions: ['.mtrace'],
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
