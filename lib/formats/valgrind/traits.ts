import type { FormatTraits } from '../../event/format.js'

/** What commands tell of the format. */
export const traits: FormatTraits = {
  name: 'valgrind',
  title: 'valgrind --trace-malloc',
  extensions: ['.valgrind'],
  readOnly: true,
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
