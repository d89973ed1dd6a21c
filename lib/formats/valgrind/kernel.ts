import { instantiate, type Kernel } from '../../kernel/instance.js'
import type { Global } from '../../kernel/load.js'
import { KernelStrings, type StringsExports } from '../../kernel/strings.js'

/** The exports of kernel/valgrind.ts, which documents them. */
export interface ValgrindExports extends StringsExports {
  begin(): void
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
export interface ValgrindKernel extends Kernel<ValgrindExports> {
  readonly strings: KernelStrings
}

/** A kernel for one decoder: it keeps the calls that have no result yet. */
export function valgrindKernel(): ValgrindKernel {
  const kernel = instantiate<ValgrindExports>('valgrind')
  kernel.run.begin()
  return { ...kernel, strings: new KernelStrings(kernel.run) }
}
