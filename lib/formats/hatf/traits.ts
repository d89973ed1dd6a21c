import type { FormatTraits, OptionSpec } from '../../event/format.js'
import { DEFAULT_PRESET, PRESETS, strategyNames, type Strategies } from './plan/strategies.js'

/** The facts about the format that commands show. */
export const traits: FormatTraits = {
  name: 'hatf',
  title: 'HATF 1.0',
  extensions: ['.hatf'],
  binary: true,
  decodeOptions: {
    fold: { help: 'also give the alloc and free records that reallocs made, which then count twice', default: true },
  },
  encodeOptions: {
    attributes: {
      help: 'keep fields and events that HATF has no place for, in attributes and comments',
      default: false,
    },
    preset: {
      help: 'how to lay out fields: for the fewest bytes, or without looking ahead',
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
    latency: { help: 'for live input: write events as they come, instead of collecting some thousand', default: false },
    splitAddr: {
      help: 'write addresses as a stream of their own beside the rest, each compressed by itself, in one file',
      default: false,
    },
    splitLevel: {
      help: 'with --split-addr, how hard to compress; 0 is not at all',
      default: 6,
      value: 'N',
      values: [...'0123456789'],
    },
  },
}

/** The option that chooses another strategy for one field. */
function encoding(field: keyof Strategies): OptionSpec {
  const help = `how to lay out the field ${field}, if not as the preset does`
  return { help, default: undefined, value: 'NAME', values: strategyNames(field) }
}
