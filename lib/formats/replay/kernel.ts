import { shared } from '../../kernel/instance.js'
import * as Layout from '../../kernel/layouts/replay.js'
import type { Globals, KernelExports } from '../../kernel/load.js'

/** The exports of kernel/replay.ts, which documents them. */
interface ReplayKernel
  extends
    KernelExports,
    Globals<'position' | 'lines' | 'fields' | 'fault' | 'faultAt' | 'written' | 'notes' | 'lineStart' | 'writtenAs'> {
  decode(from: number, end: number, capacity: number): number

  encode(from: number, to: number, micros: boolean): number
}

export const replayKernel = shared<ReplayKernel>('replay')

/** The expected text, by the kernel's number for a fault. */
export const EXPECTED: Readonly<Record<number, string>> = {
  [Layout.LINE_FEED]: 'a line feed',
  [Layout.THREAD_ID]: 'a thread id',
  [Layout.COLON]: 'a colon',
  [Layout.POINTER_AND_SIZE]: 'a pointer and a size',
  [Layout.POINTER]: 'a pointer',
  [Layout.POINTERS_AND_SIZE]: 'two pointers and a size',
  [Layout.POINTER_AND_SIZES]: 'a pointer and two sizes',
  [Layout.POINTER_ALIGNMENT_SIZE]: 'a pointer, an alignment and a size',
  [Layout.ACTION]: 'malloc, calloc, memalign, realloc, free or thread_done',
  [Layout.END_TIME_OR_END]: 'a time or the end of the line',
  [Layout.TIMES_OR_END]: 'two times or the end of the line',
  [Layout.PRESENT_OR_END]: 'the resident bytes or the end of the line',
  [Layout.END]: 'the end of the line',
}
