import type { Global, Globals } from '../../kernel/load.js'
import { withStrings, type StringsExports, type StringsKernel } from '../../kernel/strings.js'

export { CUT, MORE_LINES, NO_LINES, TOO_FAR, TOO_LONG } from '../../kernel/layouts/glibc-mtrace.js'

/** The exports of kernel/glibc-mtrace.ts, which documents them. */
interface MtraceExports
  extends StringsExports, Globals<'position' | 'lines' | 'fields' | 'odd' | 'firstOdd' | 'fault' | 'isHalf'> {
  readonly INPUT: Global
  decode(from: number, end: number, capacity: number, behind: number, isCut: boolean, takesHalf: boolean): number
}

/** The kernel and the strings in its memory. */
export type MtraceKernel = StringsKernel<MtraceExports>

/** A new instance of the kernel. */
export function newMtraceKernel(): MtraceKernel {
  return withStrings('glibc-mtrace')
}

let kernel: MtraceKernel | undefined

/** The kernel that all decoders share: it keeps nothing from call to call. */
export function mtraceKernel(): MtraceKernel {
  return (kernel ??= newMtraceKernel())
}
