import { withStrings, type StringsKernel } from '../../kernel/strings.js'
import type { LogExports } from '../../text/log-decoder.js'

/** The exports of kernel/valgrind.ts, which documents them. */
interface ValgrindExports extends LogExports {
  begin(): void
  decode(from: number, end: number, capacity: number): number
  isMessage(from: number): number
}

/** The kernel and the strings in its memory. */
export type ValgrindKernel = StringsKernel<ValgrindExports>

/** A kernel for one decoder: it keeps the calls that have no result yet. */
export function valgrindKernel(): ValgrindKernel {
  const kernel = withStrings<ValgrindExports>('valgrind')
  kernel.run.begin()
  return kernel
}
