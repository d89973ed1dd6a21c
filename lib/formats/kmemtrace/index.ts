import type { Format } from '../format.js'
import { KmemtraceDecoder, type KmemtraceDecodeOptions } from './decode.js'
import { sniff } from './detect.js'
import { KmemtraceEncoder, type KmemtraceEncodeOptions } from './encode.js'
import { DEFAULT_LAYOUT, FORMAT, carriedBy } from './layout.js'

const LAYOUT = { value: 'LAYOUT', values: ['relay', 'ftrace'], default: undefined } as const
const ORDER = { value: 'ORDER', values: ['little', 'big'], default: undefined } as const

/** kmemtrace: the Linux kernel's own allocations, as its tracer of 2008 to 2010 wrote them per CPU. */
export const kmemtrace: Format<KmemtraceDecodeOptions, KmemtraceEncodeOptions> = {
  name: FORMAT,
  title: 'kmemtrace',
  extensions: ['.kmemtrace'],
  binary: true,
  carried: carriedBy(DEFAULT_LAYOUT.layout, false),
  sometimes: { fields: ['cpu', 'time'], when: 'cpu in files per CPU and in ftrace records, which have time too but no sequence' },
  writtenAs: { existing: ['alloc'], realloc: ['free', 'alloc'] },
  decodeOptions: {
    layout: { ...LAYOUT, help: 'read records of this layout, whatever the first ones look like' },
    byteOrder: { ...ORDER, help: 'read records of this byte order, whatever the first ones look like' },
  },
  encodeOptions: {
    layout: { ...LAYOUT, help: 'write records of this layout (default: as the trace, else relay)' },
    byteOrder: { ...ORDER, help: 'write records of this byte order (default: as the trace, else little)' },
    wordSize: {
      help: 'bytes of a long in ftrace records (default: as the trace, else 8)',
      value: 'N',
      values: ['4', '8'],
      default: 8,
    },
  },
  sniff,
  decoder: (options) => new KmemtraceDecoder(options),
  encoder: (options) => new KmemtraceEncoder(options),
}

export { KmemtraceDecoder, type KmemtraceDecodeOptions } from './decode.js'
export { KmemtraceEncoder, type KmemtraceEncodeOptions } from './encode.js'
