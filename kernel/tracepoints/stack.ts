/** The stack after an event. */

import { MAX_FRAMES, MAX_LINE, MAX_STACK } from '../../lib/kernel/layouts/tracepoints'
import { endOfLine, findEither, findLf, LF, restoreEnd } from '../shared/lines'
import { hex } from '../shared/numbers'
import { intern, nextList } from '../shared/strings'
import { CLOSE, NUMBER, SPACE } from './scan'

const TAB: u8 = 0x09
const LESS: u8 = 0x3c
/** `=>` */
const ARROW: u16 = 0x3e3d
/** `stack tr` */
const STACK_TR: u64 = 0x7274_206b_6361_7473
/** The columns of a command in perf script, and the least width of command and thread in ftrace and trace-cmd. */
const COMMAND_WIDTH: usize = 16
const TASK_WIDTH: usize = 22

/** The number of lines that were read, and of frames, whose strings are at the place of the next list. */
export let stackLines: u32 = 0
export let frames: u32 = 0

/** The frame in a line, or 0: ftrace's `=> kfree`, or perf's `\tffffffff8162e91f kfree+0x20f ([kernel.kallsyms])`. */
function frameAt(p: usize, end: usize): usize {
  let q = p
  while (load<u8>(q) == SPACE || load<u8>(q) == TAB) q++
  if (load<u16>(q) == ARROW) return load<u8>(q + 2) == SPACE ? q : 0
  const after = hex(q, NUMBER)
  if (q == p || after == 0 || load<u8>(after) != SPACE) return 0
  // A command such as `dd` is in the first columns. Tabs may have become spaces.
  return load<u8>(p) == TAB || (after - p > COMMAND_WIDTH && load<u8>(end - 1) == CLOSE) ? q : 0
}

/** Whether a line, `COMM-PID [CPU] TIME: <stack trace>`, begins the stack of an event of the same thread. */
function isBegin(p: usize, event: usize): bool {
  if (memory.compare(p, event, TASK_WIDTH) != 0) return false
  for (let q = findEither(p, LESS); load<u8>(q) != LF; q = findEither(q + 1, LESS))
    if (load<u64>(q + 1) == STACK_TR) return true
  return false
}

/**
 * Reads the lines of the stack from `p` on, if there are any. A string of a frame has the character before it, too,
 * with which no other string begins: a space, a tab or a line feed.
 * @param event the line of the event
 * @param isLast no lines follow `end`
 * @returns the position after the stack, or 0 if it may go on after `end`
 */
export function readStack(event: usize, p: usize, end: usize, isLast: bool): usize {
  const limit = p + MAX_STACK
  const list = nextList()
  stackLines = 0
  frames = 0
  while (p < end) {
    const lf = findLf(p)
    const lineEnd = endOfLine(p, lf)
    const isShort = lineEnd - p < MAX_LINE && lineEnd <= limit && frames < MAX_FRAMES
    const frame = isShort ? frameAt(p, lineEnd) : 0
    const isRead = frame != 0 || (isShort && stackLines == 0 && isBegin(p, event))
    if (frame != 0) {
      store<u32>(list + ((<usize>frames) << 2), intern(frame - 1, <u32>(lineEnd - frame + 1)))
      frames++
    }
    restoreEnd(lineEnd, lf)
    if (!isRead) return p
    stackLines++
    p = lf + 1
  }
  return isLast ? p : 0
}
