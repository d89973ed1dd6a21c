/** kmemtrace: `heapflow/kmemtrace`. */
import { kmemtrace as format } from '../formats/kmemtrace/index.js'
import { streamPair } from '../streams/pair.js'

export const {
  /** Bytes to events; see `StreamPair`. */
  decode,
  /** Events to bytes; see `StreamPair`. */
  encode,
} = streamPair(format)

export { format }
export * from '../formats/kmemtrace/index.js'
export type { KmemtraceLayout } from '../formats/kmemtrace/layout.js'
export { cpuOfPath, Overruns, PerCpu } from '../formats/kmemtrace/per-cpu.js'
export { perCpuFiles, type PerCpuFiles } from '../streams/per-cpu.js'
