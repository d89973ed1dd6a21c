/**
 * Logs of valgrind's --trace-malloc: lines to columns. See lib/formats/valgrind. An instance belongs to one decoder: it
 * keeps the calls that have no result yet.
 */

import {
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
import { HAS_PROCESS, HAS_SIZE, HAS_TIME } from './shared/event'
import {
  CALLOC,
  DELETE,
  FREE,
  functionOf,
  MALLOC,
  MEMALIGN,
  NAMED,
  NEW,
  NO_CALL,
  OTHER,
  putCall,
  REALLOC,
  REALLOCARRAY,
  W_ALIGNED,
  W_VALLOC,
} from './shared/called'
import { findLf, LF } from './shared/lines'
import { decimal, hex } from './shared/numbers'
import {
  clearStrings,
  LISTED,
  listed,
  LISTS,
  lists,
  setSeed,
  STARTS,
  stringBytes,
  STRINGS,
  strings,
  stringsFull,
} from './shared/strings'

export { ADDRESS, ALIGNMENT, API, ELEMENT_SIZE, ELEMENTS, FIELDS, KIND, MASK, OLD_ADDRESS, PROCESS, SIZE, TIME }
export { LISTED, listed, LISTS, lists, setSeed, STARTS, stringBytes, STRINGS, strings }

/** Where text is read. Behind its 262144 bytes there is room for what readers look at beyond a line. */
export const INPUT: usize = memory.data(262_240)

/** Longer lines have no calls. */
const MAX_LINE: usize = 4096
const BATCH_STRING_BYTES: u32 = 262_144

const SPACE: u8 = 0x20
const OPEN: u8 = 0x28
const CLOSE: u8 = 0x29
const COMMA: u8 = 0x2c
const DASHES: u32 = 0x2d2d
/** ` = ` */
const RESULT: u32 = 0x20_3d20

/** Behind the last line that was read. */
export let position: usize = 0
/** How many lines were read. */
export let lines: u32 = 0
/** The fields of all events together. */
export let fields: u32 = 0
/** How many of the lines are none that were looked for, and which was the first. */
export let skipped: u32 = 0
export let firstSkipped: u32 = 0
/** No line ends in what was given. */
export let isLong: bool = false

/** A call: what it does, its arguments in the order of `MEMALIGN` for aligned ones, and its name. */
const ARGUMENTS: usize = memory.data(24)
let argumentCount: u32 = 0
/** Arguments have names, and the size comes first. */
let isSizeFirst: bool = false
let does: u32 = NO_CALL
let nameAt: usize = 0
let nameLength: u32 = 0
/** Where the text of the call ends. */
let callEnd: usize = 0

/** The line's process and time. */
const LINE_PROCESS: usize = memory.data(8)
const LINE_TIME: usize = memory.data(8)
let hasTime: bool = false
const NUMBER: usize = memory.data(8)

/**
 * Calls without a result yet, of up to 16 processes: the process, whether there is one, the result that its last call
 * had, and the call.
 */
const PENDING: usize = memory.data(2048)
const PENDING_BYTES: usize = 128
const MAX_PENDING: usize = 16
const P_IS: usize = 8
const P_LAST: usize = 16
const P_DOES: usize = 24
const P_COUNT: usize = 28
const P_ARGUMENTS: usize = 32
const P_NAME_LENGTH: usize = 56
const P_NAME: usize = 64
const MAX_NAME: u32 = 48
/** Which place is used next when all are taken. */
let nextPlace: usize = 0

// @ts-ignore: decorator
@inline
function isNameByte(c: u8): bool {
  return (c | 0x20) - 0x61 <= 25 || c - 0x30 <= 9 || c == 0x5f
}

/** A number in decimal, or in hex with `0x`. The position behind it, or 0. */
// @ts-ignore: decorator
@inline
function number(p: usize, to: usize): usize {
  return <u32>load<u16>(p) == 0x7830 ? hex(p + 2, to) : decimal(p, to)
}

/** Reads a call `NAME(ARGUMENTS)`. Whether there is one. */
function readCall(p: usize): bool {
  nameAt = p
  while (isNameByte(load<u8>(p))) p++
  nameLength = <u32>(p - nameAt)
  if (nameLength == 0 || load<u8>(p) != OPEN) return false
  argumentCount = 0
  isSizeFirst = false
  p++
  while (load<u8>(p) != CLOSE) {
    while (load<u8>(p) == SPACE) p++
    // `al 64, size 1000`
    if (load<u32>(p) == 0x657a_6973 && load<u8>(p + 4) == SPACE) {
      if (argumentCount == 0) isSizeFirst = true
      p += 5
    } else if ((load<u32>(p) & 0xff_ffff) == 0x20_6c61) p += 3
    p = number(p, argumentCount < 3 ? ARGUMENTS + ((<usize>argumentCount) << 3) : NUMBER)
    if (p == 0) return false
    argumentCount++
    if (load<u8>(p) == COMMA) p++
    else if (load<u8>(p) != CLOSE) return false
  }
  callEnd = p + 1
  does = functionOf(nameAt, nameLength)
  // Of these it is not known what was allocated.
  if (does == NAMED) does = OTHER
  const first = load<u64>(ARGUMENTS)
  if (does == NEW && argumentCount >= 2 && nameLength >= 14 && memory.compare(nameAt + 5, W_ALIGNED, 9) == 0)
    isSizeFirst = true
  if (does == MEMALIGN && argumentCount >= 3) {
    // The address of a variable comes first.
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 8))
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 16), 8)
    argumentCount = 2
  } else if (isSizeFirst && argumentCount >= 2) {
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 8))
    store<u64>(ARGUMENTS, first, 8)
  }
  const needed: u32 =
    does == REALLOCARRAY ? 3 : does == CALLOC || does == REALLOC || does == MEMALIGN ? 2 : does == OTHER ? 0 : 1
  if (argumentCount < needed) return false
  return true
}

/** Writes the event of the call that was read, or kept, as event `i`. Returns its fields. */
function put(i: u32, call: u32, count: u32, values: usize, name: usize, length: u32, result: u64): u32 {
  const wide = (<usize>i) << 3
  let set = HAS_PROCESS | putCall(i, call, count, values, name, length, result)
  store<u64>(PROCESS + wide, load<u64>(LINE_PROCESS))
  if (hasTime) {
    store<u64>(TIME + wide, load<u64>(LINE_TIME))
    set |= HAS_TIME
  }
  store<u32>(MASK + ((<usize>i) << 2), set)
  return set
}

/** The place of the line's process among those with calls without a result; made if there is none. */
function placeOf(): usize {
  const process = load<u64>(LINE_PROCESS)
  let free: usize = 0
  for (let n: usize = 0; n < MAX_PENDING; n++) {
    const at = PENDING + n * PENDING_BYTES
    const state = load<u32>(at, P_IS)
    if (state == 0) {
      if (free == 0) free = at
    } else if (load<u64>(at) == process) return at
  }
  if (free == 0) {
    free = PENDING + nextPlace * PENDING_BYTES
    nextPlace = (nextPlace + 1) % MAX_PENDING
  }
  memory.fill(free, 0, PENDING_BYTES)
  store<u64>(free, process)
  store<u32>(free, IDLE, P_IS)
  return free
}

/** In a place: nothing is pending; a call is. */
const IDLE: u32 = 1
const WAITING: u32 = 2

/** Passes over `>`, `--`, a time, the process and `--`. The position of the text, or 0. */
function readHead(p: usize): usize {
  while (load<u8>(p) == 0x3e) p++
  if (<u32>load<u16>(p) != DASHES) return 0
  p = decimal(p + 2, NUMBER)
  if (p == 0) return 0
  hasTime = load<u8>(p) == 0x3a
  if (hasTime) {
    // DD:HH:MM:SS.mmm since the program began
    let seconds = load<u64>(NUMBER)
    for (let part = 0; part < 3; part++) {
      if (load<u8>(p) != 0x3a || seconds > 1_000_000_000) return 0
      p = decimal(p + 1, NUMBER)
      if (p == 0) return 0
      seconds = seconds * (part == 0 ? 24 : 60) + load<u64>(NUMBER)
    }
    if (load<u8>(p) != 0x2e || seconds > 10_000_000_000) return 0
    const behind = decimal(p + 1, NUMBER)
    if (behind != p + 4 || load<u8>(behind) != SPACE) return 0
    store<u64>(LINE_TIME, seconds * 1_000_000_000 + load<u64>(NUMBER) * 1_000_000)
    p = decimal(behind + 1, NUMBER)
    if (p == 0) return 0
  }
  store<u64>(LINE_PROCESS, load<u64>(NUMBER))
  return <u32>load<u16>(p) == DASHES && load<u8>(p + 2) == SPACE ? p + 3 : 0
}

/** Whether a call has no result: it frees, or is none of an allocator. */
// @ts-ignore: decorator
@inline
function isDone(call: u32): bool {
  return call == FREE || call == DELETE || call == OTHER
}

/** The result that stands here, in `NUMBER`; the position behind it, or 0. */
// @ts-ignore: decorator
@inline
function readResult(p: usize): usize {
  return (load<u32>(p) & 0xff_ffff) == RESULT ? number(p + 3, NUMBER) : 0
}

/** Begins a trace. */
export function begin(): void {
  memory.fill(PENDING, 0, MAX_PENDING * PENDING_BYTES)
  nextPlace = 0
}

let all: u32 = 0

/**
 * Reads the calls of a line into the events from `i` on.
 * @returns how many events there are then, or -1 if the line has none of what is looked for
 */
function readLine(p: usize, i: u32): i32 {
  p = readHead(p)
  if (p == 0) return -1
  if (load<u8>(p) == SPACE) {
    // The result of a call in a line before.
    const end = readResult(p)
    if (end == 0 || load<u8>(end) != LF) return -1
    const result = load<u64>(NUMBER)
    const place = placeOf()
    if (load<u32>(place, P_IS) == WAITING) {
      const values = place + P_ARGUMENTS
      const length = load<u32>(place, P_NAME_LENGTH)
      all |= put(i, load<u32>(place, P_DOES), load<u32>(place, P_COUNT), values, place + P_NAME, length, result)
      store<u32>(place, IDLE, P_IS)
      i++
    } else if (result != 0 && result != load<u64>(place, P_LAST)) {
      // valloc of newer versions prints nothing but its result.
      store<u64>(ARGUMENTS, 0)
      all |= put(i, MALLOC, 1, ARGUMENTS, W_VALLOC, 6, result)
      store<u32>(MASK + ((<usize>i) << 2), load<u32>(MASK + ((<usize>i) << 2)) & ~HAS_SIZE)
      i++
    }
    store<u64>(place, result, P_LAST)
    return <i32>i
  }
  if (!readCall(p)) return -1
  let found = false
  for (let n: usize = 0; n < MAX_LINE; n++) {
    const end = callEnd
    const after = readResult(end)
    if (after != 0 || isDone(does)) {
      if (does == OTHER) {
        // malloc_usable_size and the like.
        if (after == 0 && load<u8>(end) != LF && readCall(end)) continue
        return found ? <i32>i : -1
      }
      if (load<u8>(after != 0 ? after : end) != LF) return found ? <i32>i : -1
      all |= put(i, does, argumentCount, ARGUMENTS, nameAt, nameLength, load<u64>(NUMBER))
      if (after != 0) store<u64>(placeOf(), load<u64>(NUMBER), P_LAST)
      return <i32>i + 1
    }
    const place = placeOf()
    if (load<u32>(place, P_IS) == WAITING) {
      // What was pending in this process never had a result: it failed.
      const name = load<u32>(place, P_NAME_LENGTH)
      all |= put(i, load<u32>(place, P_DOES), load<u32>(place, P_COUNT), place + P_ARGUMENTS, place + P_NAME, name, 0)
      i++
    }
    const length = nameLength < MAX_NAME ? nameLength : MAX_NAME
    store<u32>(place, WAITING, P_IS)
    store<u32>(place, does, P_DOES)
    store<u32>(place, argumentCount, P_COUNT)
    memory.copy(place + P_ARGUMENTS, ARGUMENTS, 24)
    store<u32>(place, length, P_NAME_LENGTH)
    memory.copy(place + P_NAME, nameAt, length)
    found = true
    if (load<u8>(end) == LF) return <i32>i
    const before = does
    const old = load<u64>(ARGUMENTS)
    const size = load<u64>(ARGUMENTS, 8)
    if (!readCall(end)) return <i32>i
    const values = place + P_ARGUMENTS
    if (before == REALLOC && old == 0 && does == MALLOC && load<u64>(ARGUMENTS) == size) {
      // realloc(0x0,33)malloc(33): one call, which has the other's result.
      const result = readResult(callEnd)
      if (result == 0 || load<u8>(result) != LF) return <i32>i
      all |= put(i, REALLOC, 2, values, place + P_NAME, length, load<u64>(NUMBER))
      store<u32>(place, IDLE, P_IS)
      store<u64>(place, load<u64>(NUMBER), P_LAST)
      return <i32>i + 1
    }
    // realloc(PTR,0)free(PTR), whose result is 0 and stands in a line of its own; or a calloc that overflowed, which
    // has no result, so that the next call stands behind it.
    all |= put(i, before, load<u32>(place, P_COUNT), values, place + P_NAME, length, 0)
    store<u32>(place, IDLE, P_IS)
    i++
    if (before == REALLOC && size == 0 && does == FREE && load<u64>(ARGUMENTS) == old) return <i32>i
  }
  return <i32>i
}

/**
 * Reads whole lines from `p` to `end` until the columns are nearly full or the lines are used up.
 * @param capacity how many events there is room for; a line has as many as it has calls
 * @returns how many events were read
 */
export function decode(p: usize, end: usize, capacity: u32): u32 {
  clearStrings()
  let i: u32 = 0
  let read: u32 = 0
  all = 0
  skipped = 0
  while (end > p && load<u8>(end - 1) != LF) end--
  isLong = end == p
  while (p < end && i < capacity && !stringsFull(BATCH_STRING_BYTES)) {
    const lineEnd = findLf(p)
    const n = lineEnd - p < MAX_LINE ? readLine(p, i) : -1
    if (n >= 0) i = <u32>n
    // What valgrind says of itself and of errors is expected.
    else if (<u32>load<u16>(p) != 0x3d3d && <u32>load<u16>(p) != 0x2a2a && skipped++ == 0) firstSkipped = read
    read++
    p = lineEnd + 1
  }
  position = p
  lines = read
  fields = all
  return i
}
