import { instantiate, type Kernel } from '../../kernel/instance.js'
import type { Global } from '../../kernel/load.js'
import { KernelStrings, type StringsExports } from '../../kernel/strings.js'

/** The exports of kernel/ltrace.ts, which documents them. */
interface LtraceExports extends StringsExports {
  begin(inner: boolean): void
  decode(from: number, end: number, capacity: number): number
  readonly position: Global
  readonly lines: Global
  readonly fields: Global
  readonly skipped: Global
  readonly firstSkipped: Global
  readonly isLong: Global
  readonly isRefused: Global
  hasEvent(from: number, end: number): number
}

/** The kernel and the strings in its memory. */
export interface LtraceKernel extends Kernel<LtraceExports> {
  readonly strings: KernelStrings
}

/**
 * A kernel for one decoder: it keeps the calls that have not returned yet.
 * @param inner calls during a call are events, too
 */
export function ltraceKernel(inner: boolean): LtraceKernel {
  const kernel = instantiate<LtraceExports>('ltrace')
  kernel.run.begin(inner)
  return { ...kernel, strings: new KernelStrings(kernel.run) }
}
