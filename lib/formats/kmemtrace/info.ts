import type { FormatInfo } from '../../event/format.js'
import type { ValueCheck } from '../../event/options.js'

/** The largest number of a CPU. */
export const MAX_CPU = 0x7fff_ffff

export const CPU: ValueCheck = {
  what: `a whole number from 0 to ${MAX_CPU}`,
  is: (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_CPU,
}

const LAYOUT = { value: 'LAYOUT', values: ['relay', 'ftrace'], default: undefined } as const
const ORDER = { value: 'ORDER', values: ['little', 'big'], default: undefined } as const
const WORD_SIZE = { value: 'N', values: ['4', '8'], default: 8 } as const

/** The facts about the format that commands show. */
export const info: FormatInfo = {
  name: 'kmemtrace',
  title: 'kmemtrace',
  extensions: ['.kmemtrace'],
  binary: true,
  decodeOptions: {
    layout: { ...LAYOUT, help: 'read records of this layout, whatever the first ones look like' },
    byteOrder: { ...ORDER, help: 'read records of this byte order, whatever the first ones look like' },
    wordSize: { ...WORD_SIZE, help: 'read ftrace records with a long of N bytes, whatever the first ones look like' },
  },
  optionChecks: {
    decode: { cpu: CPU },
    encode: { cpu: CPU },
    conflict: ({ layout, wordSize }) =>
      layout === 'relay' && Number(wordSize ?? 8) !== 8 ? 'wordSize cannot be 4 with layout relay' : undefined,
  },
  encodeOptions: {
    layout: { ...LAYOUT, help: 'write records of this layout (default: as the trace, else relay)' },
    byteOrder: { ...ORDER, help: 'write records of this byte order (default: as the trace, else little)' },
    wordSize: { ...WORD_SIZE, help: 'bytes of a long in ftrace records (default: as the trace, else 8)' },
  },
}
