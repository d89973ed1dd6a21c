import type { FormatInfo } from '../../event/format.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'arrow',
  title: 'Arrow',
  extensions: ['.arrows'],
  lossless: true,
  keepsBatches: true,
  binary: true,
  decodeOptions: {},
  encodeOptions: {},
}
