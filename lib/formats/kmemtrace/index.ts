import { checked, type WritableFormat } from '../../event/format.js'
import { KmemtraceDecoder, type KmemtraceDecodeOptions } from './decode.js'
import { sniff } from './detect.js'
import { KmemtraceEncoder, type KmemtraceEncodeOptions } from './encode.js'
import { DEFAULT_LAYOUT, carriedBy } from './layout.js'
import { info } from './info.js'

/** kmemtrace: the Linux kernel's own allocations, as its tracer of 2008 to 2010 wrote them per CPU. */
export const kmemtrace: WritableFormat<KmemtraceDecodeOptions, KmemtraceEncodeOptions> = checked({
  ...info,
  carried: carriedBy(DEFAULT_LAYOUT.layout, false),
  sometimes: {
    fields: ['cpu', 'time'],
    when: 'cpu in files per CPU and in ftrace records, which have time too but no sequence',
  },
  writtenAs: { existing: ['alloc'], realloc: ['free', 'alloc'] },
  sniff,
  decoder: (options) => new KmemtraceDecoder(options),
  encoder: (options) => new KmemtraceEncoder(options),
})

export { KmemtraceDecoder, type KmemtraceDecodeOptions } from './decode.js'
export { KmemtraceEncoder, type KmemtraceEncodeOptions } from './encode.js'
