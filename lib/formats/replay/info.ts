import type { FormatInfo } from '../../event/format.js'

/** What commands tell of the format. */
export const info: FormatInfo = {
  name: 'replay',
  title: 'memory_replay',
  extensions: ['.replay', '.txt'],
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
