import type { FormatInfo } from '../../event/format.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'mtrc',
  title: 'mpatrol MTRC',
  extensions: ['.mtrc'],
  binary: true,
  hides: ['failures'],
  decodeOptions: {
    resolve: {
      help: 'leave frees and reallocs without the address and size of their block; needs no memory for live blocks',
      default: true,
    },
  },
  encodeOptions: {},
}
