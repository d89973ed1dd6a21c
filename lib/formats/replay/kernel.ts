import { shared } from '../../kernel/instance.js'
import type { Global, KernelExports } from '../../kernel/load.js'

/** The exports of kernel/replay.ts, which documents them. */
interface ReplayKernel extends KernelExports {
  decode(from: number, end: number, capacity: number): number
  readonly position: Global
  readonly lines: Global
  readonly fields: Global
  readonly fault: Global
  readonly faultAt: Global

  encode(from: number, to: number, micros: boolean): number
  readonly written: Global
  readonly notes: Global
  readonly lineStart: Global
  readonly writtenAs: Global
}

export const replayKernel = shared<ReplayKernel>('replay')

/** The expected text, by the kernel's number for a fault. */
export const EXPECTED: readonly string[] = [
  '',
  'a line feed',
  'a thread id',
  'a colon',
  'a pointer and a size',
  'a pointer',
  'two pointers and a size',
  'a pointer and two sizes',
  'a pointer, an alignment and a size',
  'malloc, calloc, memalign, realloc, free or thread_done',
  'a time or the end of the line',
  'two times or the end of the line',
  'the resident bytes or the end of the line',
  'the end of the line',
]

/** The fault of a line that is too long. */
export const TOO_LONG = EXPECTED.length
/** The fault of a line that does not begin with the name of an action. */
export const NO_ACTION = 9
