import { withStrings, type StringsKernel } from '../../kernel/strings.js'
import type { LogExports } from '../../text/log-decoder.js'

/** The exports of kernel/ltrace.ts, which documents them. */
interface LtraceExports extends LogExports {
  begin(inner: boolean): void
  decode(from: number, end: number, capacity: number): number
  abandonAll(): number
}

/** The kernel and the strings in its memory. */
export type LtraceKernel = StringsKernel<LtraceExports>

/**
 * A kernel for one decoder: it keeps the calls that have not returned yet.
 * @param inner calls during a call are events, too
 */
export function ltraceKernel(inner: boolean): LtraceKernel {
  const kernel = withStrings<LtraceExports>('ltrace')
  kernel.run.begin(inner)
  return kernel
}
