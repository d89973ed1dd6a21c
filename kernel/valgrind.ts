/**
 * Logs of valgrind's --trace-malloc: lines to columns. See lib/formats/valgrind. An instance belongs to one decoder: it
 * keeps the calls that have no result yet.
 */

import { KERNEL_INPUT } from '../lib/kernel/layouts/input'
import { BATCH_STRING_BYTES } from '../lib/event/limits'
import { MAX_LINE } from '../lib/kernel/layouts/valgrind'
import * as Column from './shared/columns'
import { HAS_PROCESS, HAS_SIZE, HAS_TIME } from './shared/event'
import { DELETE, FREE, lose, MALLOC, MEMALIGN, OTHER, putCall, REALLOC, W_VALLOC } from './shared/called'
import { cutLine, endOfLine, findLf, joinLine, LF, restoreEnd } from './shared/lines'
import { clearStrings, stringsFull } from './shared/strings'
import * as Call from './valgrind/call'
import { hasTime, LINE_PROCESS, LINE_TIME, readHead } from './valgrind/head'
import {
  IDLE,
  MAX_NAME,
  P_ARGUMENTS,
  P_COUNT,
  P_DOES,
  P_IS,
  P_LAST,
  P_NAME,
  P_NAME_LENGTH,
  placeOf,
  WAITING,
} from './valgrind/pending'

export {
  ADDRESS,
  ALIGNMENT,
  API,
  ELEMENT_SIZE,
  ELEMENTS,
  FIELDS,
  KIND,
  MASK,
  OLD_ADDRESS,
  PROCESS,
  SIZE,
  TIME,
} from './shared/columns'
export { begin } from './valgrind/pending'
export { LISTED, listed, LISTS, lists, setSeed, STARTS, stringBytes, STRINGS, strings } from './shared/strings'

/** The text to read: 262144 bytes, followed by room for what readers examine beyond a line. */
export const INPUT: usize = memory.data(KERNEL_INPUT + 96)

/** ` = ` */
const RESULT: u32 = 0x20_3d20

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
/** The line after the last that was read has a call and is too long. */
export let isRefused: bool = false

/** Writes event `i`, for the call that was read or kept. @returns its fields */
function put(i: u32, call: u32, count: u32, values: usize, name: usize, length: u32, result: u64): u32 {
  const wide = (<usize>i) << 3
  let set = HAS_PROCESS | putCall(i, call, count, values, name, length, result)
  store<u64>(Column.PROCESS + wide, load<u64>(LINE_PROCESS))
  if (hasTime) {
    store<u64>(Column.TIME + wide, load<u64>(LINE_TIME))
    set |= HAS_TIME
  }
  store<u32>(Column.MASK + ((<usize>i) << 2), set)
  return set
}

/** Writes event `i` for the call in `place`, which had no result: it failed, or the log does not show its block. */
function putWithoutResult(i: u32, place: usize): void {
  const call = load<u32>(place, P_DOES)
  const values = place + P_ARGUMENTS
  let set = put(i, call, load<u32>(place, P_COUNT), values, place + P_NAME, load<u32>(place, P_NAME_LENGTH), 0)
  store<u32>(place, IDLE, P_IS)
  const alignment = load<u64>(values)
  if (call == MEMALIGN && alignment % 4 == 0 && popcnt(alignment) == 1) {
    set = lose(i, set)
    store<u32>(Column.MASK + ((<usize>i) << 2), set)
  }
  all |= set
}

/** Whether a call has no result, because it frees or is not a call of an allocator. */
function isDone(call: u32): bool {
  return call == FREE || call == DELETE || call == OTHER
}

/** Reads a result into `NUMBER`. @returns the position after it, or 0 */
// @ts-ignore: decorator
@inline
function readResult(p: usize): usize {
  return (load<u32>(p) & 0xff_ffff) == RESULT ? Call.number(p + 3, Call.NUMBER) : 0
}

let all: u32 = 0

/**
 * Reads the calls of a line into the events from `i` on.
 * @returns the new number of events, or -1 if the line has no call
 */
function readLine(p: usize, i: u32): i32 {
  p = readHead(p)
  if (p == 0) return -1
  if (load<u8>(p) == Call.SPACE) {
    // The result of a call in an earlier line.
    const end = readResult(p)
    if (end == 0 || load<u8>(end) != LF) return -1
    const result = load<u64>(Call.NUMBER)
    const place = placeOf()
    if (load<u32>(place, P_IS) == WAITING) {
      const values = place + P_ARGUMENTS
      const length = load<u32>(place, P_NAME_LENGTH)
      all |= put(i, load<u32>(place, P_DOES), load<u32>(place, P_COUNT), values, place + P_NAME, length, result)
      store<u32>(place, IDLE, P_IS)
      i++
    } else if (result != 0 && result != load<u64>(place, P_LAST)) {
      // valloc of newer versions prints nothing but its result.
      store<u64>(Call.ARGUMENTS, 0)
      all |= put(i, MALLOC, 1, Call.ARGUMENTS, W_VALLOC, 6, result)
      store<u32>(Column.MASK + ((<usize>i) << 2), load<u32>(Column.MASK + ((<usize>i) << 2)) & ~HAS_SIZE)
      i++
    }
    store<u64>(place, result, P_LAST)
    return <i32>i
  }
  if (!Call.readCall(p)) return -1
  let found = false
  for (let n: usize = 0; n < MAX_LINE; n++) {
    const end = Call.callEnd
    const after = readResult(end)
    if (after != 0 || isDone(Call.does)) {
      if (Call.does == OTHER) {
        // malloc_usable_size and the like.
        if (after == 0 && load<u8>(end) != LF && Call.readCall(end)) continue
        return found ? <i32>i : -1
      }
      if (load<u8>(after != 0 ? after : end) != LF) return found ? <i32>i : -1
      const place = placeOf()
      // posix_memalign has no result from 3.21 to 3.23.
      if (load<u32>(place, P_IS) == WAITING && load<u32>(place, P_DOES) == MEMALIGN) putWithoutResult(i++, place)
      if (after != 0) store<u64>(place, load<u64>(Call.NUMBER), P_LAST)
      else if (load<u64>(place, P_LAST) == load<u64>(Call.ARGUMENTS)) store<u64>(place, 0, P_LAST)
      all |= put(i, Call.does, Call.argumentCount, Call.ARGUMENTS, Call.nameAt, Call.nameLength, load<u64>(Call.NUMBER))
      return <i32>i + 1
    }
    const place = placeOf()
    // The pending call of this process never had a result.
    if (load<u32>(place, P_IS) == WAITING) putWithoutResult(i++, place)
    const length = Call.nameLength < MAX_NAME ? Call.nameLength : MAX_NAME
    store<u32>(place, WAITING, P_IS)
    store<u32>(place, Call.does, P_DOES)
    store<u32>(place, Call.argumentCount, P_COUNT)
    memory.copy(place + P_ARGUMENTS, Call.ARGUMENTS, 24)
    store<u32>(place, length, P_NAME_LENGTH)
    memory.copy(place + P_NAME, Call.nameAt, length)
    found = true
    if (load<u8>(end) == LF) return <i32>i
    const before = Call.does
    const old = load<u64>(Call.ARGUMENTS)
    const size = load<u64>(Call.ARGUMENTS, 8)
    if (!Call.readCall(end)) return <i32>i
    const values = place + P_ARGUMENTS
    const isSame = before == MEMALIGN && length == 13 && Call.does == MEMALIGN && Call.nameLength == 8
    if (
      (before == REALLOC && old == 0 && Call.does == MALLOC && load<u64>(Call.ARGUMENTS) == size) ||
      (isSame && load<u64>(Call.ARGUMENTS) == old && load<u64>(Call.ARGUMENTS, 8) == size)
    ) {
      // realloc(0x0,33)malloc(33), or in 3.21 aligned_alloc(al 64, size 33)memalign(al 64, size 33): one call, which
      // has the other's result.
      const result = readResult(Call.callEnd)
      if (result == 0 || load<u8>(result) != LF) return <i32>i
      all |= put(i, before, 2, values, place + P_NAME, length, load<u64>(Call.NUMBER))
      store<u32>(place, IDLE, P_IS)
      store<u64>(place, load<u64>(Call.NUMBER), P_LAST)
      return <i32>i + 1
    }
    // realloc(PTR,0)free(PTR), whose result 0 has a separate line; or a calloc that overflowed, or aligned_alloc in
    // 3.22 and 3.23, which have no result, so that the next call follows.
    putWithoutResult(i++, place)
    if (before == REALLOC && size == 0 && Call.does == FREE && load<u64>(Call.ARGUMENTS) == old) return <i32>i
  }
  return <i32>i
}

/** Whether a line is one of valgrind's own messages, as with -v, or about an error. */
export function isMessage(p: usize): bool {
  if (<u32>load<u16>(p) == 0x3d3d || <u32>load<u16>(p) == 0x2a2a) return true
  p = readHead(p)
  return p != 0 && (load<u32>(p) & 0xff_ffff) != RESULT && !Call.isNamed(p)
}

/**
 * Whether there is a call, or a result, in a line over the limit, of which the part before `end` is known.
 * Only the first `MAX_LINE` bytes count, so that it does not matter how much of a line has arrived.
 */
export function hasEvent(p: usize, end: usize): bool {
  end = min(end, p + MAX_LINE)
  cutLine(end)
  p = readHead(p)
  const found = p != 0 && (load<u8>(p) == Call.SPACE ? readResult(p) != 0 : Call.readCall(p))
  joinLine(end)
  return found
}

/**
 * Reads whole lines from `p` to `end` until the columns are nearly full or the lines are used up.
 * @param capacity the number of events that fit; a line has one for each of its calls
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
    if (lineEnd - p < MAX_LINE) n = readLine(p, i)
    else if (hasEvent(p, lineEnd)) {
      isRefused = true
      restoreEnd(lineEnd, lf)
      break
    }
    if (n >= 0) i = <u32>n
    else if (!isMessage(p) && skipped++ == 0) firstSkipped = read
    restoreEnd(lineEnd, lf)
    read++
    p = lf + 1
  }
  position = p
  lines = read
  fields = all
  return i
}
