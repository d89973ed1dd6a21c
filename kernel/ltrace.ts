/**
 * Logs of ltrace: lines to columns. See lib/formats/ltrace. An instance belongs to one decoder: it keeps the calls that
 * have not returned yet.
 */

import {
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
  SIZE,
  THREAD,
  TIME,
} from './shared/columns'
import {
  CALLOC,
  DELETE,
  FREE,
  functionOf,
  MEMALIGN,
  NAMED,
  NEW,
  OTHER,
  putCall,
  REALLOC,
  REALLOCARRAY,
  W_ALIGNED,
} from './shared/called'
import { HAS_ADDRESS, HAS_CALL_SITE, HAS_END_TIME, HAS_MODULE, HAS_THREAD, HAS_TIME } from './shared/event'
import { isPlain } from './shared/json'
import { findEither, findLf, LF } from './shared/lines'
import { decimal, hex } from './shared/numbers'
import {
  clearStrings,
  intern,
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
  SIZE,
  THREAD,
  TIME,
}
export { LISTED, listed, LISTS, lists, setSeed, STARTS, stringBytes, STRINGS, strings }

/** Where text is read. Behind its 262144 bytes there is room for what readers look at beyond a line. */
export const INPUT: usize = memory.data(262_240)

/** Longer lines have no calls. */
const MAX_LINE: usize = 8192
const BATCH_STRING_BYTES: u32 = 262_144
const MAX_NAME: u32 = 120

const SPACE: u8 = 0x20
const OPEN: u8 = 0x28
const CLOSE: u8 = 0x29
const COLON: u8 = 0x3a
const DOT: u8 = 0x2e
const COMMA: u8 = 0x2c
const LESS: u8 = 0x3c
const GREATER: u8 = 0x3e
const AT_SIGN: u8 = 0x40
const DASH: u8 = 0x2d
const EQUALS: u8 = 0x3d

/** Times with more whole seconds are not relative to the line before. */
const EPOCH: u64 = 100_000_000
const NANOS: u64 = 1_000_000_000

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

/** Calls within a call are events, too. */
let keepsInner: bool = false
/** The time of the line before, where times are relative to that. */
let clock: u64 = 0

/** What stands in front of a call. */
const LINE_THREAD: usize = memory.data(8)
const LINE_TIME: usize = memory.data(8)
const LINE_SITE: usize = memory.data(8)
let head: u32 = 0

/** The call of the line. */
const ARGUMENTS: usize = memory.data(24)
const NUMBER: usize = memory.data(8)
let does: u32 = OTHER
let count: u32 = 0
let nameAt: usize = 0
let nameLength: u32 = 0
let moduleAt: usize = 0
let moduleLength: u32 = 0
/** Behind the arguments that count. */
let argumentsEnd: usize = 0

/**
 * Threads with calls that have not returned: which, how many of its calls there are, and those. What does not fit is
 * forgotten.
 */
const MAX_THREADS: usize = 64
const MAX_DEPTH: u32 = 8
const CALL_BYTES: usize = 320
const THREAD_BYTES: usize = 2624
const THREADS: usize = memory.data(167_936)
let open: u32 = 0
let nextThread: usize = 0
const T_DEPTH: usize = 8
const T_CALLS: usize = 16
const C_DOES: usize = 0
const C_COUNT: usize = 4
const C_HEAD: usize = 8
const C_NAME_LENGTH: usize = 12
const C_MODULE_LENGTH: usize = 16
const C_TIME: usize = 24
const C_SITE: usize = 32
const C_ARGUMENTS: usize = 40
/** The address that a call within it got. */
const C_INNER: usize = 64
const C_NAME: usize = 72
const C_MODULE: usize = 192

// @ts-ignore: decorator
@inline
function blanks(p: usize): usize {
  while (load<u8>(p) == SPACE) p++
  return p
}

/** Begins a trace. */
export function begin(inner: bool): void {
  keepsInner = inner
  clock = 0
  open = 0
  memory.fill(THREADS, 0, MAX_THREADS * THREAD_BYTES)
}

/** Reads the six digits behind a point, as nanoseconds, to `NUMBER`. The position behind them, or 0. */
function fraction(p: usize): usize {
  const end = decimal(p, NUMBER)
  if (end != p + 6) return 0
  store<u64>(NUMBER, load<u64>(NUMBER) * 1000)
  return end
}

/** Reads a time: `23:28:28`, `23:28:28.699114`, `1795303708.464982` or `0.000371`. The position behind it, or 0. */
function readTime(p: usize): usize {
  p = decimal(p, NUMBER)
  if (p == 0) return 0
  let time = load<u64>(NUMBER)
  if (load<u8>(p) == COLON) {
    for (let part = 0; part < 2; part++) {
      if (load<u8>(p) != COLON || time > 10_000) return 0
      p = decimal(p + 1, NUMBER)
      if (p == 0) return 0
      time = time * 60 + load<u64>(NUMBER)
    }
    time *= NANOS
    if (load<u8>(p) == DOT) {
      p = fraction(p + 1)
      if (p == 0) return 0
      time += load<u64>(NUMBER)
    }
  } else {
    if (load<u8>(p) != DOT || time > 18_446_744_072) return 0
    p = fraction(p + 1)
    if (p == 0) return 0
    const isRelative = time < EPOCH
    time = time * NANOS + load<u64>(NUMBER)
    if (isRelative) {
      clock += time
      time = clock
    }
  }
  if (load<u8>(p) != SPACE) return 0
  store<u64>(LINE_TIME, time)
  head |= HAS_TIME
  return p + 1
}

/** Reads what stands in front of a call: thread, time, return address. The position behind it, or 0. */
function readHead(p: usize): usize {
  head = 0
  store<u64>(LINE_THREAD, 0)
  p = blanks(p)
  if (load<u32>(p) == 0x6469_705b) {
    // [pid 123]
    p = decimal(blanks(p + 4), LINE_THREAD)
    if (p == 0 || load<u8>(p) != 0x5d) return 0
    head |= HAS_THREAD
    p = blanks(p + 1)
  } else if (load<u8>(p) - 0x30 <= 9) {
    const end = decimal(p, LINE_THREAD)
    if (end != 0 && load<u8>(end) == SPACE) {
      head |= HAS_THREAD
      p = blanks(end)
    } else {
      store<u64>(LINE_THREAD, 0)
    }
  }
  if (load<u8>(p) - 0x30 <= 9) {
    p = readTime(p)
    if (p == 0) return 0
    p = blanks(p)
  }
  if (load<u32>(p) << 8 == 0x78305b << 8) {
    p = hex(p + 3, LINE_SITE)
    if (p == 0 || load<u8>(p) != 0x5d) return 0
    head |= HAS_CALL_SITE
    p++
  }
  return blanks(p)
}

/** A pointer or a number: 123, 0x7f, nil, NULL. The position behind it, or 0. */
function value(p: usize, to: usize): usize {
  if (<u32>load<u16>(p) == 0x7830) return hex(p + 2, to)
  const word = load<u32>(p)
  if (word == 0x4c4c_554e || (word & 0xff_ffff) == 0x6c_696e) {
    store<u64>(to, 0)
    return word == 0x4c4c_554e ? p + 4 : p + 3
  }
  return decimal(p, to)
}

/** Where the name of a function ends that begins at `p`: at its arguments, or at `@`. 0 if there is none. */
function nameEnd(p: usize): usize {
  let q = p
  let c = load<u8>(q)
  while ((c | 0x20) - 0x61 <= 25 || c - 0x30 <= 9 || c == 0x5f) c = load<u8>(++q)
  if (q - p == 8 && c == SPACE && load<u64>(p) == 0x726f_7461_7265_706f) {
    // operator new(unsigned long)(88, ...: the arguments are in the second parentheses.
    q = findEither(q, OPEN)
    if (load<u8>(q) == LF) return 0
    q = findEither(q, CLOSE)
    return load<u8>(q) == LF ? 0 : q + 1
  }
  return q > p ? q : 0
}

/** Reads a call: `lib->name@object(arguments`. Whether it is one of an allocator. */
function readCall(p: usize, end: usize): bool {
  moduleLength = 0
  // The first -> that stands before any parenthesis.
  const paren = findEither(p, OPEN)
  if (paren >= end) return false
  for (let q = p; q + 1 < paren; q++) {
    if (load<u8>(q) == DASH && load<u8>(q + 1) == GREATER) {
      moduleAt = p
      moduleLength = <u32>(q - p)
      p = q + 2
      break
    }
  }
  if (moduleLength > 120) return false
  const behind = nameEnd(p)
  if (behind == 0 || behind - p > MAX_NAME) return false
  nameAt = p
  nameLength = <u32>(behind - p)
  does = functionOf(nameAt, nameLength)
  if (does == OTHER || !isPlain(nameAt, nameLength)) return false
  p = behind
  if (load<u8>(p) == AT_SIGN) p = findEither(p, OPEN)
  if (load<u8>(p) != OPEN) return false
  p++
  const isPosix = does == MEMALIGN && nameLength == 14
  const isAligned =
    (does == NEW || does == MEMALIGN) && nameLength >= 14 && memory.compare(nameAt + 5, W_ALIGNED, 9) == 0
  const wanted: u32 =
    does == NAMED
      ? 0
      : does == REALLOCARRAY || isPosix
        ? 3
        : does == CALLOC || does == REALLOC || does == MEMALIGN || isAligned
          ? 2
          : 1
  for (let n: u32 = 0; n < wanted; n++) {
    p = value(blanks(p), ARGUMENTS + ((<usize>n) << 3))
    if (p == 0) return false
    if (n + 1 < wanted) {
      if (load<u8>(p) != COMMA) return false
      p++
    }
  }
  count = wanted
  if (isPosix) {
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 8))
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 16), 8)
    count = 2
  } else if (isAligned) {
    const size = load<u64>(ARGUMENTS)
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 8))
    store<u64>(ARGUMENTS, size, 8)
  }
  argumentsEnd = p
  return true
}

/** How the text behind the arguments goes on. */
const NOWHERE: u32 = 0
const RETURNED: u32 = 1
const UNFINISHED: u32 = 2

/** The result of a call, and how long it took in nanoseconds, if that is told. */
const RESULT: usize = memory.data(8)
const DURATION: usize = memory.data(8)
let hasDuration: bool = false

/**
 * Looks from `p` to the end of the line for `) = RESULT`, or `<unfinished ...>` or `<no return ...>`: from behind, for
 * arguments may hold anything.
 */
function readEnd(p: usize, end: usize): u32 {
  hasDuration = false
  let q = end
  if (load<u8>(q - 1) == GREATER) {
    let begin = q - 1
    while (begin > p && load<u8>(begin) != LESS) begin--
    const word = load<u64>(begin)
    // <unfinis, <no retu
    if (word == 0x7369_6e69_666e_753c || word == 0x7574_6572_206f_6e3c) return UNFINISHED
    if (load<u8>(begin + 1) - 0x30 <= 9) {
      const whole = decimal(begin + 1, NUMBER)
      const seconds = load<u64>(NUMBER)
      if (whole == 0 || load<u8>(whole) != DOT || seconds > EPOCH || fraction(whole + 1) != q - 1) return NOWHERE
      store<u64>(DURATION, seconds * NANOS + load<u64>(NUMBER))
      hasDuration = true
      q = begin
      while (q > p && load<u8>(q - 1) == SPACE) q--
    }
  }
  let begin = q
  while (begin > p && load<u8>(begin - 1) != SPACE) begin--
  if (begin < p + 3 || load<u8>(begin - 2) != EQUALS || load<u8>(begin - 3) != SPACE) return NOWHERE
  store<u64>(RESULT, 0)
  // <void> is the result of free.
  if (load<u8>(begin) == LESS) return RETURNED
  return value(begin, RESULT) == q ? RETURNED : NOWHERE
}

/** The place of the line's thread, or 0; with `makes` one is made. */
function threadOf(makes: bool): usize {
  const thread = load<u64>(LINE_THREAD)
  let free: usize = 0
  for (let n: usize = 0; n < MAX_THREADS; n++) {
    const at = THREADS + n * THREAD_BYTES
    if (load<u32>(at, T_DEPTH) == 0) {
      if (free == 0) free = at
    } else if (load<u64>(at) == thread) return at
  }
  if (!makes) return 0
  if (free == 0) {
    free = THREADS + nextThread * THREAD_BYTES
    nextThread = (nextThread + 1) % MAX_THREADS
    open--
  }
  store<u64>(free, thread)
  store<u32>(free, 0, T_DEPTH)
  open++
  return free
}

let all: u32 = 0

/** Writes the event of a call. */
function put(i: u32, call: u32, arguments_: u32, values: usize, name: usize, length: u32, result: u64, set: u32): void {
  set |= putCall(i, call, arguments_, values, name, length, result)
  store<u32>(MASK + ((<usize>i) << 2), set)
  all |= set
}

/** Writes the fields of a call's own line. */
function putHead(i: u32, set: u32, time: u64, site: u64, module: usize, length: u32): u32 {
  const wide = (<usize>i) << 3
  if ((set & HAS_THREAD) != 0) store<u64>(THREAD + wide, load<u64>(LINE_THREAD))
  store<u64>(TIME + wide, time)
  store<u64>(CALL_SITE + wide, site)
  if (length == 0) return set
  store<u32>(MODULE + ((<usize>i) << 2), intern(module, length))
  return set | HAS_MODULE
}

/** A call that does not return in its own line. */
function push(i: u32): u32 {
  const place = threadOf(true)
  const depth = load<u32>(place, T_DEPTH)
  const frees = does == FREE || does == DELETE
  if (frees && (depth == 0 || keepsInner)) {
    // The block may belong to somebody else before this call returns.
    const set = putHead(i, head, load<u64>(LINE_TIME), load<u64>(LINE_SITE), moduleAt, moduleLength)
    put(i, does, count, ARGUMENTS, nameAt, nameLength, 0, set)
    i++
  }
  if (depth == MAX_DEPTH) return i
  const call = place + T_CALLS + <usize>depth * CALL_BYTES
  store<u32>(call, does, C_DOES)
  store<u32>(call, count, C_COUNT)
  store<u32>(call, head, C_HEAD)
  store<u32>(call, nameLength, C_NAME_LENGTH)
  store<u32>(call, moduleLength, C_MODULE_LENGTH)
  store<u64>(call, load<u64>(LINE_TIME), C_TIME)
  store<u64>(call, load<u64>(LINE_SITE), C_SITE)
  memory.copy(call + C_ARGUMENTS, ARGUMENTS, 24)
  store<u64>(call, 0, C_INNER)
  memory.copy(call + C_NAME, nameAt, nameLength)
  memory.copy(call + C_MODULE, moduleAt, moduleLength)
  store<u32>(place, depth + 1, T_DEPTH)
  return i
}

/** Notes the address that a call within others got. */
function noteInner(place: usize, depth: u32, address: u64): void {
  for (let n: u32 = 0; n < depth; n++) store<u64>(place + T_CALLS + <usize>n * CALL_BYTES, address, C_INNER)
}

/** `<... NAME resumed> ) = RESULT`: the last call of this name in the thread returns. -1 if the line says nothing. */
function resume(p: usize, end: usize, i: u32): i32 {
  // <... NAME resumed>
  let q = p + 5
  while (q + 9 < end && !isResumed(q)) q++
  if (q + 9 >= end) return -1
  const length = <u32>(q - p - 5)
  const place = threadOf(false)
  if (place == 0) return <i32>i
  let depth = load<u32>(place, T_DEPTH)
  let found = depth
  while (found > 0) {
    const call = place + T_CALLS + <usize>(found - 1) * CALL_BYTES
    if (load<u32>(call, C_NAME_LENGTH) == length && memory.compare(call + C_NAME, p + 5, length) == 0) break
    found--
  }
  if (found == 0) return <i32>i
  depth = found - 1
  store<u32>(place, depth, T_DEPTH)
  if (depth == 0) open--
  const call = place + T_CALLS + <usize>depth * CALL_BYTES
  const what = load<u32>(call, C_DOES)
  if (what == FREE || what == DELETE || readEnd(q + 9, end) != RETURNED) return <i32>i
  let result = load<u64>(RESULT)
  const nameBytes = load<u32>(call, C_NAME_LENGTH)
  const isPosix = what == MEMALIGN && nameBytes == 14
  let set: u32 = 0
  // posix_memalign returns 0, and puts the address where the log does not say; but a call within it may have.
  if (isPosix) result = load<u64>(call, C_INNER)
  else if (depth > 0 && result != 0) noteInner(place, depth, result)
  if (depth > 0 && !keepsInner) return <i32>i
  set = load<u32>(call, C_HEAD)
  const time = load<u64>(call, C_TIME)
  set = putHead(i, set, time, load<u64>(call, C_SITE), call + C_MODULE, load<u32>(call, C_MODULE_LENGTH))
  if ((set & HAS_TIME) != 0) {
    store<u64>(END_TIME + ((<usize>i) << 3), hasDuration ? time + load<u64>(DURATION) : load<u64>(LINE_TIME))
    set |= HAS_END_TIME
  }
  put(i, what, load<u32>(call, C_COUNT), call + C_ARGUMENTS, call + C_NAME, nameBytes, result, set)
  if (isPosix && result == 0) withoutAddress(i)
  return <i32>i + 1
}

function withoutAddress(i: u32): void {
  const at = MASK + ((<usize>i) << 2)
  store<u32>(at, load<u32>(at) & ~HAS_ADDRESS)
}

/** Whether ` resumed>` stands here. */
// @ts-ignore: decorator
@inline
function isResumed(p: usize): bool {
  return load<u64>(p) == 0x6465_6d75_7365_7220 && load<u8>(p + 8) == GREATER
}

/**
 * Reads a line into the events from `i` on.
 * @returns how many events there are then, or -1 if the line has none of what is looked for
 */
function readLine(p: usize, end: usize, i: u32): i32 {
  p = readHead(p)
  if (p == 0 || p >= end) return -1
  const word = load<u32>(p)
  if ((word & 0xff_ffff) == 0x2b2b2b || (word & 0xff_ffff) == 0x2d2d2d) {
    // The thread ended, another program began (--- Called exec), or a signal came.
    const ends = (word & 0xff_ffff) == 0x2b2b2b || load<u64>(p + 4) == 0x6520_6465_6c6c_6143
    if (ends && open > 0) {
      const place = threadOf(false)
      if (place != 0) {
        store<u32>(place, 0, T_DEPTH)
        open--
      }
    }
    return <i32>i
  }
  if (word == 0x2e2e_2e3c) return resume(p, end, i)
  if (!readCall(p, end)) return -1
  const how = readEnd(argumentsEnd, end)
  if (how == NOWHERE) return -1
  if (how == UNFINISHED) return <i32>push(i)
  const place = open > 0 ? threadOf(false) : 0
  const frees = does == FREE || does == DELETE
  if (place != 0) {
    if (!frees && load<u64>(RESULT) != 0) noteInner(place, load<u32>(place, T_DEPTH), load<u64>(RESULT))
    if (!keepsInner) return <i32>i
  }
  const time = load<u64>(LINE_TIME)
  let set = putHead(i, head, time, load<u64>(LINE_SITE), moduleAt, moduleLength)
  if (hasDuration && (set & HAS_TIME) != 0) {
    store<u64>(END_TIME + ((<usize>i) << 3), time + load<u64>(DURATION))
    set |= HAS_END_TIME
  }
  put(i, does, count, ARGUMENTS, nameAt, nameLength, load<u64>(RESULT), set)
  if (does == MEMALIGN && nameLength == 14) withoutAddress(i)
  return <i32>i + 1
}

/**
 * Reads whole lines from `p` to `end` until there are `capacity` events or the lines are used up.
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
    const n = lineEnd - p < MAX_LINE ? readLine(p, lineEnd, i) : -1
    if (n >= 0) i = <u32>n
    else if (skipped++ == 0) firstSkipped = read
    read++
    p = lineEnd + 1
  }
  position = p
  lines = read
  fields = all
  return i
}
