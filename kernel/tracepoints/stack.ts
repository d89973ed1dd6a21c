/** The stacks of events, and the events that wait for theirs. */

import { APART, FTRACE, MAX_FRAMES, MAX_LINE, MAX_STACK, PERF } from '../../lib/kernel/layouts/tracepoints'
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
/** What the trace has had so far: `APART`, `FTRACE` and `PERF`. */
export let seen: u32 = 0

/** The most events that wait for their stacks, and for how many further events. */
const MOST: u32 = 16
/** The numbers of these events, with this bit that of the next one for an event of another kind; and their lines. */
const OTHER: u32 = 0x8000_0000
const ROWS: usize = memory.data(64)
const LINES: usize = memory.data(64)
/** The number of events that wait. */
export let waiting: u32 = 0

/** Begins a piece. @param known what `seen` was */
export function beginStacks(known: u32): void {
  seen = known
  waiting = 0
}

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

/** Whether two lines, `COMM-PID [CPU] TIME: ...`, are of the same thread. */
function areOfOneThread(p: usize, event: usize): bool {
  return memory.compare(p, event, TASK_WIDTH) == 0
}

/** Whether a line, `COMM-PID [CPU] TIME: <stack trace>`, begins a stack. */
function isBegin(p: usize): bool {
  for (let q = findEither(p, LESS); load<u8>(q) != LF; q = findEither(q + 1, LESS))
    if (load<u64>(q + 1) == STACK_TR) return true
  return false
}

/**
 * Reads the lines of the stack from `p` on, if there are any. A string of a frame has the character before it, too,
 * with which no other string begins: a space, a tab or a line feed.
 * @param event the line of the event; 0 if the line that begins the stack was read
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
    const begins = frame == 0 && isShort && event != 0 && stackLines == 0 && areOfOneThread(p, event) && isBegin(p)
    if (begins) seen |= APART
    if (frame != 0) {
      seen |= load<u16>(frame) == ARROW ? FTRACE : PERF
      store<u32>(list + ((<usize>frames) << 2), intern(frame - 1, <u32>(lineEnd - frame + 1)))
      frames++
    }
    restoreEnd(lineEnd, lf)
    if (frame == 0 && !begins) return p
    stackLines++
    p = lf + 1
  }
  return isLast ? p : 0
}

/** Event `i`, in the line at `p`, waits for its stack, unless it has one. Those that have waited long do no more. */
export function awaitStack(i: u32, p: usize, hasStack: bool): void {
  if (waiting > 0 && (load<u32>(ROWS) & ~OTHER) + MOST <= i) forget(0)
  if ((seen & APART) != 0 && !hasStack) wait(i, p)
}

/**
 * The event whose stack a line begins, which waits no more; -1 if there is none. An event of another kind has the next
 * stack of its thread: that of the event before it, which an interrupt held up, comes later.
 * @param i the number of events so far
 */
export function eventOfStack(p: usize, i: u32): i32 {
  for (let n = <i32>waiting - 1; n >= 0; n--) {
    const at = (<usize>n) << 2
    if (!areOfOneThread(p, load<u32>(LINES + at))) continue
    if (!isBegin(p)) {
      wait(i | OTHER, p)
      return -1
    }
    const row = load<u32>(ROWS + at)
    forget(n)
    return row < OTHER ? <i32>row : -1
  }
  return -1
}

/** The first event that waits for its stack, or `count`, the number of events, if there is none. */
export function firstWaiting(count: u32): u32 {
  for (let n: usize = 0; n < waiting; n++) {
    const row = load<u32>(ROWS + (n << 2))
    if (row < OTHER) return row
  }
  return count
}

function wait(row: u32, p: usize): void {
  if (waiting == MOST) forget(0)
  const at = (<usize>waiting) << 2
  store<u32>(ROWS + at, row)
  store<u32>(LINES + at, <u32>p)
  waiting++
}

function forget(n: u32): void {
  waiting--
  const at = (<usize>n) << 2
  const rest = (<usize>(waiting - n)) << 2
  memory.copy(ROWS + at, ROWS + at + 4, rest)
  memory.copy(LINES + at, LINES + at + 4, rest)
}
