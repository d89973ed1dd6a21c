import type { FormatTraits } from '../../event/format.js'

/** What commands tell of the format. */
export const traits: FormatTraits = {
  name: 'ltrace',
  title: 'ltrace',
  extensions: ['.ltrace'],
  readOnly: true,
  binary: false,
  decodeOptions: {
    fold: {
      help: 'keep the calls that an allocator makes within a call as events of their own: operator new calls malloc',
      default: true,
    },
  },
  encodeOptions: {},
}
