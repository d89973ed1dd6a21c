import type { FormatInfo } from '../../event/format.js'
import { CHECKPOINT, ONE_LEVEL } from './options.js'

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
        'write a checkpoint every N events, at least 4096, with K or M for 1024 or 1048576 of them, and an index, so ' +
        'that readers can begin there (1M adds some percent)',
    },
    best: { help: 'the fewest bytes, at 0.1 to 1 million events per second; the default', default: false },
    fast: { help: 'up to half as many bytes more, in a third of the time', default: false },
  },
  optionChecks: {
    encode: { checkpoint: CHECKPOINT, level: ONE_LEVEL },
    conflict: ({ level, fast, best }) =>
      fast === true && (best === true || level === 2)
        ? `fast and ${best === true ? 'best' : 'level 2'} cannot be combined`
        : best === true && level === 1
          ? 'best and level 1 cannot be combined'
          : undefined,
  },
}
