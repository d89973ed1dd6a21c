import type { FormatTraits } from '../../event/format.js'

/** What commands tell of the format. */
export const traits: FormatTraits = {
  name: 'replay',
  title: 'memory_replay',
  extensions: ['.replay', '.txt'],
  binary: false,
  decodeOptions: {},
  encodeOptions: {},
}
