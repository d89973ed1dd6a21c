import type { Globals } from '../../kernel/load.js'
import { withStrings, type StringsKernel } from '../../kernel/strings.js'
import type { LogExports } from '../../text/log-decoder.js'

export { FTRACE, MAX_HELD, NO_STYLE, PERF, TICKS, TIME_WITHIN } from '../../kernel/layouts/tracepoints.js'

/** The exports of kernel/tracepoints.ts, which documents them. */
interface TracepointsExports
  extends
    LogExports,
    Globals<'isHeld' | 'isOpen' | 'stacks' | 'first' | 'unread' | 'firstUnread' | 'hidden' | 'style'> {
  decode(
    from: number,
    end: number,
    capacity: number,
    pageSize: bigint,
    knownStyle: number,
    knownStacks: number,
    isLast: boolean,
    ending: number,
  ): number
  isHeader(from: number): number
}

let kernel: StringsKernel<TracepointsExports> | undefined

/** The kernel that all decoders share: it keeps nothing from call to call. */
export function tracepointsKernel(): StringsKernel<TracepointsExports> {
  return (kernel ??= withStrings('tracepoints'))
}
