import type { FormatInfo } from '../../event/format.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'compact',
  title: 'heapflow compact',
  extensions: ['.hfc'],
  lossless: true,
  binary: true,
  decodeOptions: {},
  encodeOptions: {
    checkpoint: {
      value: 'N',
      default: undefined,
      help:
        'write a checkpoint every N events, with K or M for 1024 or 1048576 of them, and an index, so that readers ' +
        'can begin there (1M adds some percent)',
    },
  },
}
