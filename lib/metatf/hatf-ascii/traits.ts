import type { FormatTraits } from '../../event/format.js'

/** What commands tell of the format. */
export const traits: FormatTraits = {
  name: 'hatf-ascii',
  title: 'HATF in ASCII',
  extensions: ['.hatf.txt'],
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
