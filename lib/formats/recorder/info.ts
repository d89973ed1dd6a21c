import type { FormatInfo } from '../../event/format.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'recorder',
  title: "heapflow's recorder",
  extensions: ['.hfrec'],
  readOnly: true,
  binary: true,
  hides: ['failures', 'families'],
  decodeOptions: {},
  encodeOptions: {},
}
