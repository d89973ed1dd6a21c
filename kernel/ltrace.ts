/**
 * Logs of ltrace: lines to columns. See lib/formats/ltrace. An instance belongs to one decoder: it keeps the calls that
 * have not returned yet.
 */

import { KERNEL_INPUT } from '../lib/kernel/layouts/input'
import { BATCH_STRING_BYTES } from '../lib/event/limits'
import { MAX_LINE } from '../lib/kernel/layouts/ltrace'
import * as Column from './shared/columns'
import { DELETE, FREE, functionOf, lose, MEMALIGN, OTHER, putCall } from './shared/called'
import { HAS_ADDRESS, HAS_END_TIME, HAS_MODULE, HAS_PROCESS, HAS_THREAD, HAS_TIME } from './shared/event'
import { cutLine, endOfLine, findLf, joinLine, LF, restoreEnd } from './shared/lines'
import { clearStrings, intern, stringsFull } from './shared/strings'
import { GREATER } from './ltrace/scan'
import { LINE_THREAD, LINE_TIME, LINE_SITE, head, resetClock, readHead } from './ltrace/head'
import * as Call from './ltrace/call'
import { NOWHERE, RETURNED, UNFINISHED, RESULT, DURATION, hasDuration, readEnd } from './ltrace/end'
import * as Processes from './ltrace/processes'
import * as Threads from './ltrace/threads'

export {
  ADDRESS,
  ALIGNMENT,
  API,
  CALL_SITE,
  ELEMENT_SIZE,
  ELEMENTS,
  END_TIME,
  FIELDS,
  KIND,
  MASK,
  MODULE,
  OLD_ADDRESS,
  PROCESS,
  SIZE,
  THREAD,
  TIME,
} from './shared/columns'
export { abandonAll } from './ltrace/threads'
export { LISTED, listed, LISTS, lists, setSeed, STARTS, stringBytes, STRINGS, strings } from './shared/strings'

/** The text to read: 262144 bytes, followed by room for what readers examine beyond a line. */
export const INPUT: usize = memory.data(KERNEL_INPUT + 96)

/** `<...` */
const RESUMED: u32 = 0x2e2e_2e3c

/** One past the last line that was read. */
export let position: usize = 0
/** The number of lines that were read. */
export let lines: u32 = 0
/** The union of the fields of all events. */
export let fields: u32 = 0
/** The number of lines without calls, and the number of the first. */
export let skipped: u32 = 0
export let firstSkipped: u32 = 0
/** The text has no line feed. */
export let isLong: bool = false
/** The line after the last that was read has a call and is too long, or the module in it. */
export let isRefused: bool = false

/** Calls during a call are events, too. */
let keepsInner: bool = false

/** Starts a trace. */
export function begin(inner: bool): void {
  keepsInner = inner
  resetClock()
  Threads.clearThreads()
  Processes.clearProcesses()
}

let all: u32 = 0
/** The number of the line that is read, from 0. */
let lineNumber: u32 = 0

/** Writes the event of a call. */
function put(i: u32, call: u32, arguments_: u32, values: usize, name: usize, length: u32, result: u64, set: u32): void {
  set |= putCall(i, call, arguments_, values, name, length, result)
  store<u32>(Column.MASK + ((<usize>i) << 2), set)
  all |= set
}

/** Writes the fields of a call's own line. */
function putHead(i: u32, set: u32, time: u64, site: u64, module: usize, length: u32): u32 {
  const wide = (<usize>i) << 3
  if ((set & HAS_THREAD) != 0) {
    store<u64>(Column.THREAD + wide, load<u64>(LINE_THREAD))
    const process = Processes.processOf()
    if (process != Processes.FIRST) {
      store<u64>(Column.PROCESS + wide, process)
      set |= HAS_PROCESS
    }
  }
  store<u64>(Column.TIME + wide, time)
  store<u64>(Column.CALL_SITE + wide, site)
  if (length == 0) return set
  store<u32>(Column.MODULE + ((<usize>i) << 2), intern(module, length))
  return set | HAS_MODULE
}

/** Keeps a call that does not return in its own line. */
function push(i: u32): u32 {
  let place = Threads.threadOf(true)
  let depth = load<u32>(place, Threads.T_DEPTH)
  if (depth > 0) {
    if (Threads.isAgain(place)) return i
    if (!keepsInner && !Threads.leavesOut(place)) {
      forget(place)
      place = Threads.threadOf(true)
      depth = 0
    }
  }
  const frees = Call.does == FREE || Call.does == DELETE
  if (frees && (depth == 0 || keepsInner)) {
    // The block may have another owner before this call returns.
    const set = putHead(i, head, load<u64>(LINE_TIME), load<u64>(LINE_SITE), Call.moduleAt, Call.moduleLength)
    put(i, Call.does, Call.count, Call.ARGUMENTS, Call.nameAt, Call.nameLength, 0, set)
    i++
  }
  if (depth >= Threads.MAX_DEPTH) {
    store<u32>(place, depth + 1, Threads.T_DEPTH)
    return i
  }
  if (Call.moduleLength > Threads.MAX_MODULE) {
    isRefused = true
    return i
  }
  const call = place + Threads.T_CALLS + <usize>depth * Threads.CALL_BYTES
  store<u32>(call, Call.does, Threads.C_DOES)
  store<u32>(call, Call.count, Threads.C_COUNT)
  store<u32>(call, head, Threads.C_HEAD)
  store<u32>(call, Call.nameLength, Threads.C_NAME_LENGTH)
  store<u32>(call, Call.moduleLength, Threads.C_MODULE_LENGTH)
  store<u32>(call, Call.objectHash(), Threads.C_OBJECT)
  store<u64>(call, load<u64>(LINE_TIME), Threads.C_TIME)
  store<u64>(call, load<u64>(LINE_SITE), Threads.C_SITE)
  memory.copy(call + Threads.C_ARGUMENTS, Call.ARGUMENTS, 24)
  store<u64>(call, 0, Threads.C_INNER)
  memory.copy(call + Threads.C_NAME, Call.nameAt, Call.nameLength)
  memory.copy(call + Threads.C_MODULE, Call.moduleAt, Call.moduleLength)
  store<u32>(place, depth + 1, Threads.T_DEPTH)
  return i
}

/** `<... NAME resumed> ) = RESULT`: the last call of this name in the thread returns. -1 if the line is malformed. */
function resume(p: usize, end: usize, i: u32): i32 {
  const q = resumedNameEnd(p, end)
  if (q == 0) return -1
  const length = <u32>(q - p - 5)
  if ((length == 4 && Processes.isFork(p + 5)) || (Processes.isForking && Processes.isClone(p + 5, length))) {
    forked(q + 9, end)
    return <i32>i
  }
  const place = Threads.threadOf(false)
  if (place == 0) return unknown(p + 5, length, i)
  const depth = load<u32>(place, Threads.T_DEPTH)
  if (depth > Threads.MAX_DEPTH) {
    store<u32>(place, depth - 1, Threads.T_DEPTH)
    return unknown(p + 5, length, i)
  }
  let found = depth
  while (found > 0) {
    const call = place + Threads.T_CALLS + <usize>(found - 1) * Threads.CALL_BYTES
    if (load<u32>(call, Threads.C_NAME_LENGTH) == length && memory.compare(call + Threads.C_NAME, p + 5, length) == 0)
      break
    found--
  }
  return found == 0 ? unknown(p + 5, length, i) : returns(place, found, q + 9, end, i)
}

/** Call number `found` of a place returns, with the result between `p` and `end`. */
function returns(place: usize, found: u32, p: usize, end: usize, i: u32): i32 {
  const depth = found - 1
  if (depth == 0) Threads.release(place)
  else store<u32>(place, depth, Threads.T_DEPTH)
  const call = place + Threads.T_CALLS + <usize>depth * Threads.CALL_BYTES
  const what = load<u32>(call, Threads.C_DOES)
  if (what == FREE || what == DELETE || readEnd(p, end) != RETURNED) return <i32>i
  let result = load<u64>(RESULT)
  const nameBytes = load<u32>(call, Threads.C_NAME_LENGTH)
  const isPosix = what == MEMALIGN && nameBytes == 14
  let set: u32 = 0
  const status = result
  // posix_memalign returns 0 and stores the address where the log does not show it; a call within it may show it.
  if (isPosix) result = load<u64>(call, Threads.C_INNER)
  else if (depth > 0 && result != 0) Threads.noteInner(place, depth, result)
  if (depth > 0 && !keepsInner) return <i32>i
  set = load<u32>(call, Threads.C_HEAD)
  const time = load<u64>(call, Threads.C_TIME)
  set = putHead(
    i,
    set,
    time,
    load<u64>(call, Threads.C_SITE),
    call + Threads.C_MODULE,
    load<u32>(call, Threads.C_MODULE_LENGTH),
  )
  if ((set & HAS_TIME) != 0) {
    store<u64>(Column.END_TIME + ((<usize>i) << 3), hasDuration ? time + load<u64>(DURATION) : load<u64>(LINE_TIME))
    set |= HAS_END_TIME
  }
  put(
    i,
    what,
    load<u32>(call, Threads.C_COUNT),
    call + Threads.C_ARGUMENTS,
    call + Threads.C_NAME,
    nameBytes,
    result,
    set,
  )
  if (isPosix && result == 0) withoutAddress(i, status)
  return <i32>i + 1
}

/**
 * The returning call was not seen, or was forgotten. If it may have allocated, the line counts as one without a call.
 */
function unknown(name: usize, length: u32, i: u32): i32 {
  const what = functionOf(name, length)
  return what == OTHER || what == FREE || what == DELETE ? <i32>i : -1
}

/** Forgets calls that do not return. Those that were left out because they seemed to be within are not in the trace. */
function forget(place: usize): void {
  const leftOut = Threads.abandon(place)
  if (leftOut > 0 && skipped == 0) firstSkipped = lineNumber
  skipped += leftOut
}

/** The line's thread returns from fork: in the parent with the number of the child, and in the child with 0. */
function forked(p: usize, end: usize): void {
  if ((head & HAS_THREAD) == 0) return
  // Its address becomes known here, if it was not known before.
  Processes.processOf()
  if (readEnd(p, end) != RETURNED) return
  const child = load<u64>(RESULT)
  // Failures return -1, which is not read as a number here.
  Processes.isProcess(child == 0 ? load<u64>(LINE_THREAD) : child)
}

/** An event of posix_memalign that does not have the address of its block: if there is a block, the log has lost it. */
function withoutAddress(i: u32, status: u64): void {
  const at = Column.MASK + ((<usize>i) << 2)
  const set = load<u32>(at)
  store<u32>(at, status == 0 ? lose(i, set) : set & ~HAS_ADDRESS)
  all |= load<u32>(at)
}

/** The end of the name in `<... NAME resumed>` at `p`, or 0. */
function resumedNameEnd(p: usize, end: usize): usize {
  let q = p + 5
  while (q + 9 < end && !isResumed(q)) q++
  return q + 9 < end ? q : 0
}

/** Whether ` resumed>` is at `p`. */
function isResumed(p: usize): bool {
  return load<u64>(p) == 0x6465_6d75_7365_7220 && load<u8>(p + 8) == GREATER
}

/**
 * Reads a line into the events from `i` on.
 * @returns the new number of events, or -1 if the line has no call
 */
function readLine(p: usize, end: usize, i: u32): i32 {
  p = readHead(p)
  if (p == 0 || p >= end) return -1
  const word = load<u32>(p)
  if ((word & 0xff_ffff) == 0x2b2b2b || (word & 0xff_ffff) == 0x2d2d2d) {
    // The thread ended, another program began (--- Called exec), or a signal came.
    const isEnd = (word & 0xff_ffff) == 0x2b2b2b
    const isExec = load<u64>(p + 4) == 0x6520_6465_6c6c_6143
    if (!isEnd && !isExec) return <i32>i
    if (Threads.open > 0) {
      const place = Threads.threadOf(false)
      if (place != 0) forget(place)
    }
    if ((head & HAS_THREAD) != 0) {
      if (isEnd) Processes.threadEnded()
      else Processes.isProcess(load<u64>(LINE_THREAD))
    }
    return <i32>i
  }
  if (word == RESUMED) return resume(p, end, i)
  if (!Call.readCall(p, end)) {
    const other = Processes.otherCall(p, end)
    if (other == Processes.NOTHING) return -1
    if (other == Processes.FORKS) forked(p, end)
    else Processes.makesThread()
    return <i32>i
  }
  const how = readEnd(Call.argumentsEnd, end)
  if (how == NOWHERE) return -1
  if (how == UNFINISHED) return <i32>push(i)
  let place = Threads.open > 0 ? Threads.threadOf(false) : 0
  if (place != 0) {
    if (Threads.isAgain(place)) return returns(place, load<u32>(place, Threads.T_DEPTH), Call.argumentsEnd, end, i)
    if (!keepsInner && !Threads.leavesOut(place)) {
      forget(place)
      place = 0
    }
  }
  const frees = Call.does == FREE || Call.does == DELETE
  if (place != 0) {
    if (!frees && load<u64>(RESULT) != 0) Threads.noteInner(place, load<u32>(place, Threads.T_DEPTH), load<u64>(RESULT))
    if (!keepsInner) return <i32>i
  }
  const time = load<u64>(LINE_TIME)
  let set = putHead(i, head, time, load<u64>(LINE_SITE), Call.moduleAt, Call.moduleLength)
  if (hasDuration && (set & HAS_TIME) != 0) {
    store<u64>(Column.END_TIME + ((<usize>i) << 3), time + load<u64>(DURATION))
    set |= HAS_END_TIME
  }
  put(i, Call.does, Call.count, Call.ARGUMENTS, Call.nameAt, Call.nameLength, load<u64>(RESULT), set)
  if (Call.does == MEMALIGN && Call.nameLength == 14) withoutAddress(i, load<u64>(RESULT))
  return <i32>i + 1
}

/**
 * Whether there is an allocator's call, or its result, in a line over the limit, of which the part before `end` is
 * known. Only the first `MAX_LINE` bytes count, so that it does not matter how much of a line has arrived.
 */
export function hasEvent(p: usize, end: usize): bool {
  end = min(end, p + MAX_LINE)
  cutLine(end)
  const found = hasCall(p, end)
  joinLine(end)
  return found
}

function hasCall(p: usize, end: usize): bool {
  p = readHead(p)
  if (p == 0 || p >= end) return false
  if (load<u32>(p) != RESUMED) return Call.readCall(p, end)
  const q = resumedNameEnd(p, end)
  return q != 0 && functionOf(p + 5, <u32>(q - p - 5)) != OTHER
}

/**
 * Reads whole lines from `p` to `end` until there are `capacity` events or the lines are used up.
 * @returns the number of events read
 */
export function decode(p: usize, end: usize, capacity: u32): u32 {
  clearStrings()
  let i: u32 = 0
  let read: u32 = 0
  all = 0
  skipped = 0
  while (end > p && load<u8>(end - 1) != LF) end--
  isLong = end == p
  isRefused = false
  while (p < end && i < capacity && !stringsFull(BATCH_STRING_BYTES)) {
    const lf = findLf(p)
    const lineEnd = endOfLine(p, lf)
    let n: i32 = -1
    lineNumber = read
    if (lineEnd - p < MAX_LINE) n = readLine(p, lineEnd, i)
    else if (hasEvent(p, lineEnd)) isRefused = true
    if (isRefused) {
      restoreEnd(lineEnd, lf)
      break
    }
    if (n >= 0) i = <u32>n
    else if (skipped++ == 0) firstSkipped = read
    restoreEnd(lineEnd, lf)
    read++
    p = lf + 1
  }
  position = p
  lines = read
  fields = all
  return i
}
