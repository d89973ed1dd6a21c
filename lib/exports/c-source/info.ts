import type { FormatInfo } from '../../event/format.js'
import { ORDERS } from '../../transforms/drive/layout.js'

/** The facts about C source that commands show. */
export const info: FormatInfo = {
  name: 'c',
  title: 'C source',
  extensions: ['.c'],
  binary: false,
  decodeOptions: {},
  encodeOptions: {
    order: {
      help: 'between threads, keep the order of epochs of 1000 events, of lifetimes only, or of all events',
      default: 'epochs',
      values: ORDERS,
      value: 'HOW',
    },
  },
}
