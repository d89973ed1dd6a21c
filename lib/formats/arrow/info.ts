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
  encodeOptions: {
    groups: {
      help: 'Give all fields of groups, such as weight, columns, also where the first events have none',
      default: false,
    },
  },
}
