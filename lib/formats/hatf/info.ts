import type { FormatInfo, OptionSpec } from '../../event/format.js'
import { DEFAULT_PRESET, PRESETS, strategyNames, type Strategies } from './plan/strategies.js'

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'hatf',
  title: 'HATF 1.0',
  extensions: ['.hatf'],
  binary: true,
  decodeOptions: {
    fold: { help: 'also give the alloc and free records that reallocs made, which then count twice', default: true },
  },
  encodeOptions: {
    attributes: {
      help: 'keep fields and events that HATF cannot represent, in attributes and comments',
      default: false,
    },
    preset: {
      help: 'field encoding: smallest output (best), or no lookahead (naive)',
      default: DEFAULT_PRESET,
      value: 'NAME',
      values: Object.keys(PRESETS),
    },
    sizeEncoding: encoding('size'),
    addressEncoding: encoding('address'),
    threadEncoding: encoding('thread'),
    heapEncoding: encoding('heap'),
    timeEncoding: encoding('time'),
    attributesEncoding: encoding('attributes'),
    latency: {
      help: 'for live input: write events as they arrive, instead of collecting some thousand',
      default: false,
    },
    splitAddr: {
      help: 'write addresses and the remainder as two streams in one file, compressed separately',
      default: false,
    },
    splitLevel: {
      help: 'with --split-addr: compression level, from 0 (none) to 9 (smallest)',
      default: 6,
      value: 'N',
      values: [...'0123456789'],
    },
  },
}

/** The option that chooses another strategy for one field. */
function encoding(field: keyof Strategies): OptionSpec {
  const help = `encoding of the field ${field}, instead of that of the preset`
  return { help, default: undefined, value: 'NAME', values: strategyNames(field) }
}
