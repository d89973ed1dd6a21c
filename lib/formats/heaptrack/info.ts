import type { FormatInfo } from '../../event/format.js'

/** What commands tell of the format. */
export const info: FormatInfo = {
  name: 'heaptrack',
  title: 'heaptrack',
  extensions: ['.heaptrack', '.heaptrack.raw'],
  binary: false,
  decodeOptions: {},
  encodeOptions: {
    interpreted: {
      help:
        'Write a raw trace as an interpreted one, which heaptrack_print and heaptrack_gui open; functions have no ' +
        'names then',
      default: false,
    },
  },
}
