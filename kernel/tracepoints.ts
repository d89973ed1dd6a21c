/** Linux kmem tracepoints as text: lines to columns. See lib/formats/tracepoints. */

import {
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
  THREAD,
  TIME,
  TYPE,
  USABLE,
} from './shared/columns'
import {
  API_KFREE,
  API_KMALLOC,
  API_KMEM_CACHE_ALLOC,
  API_KMEM_CACHE_FREE,
  API_PAGES,
  HAS_ADDRESS,
  HAS_API,
  HAS_CALL_SITE,
  HAS_COUNT,
  HAS_CPU,
  HAS_FIELDS,
  HAS_FUNCTION,
  HAS_GFP_FLAGS,
  HAS_MODULE,
  HAS_NODE,
  HAS_SIZE,
  HAS_THREAD,
  HAS_TIME,
  HAS_TYPE,
  HAS_USABLE,
  KIND_ALLOC,
  KIND_FREE,
  KIND_LOST,
} from './shared/event'
import { escape, isPlain } from './shared/json'
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
  THREAD,
  TIME,
  TYPE,
  USABLE,
}
export { LISTED, listed, LISTS, lists, setSeed, STARTS, stringBytes, STRINGS, strings }

/** Where text is read. Behind its 262144 bytes there is room for what readers look at beyond a line. */
export const INPUT: usize = memory.data(262_240)

/** Longer lines are no events. */
const MAX_LINE: usize = 8192
const BATCH_STRING_BYTES: u32 = 262_144

const SPACE: u8 = 0x20
const COLON: u8 = 0x3a
const OPEN: u8 = 0x28
const CLOSE: u8 = 0x29
const BRACKET: u8 = 0x5b
const CLOSING_BRACKET: u8 = 0x5d
const DOT: u8 = 0x2e
const DASH: u8 = 0x2d
const SLASH: u8 = 0x2f
const EQUALS: u8 = 0x3d
const PLUS: u8 = 0x2b

/** How times are written; a trace has one way. */
const NO_STYLE: u32 = 0
const SECONDS: u32 = 1
const TICKS: u32 = 2

/** Behind the last line that was read. */
export let position: usize = 0
/** How many lines were read. */
export let lines: u32 = 0
/** The fields of all events together. */
export let fields: u32 = 0
/** How many of the lines are no events, headers aside, and which was the first. */
export let skipped: u32 = 0
export let firstSkipped: u32 = 0
/** How times were written: as they were before, or as in the first line that has one. */
export let style: u32 = NO_STYLE
/** No line ends in what was given. */
export let isLong: bool = false

/** Where the event's own text begins, behind its name and colon; and its kind and function. */
let textAt: usize = 0
let kind: u8 = 0
let api: u8 = 0
/** The event's name if the function's does not tell it, or 0. */
let oldName: usize = 0
let oldNameLength: u32 = 0
/** The command that the thread ran; no length if there is none. */
let command: usize = 0
let commandLength: u32 = 0
/** The process's number as it is written, likewise. */
let processAt: usize = 0
let processLength: u32 = 0

/** Where the text of `fields` is put together. */
const JSON_TEXT: usize = memory.data(65_600)
/** Where numbers are read to. */
const NUMBER: usize = memory.data(8)

// @ts-ignore: decorator
@inline
function isDigit(c: u8): bool {
  return c - 0x30 <= 9
}

// @ts-ignore: decorator
@inline
function blanks(p: usize): usize {
  while (load<u8>(p) == SPACE) p++
  return p
}

/** `kmalloc`, `kmem_cach`, ... in words. */
const KMALLOC_: u64 = 0x3a63_6f6c_6c61_6d6b
const KMALLOC_NODE: u64 = 0x5f63_6f6c_6c61_6d6b
const NODE_: u32 = 0x6564_6f6e
const KFREE: u32 = 0x6572_666b
const KMEM_CAC: u64 = 0x6361_635f_6d65_6d6b
const HE_A: u32 = 0x615f_6568
const HE_F: u32 = 0x665f_6568
const LLOC: u32 = 0x636f_6c6c
const REE_: u32 = 0x3a65_6572
const MM_PAGE_: u64 = 0x5f65_6761_705f_6d6d
const ALLO: u32 = 0x6f6c_6c61
const FREE: u32 = 0x6565_7266
const KMEM: u32 = 0x6d65_6d6b

/** Whether the name of an event that is read stands here, with a colon; sets what it is and where its text begins. */
function isEvent(p: usize): bool {
  const word = load<u64>(p)
  let end: usize = 0
  oldName = 0
  if (word == KMALLOC_) {
    end = p + 7
    kind = KIND_ALLOC
    api = API_KMALLOC
  } else if (<u32>word == KFREE && load<u16>(p + 4) == 0x3a65) {
    end = p + 5
    kind = KIND_FREE
    api = API_KFREE
  } else if (word == KMEM_CAC) {
    const rest = load<u32>(p + 8)
    if (rest == HE_F && load<u32>(p + 12) == REE_) {
      end = p + 15
      kind = KIND_FREE
      api = API_KMEM_CACHE_FREE
    } else if (rest == HE_A && load<u32>(p + 12) == LLOC) {
      end = p + 16
      kind = KIND_ALLOC
      api = API_KMEM_CACHE_ALLOC
      if (load<u8>(end) == 0x5f && load<u32>(end + 1) == NODE_) {
        end += 5
        oldName = p
        oldNameLength = 21
      }
    }
  } else if (word == MM_PAGE_) {
    const rest = load<u32>(p + 8)
    api = API_PAGES
    if (rest == FREE) {
      end = p + 12
      kind = KIND_FREE
    } else if (rest == ALLO && load<u8>(p + 12) == 0x63) {
      end = p + 13
      kind = KIND_ALLOC
    }
  } else if (word == KMALLOC_NODE && load<u32>(p + 8) == NODE_) {
    end = p + 12
    kind = KIND_ALLOC
    api = API_KMALLOC
    oldName = p
    oldNameLength = 12
  }
  if (end == 0 || load<u8>(end) != COLON) return false
  textAt = end + 1
  return true
}

/** The colon behind the time of an event, or 0 where the line is none. */
// @ts-ignore: decorator
@inline
function timeEnd(p: usize): usize {
  p = findEither(p, COLON)
  while (load<u8>(p) != LF) {
    if (load<u8>(p + 1) == SPACE) {
      let q = blanks(p + 2)
      if (load<u32>(q) == KMEM && load<u8>(q + 4) == COLON) q += 5
      if (isEvent(q)) return p
    }
    p = findEither(p + 1, COLON)
  }
  return 0
}

/** Where the word begins that ends in front of `p`. */
// @ts-ignore: decorator
@inline
function wordBegin(p: usize, start: usize): usize {
  while (p > start && load<u8>(p - 1) != SPACE) p--
  return p
}

// @ts-ignore: decorator
@inline
function blanksBefore(p: usize, start: usize): usize {
  while (p > start && load<u8>(p - 1) == SPACE) p--
  return p
}

/** Reads `123.456789` or `123`, as nanoseconds or as it is. Whether it could be. */
function readTime(p: usize, end: usize, to: usize): u32 {
  const behind = decimal(p, NUMBER)
  if (behind == 0) return NO_STYLE
  const whole = load<u64>(NUMBER)
  if (behind == end) {
    store<u64>(to, whole)
    return TICKS
  }
  const digits = end - behind - 1
  if (load<u8>(behind) != DOT || digits > 9 || whole > 18_446_744_072) return NO_STYLE
  if (decimal(behind + 1, NUMBER) != end) return NO_STYLE
  let fraction = load<u64>(NUMBER)
  for (let n = digits; n < 9; n++) fraction *= 10
  store<u64>(to, whole * 1_000_000_000 + fraction)
  return SECONDS
}

/** Notes a process, if its number stands here. Whether it does. */
function setProcess(p: usize, end: usize): bool {
  if (decimal(p, NUMBER) != end || (load<u8>(p) == 0x30 && end > p + 1)) return false
  processAt = p
  processLength = <u32>(end - p)
  return true
}

/** Reads a CPU's number. Whether it is one. */
function readCpu(p: usize, end: usize, i: u32): bool {
  if (decimal(p, NUMBER) != end || load<u64>(NUMBER) > 0x7fff_ffff) return false
  store<u32>(CPU + ((<usize>i) << 2), load<u32>(NUMBER))
  return true
}

/**
 * Reads what stands in front of the event's name: command, thread, CPU and time.
 * @param end the colon behind the time
 * @returns the set of fields, or 0 if that is not what stands there
 */
function readHead(start: usize, end: usize, i: u32): u32 {
  const wide = (<usize>i) << 3
  let set: u32 = 0
  processLength = 0
  end = blanksBefore(end, start)
  // 123us+: a mark of how long it took since the event before.
  if (end - start > 3 && load<u16>(end - 3) == 0x7375 && load<u8>(end - 1) < 0x41) end--
  let p = wordBegin(end, start)
  // 123us: since the trace began.
  const isMicros = end - p > 2 && load<u16>(end - 2) == 0x7375
  const told = readTime(p, isMicros ? end - 2 : end, TIME + wide)
  if (told == NO_STYLE) return 0
  const kindOfTime = isMicros ? SECONDS : told
  if (isMicros) {
    if (told != TICKS || load<u64>(TIME + wide) > 18_446_744_073_709_551) return 0
    store<u64>(TIME + wide, load<u64>(TIME + wide) * 1000)
  }
  if (style == NO_STYLE) style = kindOfTime
  if (style == kindOfTime) set |= HAS_TIME

  end = blanksBefore(p, start)
  p = wordBegin(end, start)
  if (p == end) return 0
  if (load<u8>(end - 1) != CLOSING_BRACKET) {
    // Flags, with the CPU in front of them in one word or as a word of its own; or, without a CPU, the thread.
    const behind = decimal(p, NUMBER)
    const before = blanksBefore(p, start)
    if (before > start && load<u8>(before - 1) == CLOSING_BRACKET) {
      end = before
      p = wordBegin(end, start)
    } else if (behind != 0 && behind < end && load<u8>(behind) != SLASH && load<u8>(behind) != DASH) {
      if (readCpu(p, behind, i)) set |= HAS_CPU
      end = before
    }
  }
  if (end > start && load<u8>(end - 1) == CLOSING_BRACKET) {
    p = wordBegin(end, start)
    if (load<u8>(p) != BRACKET || !readCpu(p + 1, end - 1, i)) return 0
    set |= HAS_CPU
    end = blanksBefore(p, start)
  }
  if (end > start && load<u8>(end - 1) == CLOSE) {
    // The process, if it is known: (  123) or (-------).
    p = end - 1
    while (p > start && load<u8>(p) != OPEN) p--
    setProcess(blanks(p + 1), end - 1)
    end = blanksBefore(p, start)
  }
  p = end
  while (p > start && isDigit(load<u8>(p - 1))) p--
  if (p == end || p == start || decimal(p, THREAD + wide) != end) return 0
  set |= HAS_THREAD
  const mark = load<u8>(p - 1)
  if (mark == SLASH) {
    end = p - 1
    p = end
    while (p > start && isDigit(load<u8>(p - 1))) p--
    if (!setProcess(p, end)) return 0
    end = p
  } else if (mark == DASH) end = p - 1
  else if (mark == SPACE) end = p
  else return 0
  p = blanks(start)
  end = blanksBefore(end, start)
  command = p
  commandLength = end > p ? <u32>(end - p) : 0
  // <...>: the kernel had forgotten it.
  if (commandLength == 5 && load<u32>(p) == 0x2e2e_2e3c) commandLength = 0
  return set
}

/** A value with `0x` or without, in hex or in decimal. The position behind it, or 0. */
// @ts-ignore: decorator
@inline
function number(p: usize, to: usize): usize {
  return <u32>load<u16>(p) == 0x7830 ? hex(p + 2, to) : decimal(p, to)
}

/** A pointer: hex with `0x` or without, or a word in parentheses that stands for null or for one that is not told. */
function pointer(p: usize, to: usize): usize {
  p = blanks(p)
  if (load<u8>(p) == OPEN) {
    const c = load<u8>(p + 1)
    store<u64>(to, 0)
    p = findEither(p, CLOSE)
    // (nil) and (null), but (____ptrval____).
    return c == 0x6e && load<u8>(p) == CLOSE ? p + 1 : 0
  }
  if (load<u32>(p) == 0x4c4c_554e) {
    store<u64>(to, 0)
    return p + 4
  }
  return hex(<u32>load<u16>(p) == 0x7830 ? p + 2 : p, to)
}

/** What was found of the values for `fields`: where they begin and how long they are; no length if there are none. */
let offsetAt: usize = 0
let offsetLength: u32 = 0
let flagsAt: usize = 0
let flagsLength: u32 = 0
/** 0 and 1, or 2 if that is not told. */
let accounted: u32 = 2
let migrateType: u64 = 0
let hasMigrateType: bool = false

// @ts-ignore: decorator
@inline
function wordEnd(p: usize): usize {
  return findEither(p, SPACE)
}

/** Reads `F+0xO/0xS`, `0xH` or `H`. */
function readCallSite(p: usize, end: usize, i: u32): u32 {
  const wide = (<usize>i) << 3
  const word = <u32>load<u16>(p) == 0x7830 ? p + 2 : p
  if (hex(word, CALL_SITE + wide) == end) return HAS_CALL_SITE
  let q = end
  while (q > p && load<u8>(q - 1) != PLUS) q--
  const nameEnd = q > p + 1 ? q - 1 : end
  store<u32>(FUNCTION + ((<usize>i) << 2), intern(p, <u32>(nameEnd - p)))
  offsetAt = nameEnd
  offsetLength = <u32>(end - nameEnd)
  return HAS_FUNCTION
}

/** Reads the values `KEY=VALUE`. Returns the set of fields, or 0 if something is missing or wrong. */
function readValues(p: usize, i: u32, pageSize: u64): u32 {
  const at = (<usize>i) << 2
  const wide = (<usize>i) << 3
  let set: u32 = HAS_API
  let order: u64 = 64
  let pfn: bool = false
  let pointed: bool = false
  offsetLength = 0
  flagsLength = 0
  accounted = 2
  hasMigrateType = false
  p = blanks(p)
  while (load<u8>(p) != LF) {
    const key = load<u32>(p)
    let next: usize = 0
    if (key == 0x6c6c_6163 && load<u8>(p + 9) == EQUALS) {
      // call_site
      next = wordEnd(p + 10)
      set |= readCallSite(p + 10, next, i)
    } else if (key == 0x3d72_7470) {
      // ptr
      next = pointer(p + 4, ADDRESS + wide)
      pointed = true
      if (next != 0) set |= HAS_ADDRESS
      else next = wordEnd(blanks(p + 4))
    } else if (key == 0x656d_616e && load<u8>(p + 4) == EQUALS) {
      // name
      next = wordEnd(p + 5)
      store<u32>(TYPE + at, intern(p + 5, <u32>(next - p - 5)))
      set |= HAS_TYPE
    } else if (key == 0x6574_7962 && load<u8>(p + 9) == EQUALS) {
      // bytes_req
      next = number(p + 10, SIZE + wide)
      set |= HAS_SIZE
    } else if (key == 0x6574_7962 && load<u8>(p + 11) == EQUALS) {
      // bytes_alloc
      next = number(p + 12, USABLE + wide)
      set |= HAS_USABLE
    } else if (key == 0x5f70_6667 && load<u8>(p + 9) == EQUALS) {
      // gfp_flags
      next = wordEnd(p + 10)
      const c = load<u8>(p + 10)
      if (isDigit(c)) {
        if (number(p + 10, NUMBER) != next || load<u32>(NUMBER, 4) != 0) return 0
        store<u32>(GFP_FLAGS + at, load<u32>(NUMBER))
        set |= HAS_GFP_FLAGS
      } else if (next - p == 14 && load<u32>(p + 10) == 0x656e_6f6e) {
        store<u32>(GFP_FLAGS + at, 0)
        set |= HAS_GFP_FLAGS
      } else {
        flagsAt = p + 10
        flagsLength = <u32>(next - flagsAt)
      }
    } else if (key == 0x6564_6f6e && load<u8>(p + 4) == EQUALS) {
      // node
      const isNegative = load<u8>(p + 5) == DASH
      next = number(isNegative ? p + 6 : p + 5, NUMBER)
      const value = <i32>load<u32>(NUMBER)
      if (load<u32>(NUMBER, 4) != 0) return 0
      store<u32>(NODE + at, isNegative ? -value : value)
      set |= HAS_NODE
    } else if (key == 0x6f63_6361 && load<u8>(p + 9) == EQUALS) {
      // accounted: true, false, 0, 1, (0), (1)
      const c = load<u8>(p + 10) == OPEN ? load<u8>(p + 11) : load<u8>(p + 10)
      accounted = c == 0x74 || c == 0x31 ? 1 : 0
      next = wordEnd(p + 10)
    } else if (key == 0x3d6e_6670) {
      // pfn
      next = number(p + 4, NUMBER)
      const frame = load<u64>(NUMBER)
      if (next == 0 || frame > u64.MAX_VALUE / pageSize) return 0
      store<u64>(ADDRESS + wide, frame * pageSize)
      pfn = true
    } else if (key == 0x6564_726f && load<u8>(p + 5) == EQUALS) {
      // order
      next = number(p + 6, NUMBER)
      order = load<u64>(NUMBER)
    } else if (key == 0x7267_696d && load<u8>(p + 11) == EQUALS) {
      // migratetype
      next = number(p + 12, NUMBER)
      migrateType = load<u64>(NUMBER)
      hasMigrateType = true
    } else if (load<u8>(p) == BRACKET) {
      // The module of the function before.
      next = wordEnd(p)
      if ((set & HAS_FUNCTION) != 0 && load<u8>(next - 1) == CLOSING_BRACKET) {
        store<u32>(MODULE + at, intern(p + 1, <u32>(next - p - 2)))
        set |= HAS_MODULE
      }
    } else if (load<u8>(p) == OPEN) {
      // What was said before, once more.
      next = findEither(p, CLOSE)
      if (load<u8>(next) == CLOSE) next++
    } else if (key == 0x6567_6170 && load<u8>(p + 4) == EQUALS) {
      // page: a pointer that says no more than pfn; (null) with blanks before it.
      next = wordEnd(blanks(p + 5))
    } else {
      next = wordEnd(p)
    }
    if (next == 0 || (load<u8>(next) != SPACE && load<u8>(next) != LF)) return 0
    p = blanks(next)
  }
  if (api == API_PAGES) {
    if (!pfn || order > 40 || pageSize > u64.MAX_VALUE >> order) return 0
    store<u64>(SIZE + wide, pageSize << order)
    set |= HAS_ADDRESS | HAS_SIZE
    if (kind == KIND_ALLOC) {
      store<u64>(ELEMENTS + wide, (<u64>1) << order)
      set |= HAS_COUNT
    }
    return set
  }
  // An address that the kernel does not tell is missing in the event; but a line without one is none of an event's.
  if (!pointed) return 0
  return kind == KIND_ALLOC && (set & HAS_SIZE) == 0 ? 0 : set
}

/** Appends `,"NAME":"TEXT"`, the name given as up to eight bytes with what stands around it. */
// @ts-ignore: decorator
@inline
function appendText(out: usize, from: usize, length: u32): usize {
  if (isPlain(from, length)) {
    for (let n: usize = 0; n < length; n += 16) v128.store(out + n, v128.load(from + n))
    out += length
  } else {
    out = escape(from, length, out)
  }
  store<u8>(out, 0x22)
  return out + 1
}

const COMMAND_KEY: usize = memory.data<u8>([0x2c, 0x22, 0x63, 0x6f, 0x6d, 0x6d, 0x22, 0x3a, 0x22, 0, 0, 0, 0, 0, 0, 0])
/** `,"tgid":` */
const PROCESS_KEY: usize = memory.data<u8>([0x2c, 0x22, 0x74, 0x67, 0x69, 0x64, 0x22, 0x3a, 0, 0, 0, 0, 0, 0, 0, 0])
const OFFSET_KEY: usize = memory.data<u8>([
  0x2c, 0x22, 0x6f, 0x66, 0x66, 0x73, 0x65, 0x74, 0x22, 0x3a, 0x22, 0, 0, 0, 0, 0,
])
const FLAGS_KEY: usize = memory.data<u8>([
  0x2c, 0x22, 0x67, 0x66, 0x70, 0x5f, 0x66, 0x6c, 0x61, 0x67, 0x73, 0x22, 0x3a, 0x22, 0, 0,
])
const ACCOUNTED_KEY: usize = memory.data<u8>([
  0x2c, 0x22, 0x61, 0x63, 0x63, 0x6f, 0x75, 0x6e, 0x74, 0x65, 0x64, 0x22, 0x3a, 0, 0, 0,
])
const MIGRATE_KEY: usize = memory.data<u8>([
  0x2c, 0x22, 0x6d, 0x69, 0x67, 0x72, 0x61, 0x74, 0x65, 0x74, 0x79, 0x70, 0x65, 0x22, 0x3a, 0,
])
const EVENT_KEY: usize = memory.data<u8>([0x2c, 0x22, 0x65, 0x76, 0x65, 0x6e, 0x74, 0x22, 0x3a, 0x22, 0, 0, 0, 0, 0, 0])

/** The id of the text of `fields`, or -1 if there is nothing to say. */
function fieldsText(): i32 {
  // A comma stands in the place of the opening brace.
  let out = JSON_TEXT
  if (commandLength != 0) {
    v128.store(out, v128.load(COMMAND_KEY))
    out = appendText(out + 9, command, commandLength)
  }
  if (processLength != 0) {
    v128.store(out, v128.load(PROCESS_KEY))
    memory.copy(out + 8, processAt, processLength)
    out += 8 + processLength
  }
  if (oldName != 0) {
    v128.store(out, v128.load(EVENT_KEY))
    out = appendText(out + 10, oldName, oldNameLength)
  }
  if (offsetLength != 0) {
    v128.store(out, v128.load(OFFSET_KEY))
    out = appendText(out + 11, offsetAt, offsetLength)
  }
  if (flagsLength != 0) {
    v128.store(out, v128.load(FLAGS_KEY))
    out = appendText(out + 14, flagsAt, flagsLength)
  }
  if (accounted != 2) {
    v128.store(out, v128.load(ACCOUNTED_KEY))
    store<u8>(out + 13, <u8>(0x30 + accounted))
    out += 14
  }
  if (hasMigrateType) {
    v128.store(out, v128.load(MIGRATE_KEY))
    out += 15
    let divisor: u64 = 1
    while (migrateType / divisor >= 10) divisor *= 10
    for (; divisor > 0; divisor /= 10) store<u8>(out++, <u8>(0x30 + ((migrateType / divisor) % 10)))
  }
  if (out == JSON_TEXT) return -1
  store<u8>(JSON_TEXT, 0x7b)
  store<u8>(out, 0x7d)
  return <i32>intern(JSON_TEXT, <u32>(out + 1 - JSON_TEXT))
}

/** `CPU:1 [LOST 1705 EVENTS]`, or the header's `# entries-in-buffer/entries-written: 178/1883`. */
function readLost(p: usize, i: u32): u32 {
  const wide = (<usize>i) << 3
  if (load<u32>(p) == 0x3a55_5043) {
    const q = decimal(p + 4, NUMBER)
    if (q == 0 || load<u32>(q) != 0x4f4c_5b20 || load<u32>(q + 3) != 0x2054_534f || !readCpu(p + 4, q, i)) return 0
    return decimal(q + 7, ELEMENTS + wide) == 0 ? 0 : HAS_CPU | HAS_COUNT
  }
  if (load<u64>(p) != 0x6569_7274_6e65_2023 || load<u64>(p + 8) != 0x6675_622d_6e69_2d73) return 0
  const behind = decimal(blanks(p + 36), NUMBER)
  if (behind == 0 || load<u8>(behind) != SLASH) return 0
  const inBuffer = load<u64>(NUMBER)
  if (decimal(behind + 1, NUMBER) == 0 || load<u64>(NUMBER) <= inBuffer) return 0
  store<u64>(ELEMENTS + wide, load<u64>(NUMBER) - inBuffer)
  return HAS_COUNT
}

/** Whether a line is none that is missed: empty, a remark, or the first ones of a report. */
function isHeader(p: usize): bool {
  const c = load<u8>(p)
  if (c == LF || c == 0x23) return true
  return load<u32>(p) == 0x7375_7063 || load<u64>(p) == 0x206e_6f69_7372_6576
}

/**
 * Reads whole lines from `p` to `end` until there are `capacity` events or the lines are used up.
 * @param pageSize bytes of a page
 * @param knownStyle how times were written before
 * @returns how many events were read
 */
export function decode(p: usize, end: usize, capacity: u32, pageSize: u64, knownStyle: u32): u32 {
  clearStrings()
  let i: u32 = 0
  let read: u32 = 0
  let all: u32 = 0
  skipped = 0
  style = knownStyle
  while (end > p && load<u8>(end - 1) != LF) end--
  isLong = end == p
  while (p < end && i < capacity && !stringsFull(BATCH_STRING_BYTES)) {
    const lineEnd = findLf(p)
    let set: u32 = 0
    if (lineEnd - p < MAX_LINE) {
      const colon = timeEnd(p)
      if (colon != 0) {
        set = readValues(textAt, i, pageSize)
        if (set != 0) {
          const head = readHead(p, colon, i)
          set = head == 0 ? 0 : set | head
        }
        if (set != 0) {
          const text = fieldsText()
          if (text >= 0) {
            store<u32>(FIELDS + ((<usize>i) << 2), <u32>text)
            set |= HAS_FIELDS
          }
          store<u8>(KIND + i, kind)
          store<u8>(API + i, api)
        }
      } else {
        set = readLost(p, i)
        if (set != 0) store<u8>(KIND + i, KIND_LOST)
      }
    }
    if (set != 0) {
      store<u32>(MASK + ((<usize>i) << 2), set)
      all |= set
      i++
    } else if (!isHeader(p) && skipped++ == 0) {
      firstSkipped = read
    }
    read++
    p = lineEnd + 1
  }
  position = p
  lines = read
  fields = all
  return i
}
