/** Linux kmem tracepoints as text: lines to columns. See lib/formats/tracepoints. */

import { KERNEL_INPUT } from '../lib/kernel/layouts/input'
import { BATCH_STRING_BYTES } from '../lib/event/limits'
import { FTRACE, MAX_HELD, MAX_LINE, MAX_STACK, NO_STYLE, TIME_WITHIN } from '../lib/kernel/layouts/tracepoints'
import * as Column from './shared/columns'
import { HAS_ADDRESS, HAS_COUNT, HAS_CPU, HAS_FIELDS, HAS_STACK, KIND_LOST } from './shared/event'
import { cutLine, endOfLine, findEither, findLf, joinLine, LF, restoreEnd } from './shared/lines'
import { decimal } from './shared/numbers'
import { clearStrings, internList, stringsFull } from './shared/strings'
import { fieldsText } from './tracepoints/fields'
import { readCpu, readHead, setStyle, style } from './tracepoints/head'
import { api, isUntimed, kind, textAt, timeEnd } from './tracepoints/name'
import { NUMBER, skipSpaces, SLASH } from './tracepoints/scan'
import * as Stack from './tracepoints/stack'
import { readValues } from './tracepoints/values'

export {
  ADDRESS,
  API,
  CALL_SITE,
  CPU,
  ELEMENTS,
  FIELDS,
  FUNCTION,
  GFP_FLAGS,
  KIND,
  MASK,
  MODULE,
  NODE,
  SIZE,
  STACK,
  THREAD,
  TIME,
  TYPE,
  USABLE,
} from './shared/columns'
export { LISTED, listed, LISTS, lists, setSeed, STARTS, stringBytes, STRINGS, strings } from './shared/strings'

/** The text to read: 262144 bytes, followed by room for what readers examine beyond a line. */
export const INPUT: usize = memory.data(KERNEL_INPUT + 96)

export { style }
/** One past the last line that was read. */
export let position: usize = 0
/** The start of the line with the first event that was read. */
export let first: usize = 0
/** The number of lines that were read. */
export let lines: u32 = 0
/** The fields of all events together. */
export let fields: u32 = 0
/** The number of lines that are not events, without headers, and the number of the first. */
export let skipped: u32 = 0
export let firstSkipped: u32 = 0
/** The number of lines with an event in a layout that cannot be told from others, and the number of the first. */
export let unread: u32 = 0
export let firstUnread: u32 = 0
/** The number of events that were read without an address, because the kernel hid it. */
export let hidden: u32 = 0
/** No line was read, because the stack of the first event may go on after the lines. */
export let isHeld: bool = false
/** What stacks the lines that were read had, and those before them: `APART`, `FTRACE` and `PERF`. */
export let stacks: u32 = 0
/** The last events were not read, because the stack of the first of them goes on after the end. */
export let isOpen: bool = false
/** The text has no line feed. */
export let isLong: bool = false
/** The line after the last that was read has an event and is too long. */
export let isRefused: bool = false

const P: u8 = 0x50

/**
 * `CPU:1 [LOST 1705 EVENTS]`, trace-cmd's `CPU:1 [1705 EVENTS DROPPED]`, both perhaps without the number; the header's
 * `# entries-in-buffer/entries-written: 178/1883`; or perf script's `...: PERF_RECORD_LOST lost 1705`.
 */
function readLost(p: usize, i: u32): u32 {
  const wide = (<usize>i) << 3
  if (load<u32>(p) == 0x3a55_5043) {
    let q = decimal(p + 4, NUMBER)
    if (q == 0 || load<u16>(q) != 0x5b20 || !readCpu(p + 4, q, i)) return 0
    q = skipSpaces(load<u32>(q + 2) == 0x5453_4f4c ? q + 6 : q + 2)
    const after = decimal(q, Column.ELEMENTS + wide)
    if (after != 0) q = skipSpaces(after)
    if (load<u32>(q) != 0x4e45_5645 || load<u32>(q + 2) != 0x5354_4e45) return 0
    return after == 0 ? HAS_CPU : HAS_CPU | HAS_COUNT
  }
  for (let q = findEither(p, P); load<u8>(q) != LF; q = findEither(q + 1, P)) {
    if (load<u64>(q) != 0x4345_525f_4652_4550 || load<u64>(q + 8) != 0x5453_4f4c_5f44_524f) continue
    if ((load<u64>(q + 16) & 0xffff_ffff_ffff) != 0x2074_736f_6c20) return 0
    return decimal(q + 22, Column.ELEMENTS + wide) == 0 ? 0 : HAS_COUNT
  }
  // All of the words, so that nothing is read beyond the end of a shorter line.
  if (load<u64>(p) != 0x6569_7274_6e65_2023 || load<u64>(p + 8) != 0x6675_622d_6e69_2d73) return 0
  if (load<u64>(p + 16) != 0x7274_6e65_2f72_6566 || load<u64>(p + 24) != 0x7469_7277_2d73_6569) return 0
  if (load<u32>(p + 32) != 0x3a6e_6574) return 0
  const after = decimal(skipSpaces(p + 36), NUMBER)
  if (after == 0 || load<u8>(after) != SLASH) return 0
  const inBuffer = load<u64>(NUMBER)
  if (decimal(after + 1, NUMBER) == 0 || load<u64>(NUMBER) <= inBuffer) return 0
  store<u64>(Column.ELEMENTS + wide, load<u64>(NUMBER) - inBuffer)
  return HAS_COUNT
}

/** Whether a line belongs to the header of a report, or is empty or a remark, and is not counted as skipped. */
export function isHeader(p: usize): bool {
  const c = load<u8>(p)
  if (c == LF || c == 0x23) return true
  // cpus=2, version = 7, CPU 3 is empty
  return load<u32>(p) == 0x7375_7063 || load<u64>(p) == 0x206e_6f69_7372_6576 || load<u32>(p) == 0x2055_5043
}

/**
 * Whether there is an event in a line over the limit, of which the part before `end` is known.
 * Only the first `MAX_LINE` bytes count, so that it does not matter how much of a line has arrived.
 */
export function hasEvent(p: usize, end: usize): bool {
  end = min(end, p + MAX_LINE)
  cutLine(end)
  const found = timeEnd(p) != 0
  joinLine(end)
  return found
}

/** Whether nothing was read for good: the first line has an event that waits for its stack, or whose stack goes on. */
function resumes(start: usize, p: usize, goesOn: bool): bool {
  return Stack.waiting > 0 ? Stack.firstPlace().line == start : goesOn && p == start
}

/**
 * Reads whole lines from `p` to `end` until there are `capacity` events or the lines are used up; or until no time is
 * within reach of the first event.
 * @param pageSize bytes of a page
 * @param knownStyle how times are written in earlier lines
 * @param knownStacks `stacks` of earlier lines
 * @param isLast no lines follow
 * @param ending the kinds of stacks that may go on after the last line
 * @returns the number of events read
 */
export function decode(
  p: usize,
  end: usize,
  capacity: u32,
  pageSize: u64,
  knownStyle: u32,
  knownStacks: u32,
  isLast: bool,
  ending: u32,
): u32 {
  const start = p
  clearStrings()
  Stack.beginStacks(knownStacks)
  let i: u32 = 0
  let read: u32 = 0
  let all: u32 = 0
  skipped = 0
  unread = 0
  hidden = 0
  setStyle(knownStyle)
  while (end > p && load<u8>(end - 1) != LF) end--
  isLong = end == p
  isRefused = false
  isHeld = false
  let goesOn = false
  isOpen = false
  let last: i32 = -1
  while (p < end && i < capacity && !stringsFull(BATCH_STRING_BYTES - MAX_STACK)) {
    Stack.beginLine(p, i, read, skipped, unread, hidden)
    if (i > 0 && style == NO_STYLE && p - first >= TIME_WITHIN) break
    const lf = p == Stack.nextLine ? Stack.nextEnd : findLf(p)
    const lineEnd = endOfLine(p, lf)
    let next = lf + 1
    let set: u32 = 0
    let isUnclear = false
    let row: i32 = -1
    if (lineEnd - p < MAX_LINE) {
      const colon = timeEnd(p)
      if (colon != 0) {
        set = readValues(textAt, i, pageSize)
        if (set != 0) {
          const head = readHead(p, colon, i)
          isUnclear = head == 0
          set = head == 0 ? 0 : set | head
        }
        if (set != 0) {
          const text = fieldsText()
          if (text >= 0) {
            store<u32>(Column.FIELDS + ((<usize>i) << 2), <u32>text)
            set |= HAS_FIELDS
          }
          store<u8>(Column.KIND + i, kind)
          store<u8>(Column.API + i, api)
          row = <i32>i
          next = Stack.readStack(true, next, end, isLast)
        }
      } else {
        set = readLost(p, i)
        if (set != 0) store<u8>(Column.KIND + i, KIND_LOST)
        else {
          row = Stack.eventOfStack(lineEnd)
          if (row >= 0) {
            next = Stack.readStack(false, next, end, isLast)
            if (next != 0) Stack.endWait()
          } else isUnclear = isUntimed(p)
        }
      }
      goesOn = next == 0
      if (goesOn) {
        restoreEnd(lineEnd, lf)
        break
      }
    } else if (hasEvent(p, lineEnd)) {
      isRefused = true
      restoreEnd(lineEnd, lf)
      break
    }
    if (set != 0) {
      if (i == 0) first = p
      store<u32>(Column.MASK + ((<usize>i) << 2), set)
      all |= set
      i++
    } else if (row < 0 && !isHeader(p) && !Stack.isOfStack(p, lineEnd)) {
      if (isUnclear) {
        if (unread++ == 0) firstUnread = read
      } else if (skipped++ == 0) {
        firstSkipped = read
      }
    }
    if (row >= 0) {
      if (Stack.frames > 0) {
        store<u32>(Column.STACK + ((<usize>row) << 2), internList(Stack.frames))
        store<u32>(Column.MASK + ((<usize>row) << 2), load<u32>(Column.MASK + ((<usize>row) << 2)) | HAS_STACK)
        all |= HAS_STACK
      }
      if (set != 0) {
        if ((set & HAS_ADDRESS) == 0) hidden++
        Stack.awaitStack(Stack.frames > 0)
      }
      read += Stack.stackLines
    }
    restoreEnd(lineEnd, lf)
    read++
    p = next
    // An event without a call chain has no empty line in perf script.
    last = Stack.frames > 0 || (ending & FTRACE) != 0 ? row : -1
  }
  if (p >= end && isLast && (Stack.seen & ending) != 0) {
    const open = min(last < 0 ? i : <u32>last, (ending & FTRACE) != 0 ? Stack.firstWaiting(i) : i)
    isOpen = open < i
    i = open
  }
  if (!isRefused && !(p >= end && isLast)) {
    // Events that wait for their stacks are read again. So that this takes bounded memory, the first may wait no more.
    isHeld = (goesOn || p >= end) && resumes(start, p, goesOn) && end - start < MAX_HELD
    while (!isHeld && Stack.waiting > 0 && Stack.firstPlace().line == start) Stack.forgetFirst()
    if (Stack.waiting > 0) {
      const place = Stack.firstPlace()
      p = place.line
      i = place.events
      read = place.lines
      skipped = place.skipped
      unread = place.unread
      hidden = place.hidden
    }
  }
  stacks = Stack.seen
  position = p
  lines = read
  fields = all
  return i
}
