import type { FormatInfo } from '../../event/format.js'

/** What commands tell of the format. */
export const info: FormatInfo = {
  name: 'valgrind',
  title: 'valgrind --trace-malloc',
  extensions: ['.valgrind'],
  readOnly: true,
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
