/** kmemtrace: `heapflow/kmemtrace`. */
import { kmemtrace as format } from '../formats/kmemtrace/index.js'
import { formatStreams } from '../streams/format-streams.js'

/** Bytes to events, and events to bytes; see `FormatStreams`. */
export const { decode, encode } = formatStreams(format)

export { format }
export * from '../formats/kmemtrace/index.js'
export type { KmemtraceLayout } from '../formats/kmemtrace/layout.js'
export { cpuOfPath, Overruns, PerCpu } from '../formats/kmemtrace/per-cpu.js'
export { perCpuFiles, type PerCpuFiles } from '../streams/per-cpu.js'
