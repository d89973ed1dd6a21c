import type { FormatTraits } from '../../event/format.js'

/** What commands tell of the format. */
export const traits: FormatTraits = {
  name: 'glibc-mtrace',
  title: "glibc's mtrace",
  extensions: ['.mtrace'],
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
