/** The stacks of events, and the events that wait for theirs. */

import { APART, FTRACE, MAX_FRAMES, MAX_LINE, MAX_STACK, PERF } from '../../lib/kernel/layouts/tracepoints'
import { endOfLine, findEither, findLf, LF, restoreEnd } from '../shared/lines'
import { decimal, hex } from '../shared/numbers'
import { intern, nextList } from '../shared/strings'
import { BRACKET, CLOSE, CLOSING_BRACKET, DASH, NUMBER, skipSpaces, SPACE } from './scan'

const TAB: u8 = 0x09
const LESS: u8 = 0x3c
const GREATER: u8 = 0x3e
/** `=>` */
const ARROW: u16 = 0x3e3d
/** `stack tr` */
const STACK_TR: u64 = 0x7274_206b_6361_7473
/** `user sta` */
const USER_STA: u64 = 0x6174_7320_7265_7375
const OF_KERNEL: u32 = 1
const OF_PROGRAM: u32 = 2
/** The columns of a command in perf script, and the most bytes of thread and CPU. */
const COMMAND_WIDTH: usize = 16
const MOST_OWNER: usize = 96

/** The number of lines that were read, and of frames, whose strings are at the place of the next list. */
export let stackLines: u32 = 0
export let frames: u32 = 0
/** The line after the stack that was read last, and its line feed. */
export let nextLine: usize = 0
export let nextEnd: usize = 0
/** What the trace has had so far: `APART`, `FTRACE` and `PERF`. */
export let seen: u32 = 0

/** What had been read before a line. */
@unmanaged
class Place {
  /** The line. */
  line: u32
  /** The numbers of events and lines, of skipped and of unread lines, and of events without an address. */
  events: u32
  lines: u32
  skipped: u32
  unread: u32
  hidden: u32
  /** The length of the thread and the CPU at the beginning of the line. */
  owner: u32
  /** `WAITS`, `OTHER` or `DONE`; then also the line that begins the stack. */
  state: u32
  stack: u32
}

/** The event waits; one of another kind does, which is not read; the stack was read, and others wait. */
const WAITS: u32 = 0
const OTHER: u32 = 1
const DONE: u32 = 2

/** The most events that wait for their stacks, and for how many further events. */
const MOST: u32 = 16
const BYTES: u32 = 36
const PLACES: usize = memory.data(612)
/** The number of events that wait, and of those after the first that do no more. */
export let waiting: u32 = 0
/** The line that is read, which follows the others. */
const NOW: u32 = 16

function placeAt(n: u32): Place {
  return changetype<Place>(PLACES + n * BYTES)
}

/** Where to read again for the first event that waits. */
export function firstPlace(): Place {
  return placeAt(0)
}

/** Begins a line, before which so much was read. */
export function beginLine(line: usize, events: u32, lines: u32, skipped: u32, unread: u32, hidden: u32): void {
  const now = placeAt(NOW)
  now.line = <u32>line
  now.events = events
  now.lines = lines
  now.skipped = skipped
  now.unread = unread
  now.hidden = hidden
}

/** Begins a piece. @param known what `seen` was */
export function beginStacks(known: u32): void {
  seen = known
  nextLine = 0
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

/**
 * The length of the beginning of a line that says on which CPU which thread was: `COMM-PID [CPU]`, or with the option
 * `latency-format` `COMM-PID CPU`; 0 if there is none.
 */
function ownerLength(p: usize): u32 {
  let latency: usize = 0
  for (let q = p; q < p + MOST_OWNER && load<u8>(q) != LF; q++) {
    const c = load<u8>(q)
    if (c == BRACKET) {
      const after = decimal(q + 1, NUMBER)
      if (after != 0 && load<u8>(after) == CLOSING_BRACKET) return bounded(after + 1 - p)
    } else if (c == DASH && latency == 0) {
      const after = decimal(q + 1, NUMBER)
      if (after != 0 && load<u8>(after) == SPACE) latency = decimal(skipSpaces(after), NUMBER)
    }
  }
  return latency == 0 ? 0 : bounded(latency - p)
}

/** A length, or 0 if it is longer than what may be read beyond a line. */
function bounded(length: usize): u32 {
  return length > MOST_OWNER ? 0 : <u32>length
}

/** Whether a line is of the thread and the CPU of an event that waits. */
function isOfOwner(p: usize, place: Place): bool {
  return place.owner != 0 && memory.compare(p, place.line, place.owner) == 0
}

/** Whether a line is of the thread and the CPU of the line that is read. */
function isOfNow(p: usize): bool {
  const now = placeAt(NOW)
  now.owner = ownerLength(now.line)
  return isOfOwner(p, now)
}

/** Whether a line, `COMM-PID [CPU] TIME: <stack trace>`, begins a stack of the kernel, or of the program. */
function beginningAt(p: usize, end: usize): u32 {
  if (end == p || load<u8>(end - 1) != GREATER) return 0
  for (let q = findEither(p, LESS); load<u8>(q) != LF; q = findEither(q + 1, LESS)) {
    if (load<u64>(q + 1) == STACK_TR) return OF_KERNEL
    if (load<u64>(q + 1) == USER_STA) return OF_PROGRAM
  }
  return 0
}

/**
 * Whether a line is of the stack of another event, or of the program, if stacks are apart. It may also be of an event
 * that was given before, because lines are read again for those that wait.
 */
export function isOfStack(p: usize, lineEnd: usize): bool {
  return (seen & APART) != 0 && (frameAt(p, lineEnd) != 0 || beginningAt(p, lineEnd) != 0)
}

/**
 * Reads the lines of the stack from `p` on, if there are any. A string of a frame begins with a line feed, with which
 * no other string begins.
 * @param isEvent the line before is that of the event, and not that which begins the stack
 * @param isLast no lines follow `end`
 * @returns the position after the stack, or 0 if it may go on after `end`
 */
export function readStack(isEvent: bool, p: usize, end: usize, isLast: bool): usize {
  const limit = p + MAX_STACK
  const list = nextList()
  stackLines = 0
  frames = 0
  while (p < end) {
    const lf = findLf(p)
    const lineEnd = endOfLine(p, lf)
    const isShort = lineEnd - p < MAX_LINE && lineEnd <= limit && frames < MAX_FRAMES
    const frame = isShort ? frameAt(p, lineEnd) : 0
    const begins =
      frame == 0 && isShort && isEvent && stackLines == 0 && beginningAt(p, lineEnd) == OF_KERNEL && isOfNow(p)
    if (begins) seen |= APART
    if (frame != 0) {
      seen |= load<u16>(frame) == ARROW ? FTRACE : PERF
      const before = load<u8>(frame - 1)
      store<u8>(frame - 1, LF)
      store<u32>(list + ((<usize>frames) << 2), intern(frame - 1, <u32>(lineEnd - frame + 1)))
      store<u8>(frame - 1, before)
      frames++
    }
    restoreEnd(lineEnd, lf)
    if (frame == 0 && !begins) {
      nextLine = p
      nextEnd = lf
      return p
    }
    stackLines++
    p = lf + 1
  }
  return isLast ? p : 0
}

/** The event of the line that is read waits for its stack, unless it has one. Those that have waited long stop. */
export function awaitStack(hasStack: bool): void {
  if (waiting > 0 && placeAt(0).events + MOST <= placeAt(NOW).events) forgetFirst()
  if ((seen & APART) != 0 && !hasStack) wait(WAITS)
}

/**
 * The event whose stack the line that is read begins, which waits no more; -1 if there is none. An event of another
 * kind has the next stack of its thread: that of the event before it, which an interrupt held up, comes later.
 */
export function eventOfStack(lineEnd: usize): i32 {
  const p = placeAt(NOW).line
  for (let n = <i32>waiting - 1; n >= 0; n--) {
    const place = placeAt(n)
    if (place.state == DONE || !isOfOwner(p, place)) continue
    const beginning = beginningAt(p, lineEnd)
    if (beginning == 0) wait(OTHER)
    if (beginning != OF_KERNEL) return -1
    found = <u32>n
    if (place.state == WAITS) return <i32>place.events
    endWait()
    return -1
  }
  if ((seen & APART) == 0 && beginningAt(p, lineEnd) == OF_KERNEL) seen |= APART
  return -1
}

let found: u32 = 0

/** The stack of the event that `eventOfStack` found was read. */
export function endWait(): void {
  const place = placeAt(found)
  place.state = DONE
  place.stack = placeAt(NOW).line
  while (waiting > 0 && placeAt(waiting - 1).state == DONE) waiting--
}

/** The first event that waits for its stack, or `count`, the number of events, if there is none. */
export function firstWaiting(count: u32): u32 {
  for (let n: u32 = 0; n < waiting; n++) if (placeAt(n).state == WAITS) return placeAt(n).events
  return count
}

function wait(state: u32): void {
  if (waiting == MOST) forgetFirst()
  const now = placeAt(NOW)
  now.owner = ownerLength(now.line)
  now.state = state
  memory.copy(PLACES + waiting * BYTES, PLACES + NOW * BYTES, BYTES)
  waiting++
}

/**
 * The first event waits no more. If its stack was read, neither do those in lines before that stack, because it is not
 * read again.
 */
export function forgetFirst(): void {
  const stack = placeAt(0).state == DONE ? placeAt(0).stack : 0
  do {
    waiting--
    memory.copy(PLACES, PLACES + BYTES, waiting * BYTES)
  } while (waiting > 0 && placeAt(0).line < stack)
}
