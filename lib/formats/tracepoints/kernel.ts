import { instantiate, type Kernel } from '../../kernel/instance.js'
import type { Global } from '../../kernel/load.js'
import { KernelStrings, type StringsExports } from '../../kernel/strings.js'

export { NO_STYLE, TICKS, TIME_WITHIN } from '../../kernel/layouts/tracepoints.js'

/** The exports of kernel/tracepoints.ts, which documents them. */
interface TracepointsExports extends StringsExports {
  decode(from: number, end: number, capacity: number, pageSize: bigint, knownStyle: number): number
  readonly position: Global
  readonly first: Global
  readonly lines: Global
  readonly fields: Global
  readonly skipped: Global
  readonly firstSkipped: Global
  readonly unread: Global
  readonly firstUnread: Global
  readonly style: Global
  readonly isLong: Global
  readonly isRefused: Global
  hasEvent(from: number, end: number): number
  isHeader(from: number): number
}

/** The kernel and the strings in its memory. */
interface TracepointsKernel extends Kernel<TracepointsExports> {
  readonly strings: KernelStrings
}

let kernel: TracepointsKernel | undefined

/** The kernel that all decoders share: it keeps nothing from call to call. */
export function tracepointsKernel(): TracepointsKernel {
  if (kernel === undefined) {
    const made = instantiate<TracepointsExports>('tracepoints')
    kernel = { ...made, strings: new KernelStrings(made.run) }
  }
  return kernel
}
