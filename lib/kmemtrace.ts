/** kmemtrace: `heapflow/kmemtrace`. */
import { kmemtrace as format } from './formats/kmemtrace/index.js'
import { streamPair } from './streams/pair.js'

export const {
  /** Bytes to events; see `StreamPair`. */
  decode,
  /** Events to bytes; see `StreamPair`. */
  encode,
} = streamPair(format)

export { format }
export * from './formats/kmemtrace/index.js'
export { cpuOfPath } from './formats/kmemtrace/per-cpu.js'
export { perCpuFiles, type PerCpuFiles } from './streams/per-cpu.js'
