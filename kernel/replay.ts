/** memory_replay: lines of text to columns, and columns to lines. See lib/formats/replay. */

import {
  ADDRESS,
  ALIGNMENT,
  API,
  ELEMENT_SIZE,
  ELEMENTS,
  END_TIME,
  KIND,
  MASK,
  OLD_ADDRESS,
  OUTCOME,
  PRESENT,
  SIZE,
  THREAD,
  TIME,
} from './shared/columns'
import {
  API_CALLOC,
  API_FREE,
  API_MALLOC,
  API_MEMALIGN,
  API_REALLOC,
  HAS_ADDRESS,
  HAS_ALIGNMENT,
  HAS_API,
  HAS_COUNT,
  HAS_ELEMENT_SIZE,
  HAS_END_TIME,
  HAS_OLD_ADDRESS,
  HAS_OUTCOME,
  HAS_PRESENT,
  HAS_SIZE,
  HAS_THREAD,
  HAS_TIME,
  KIND_ALLOC,
  KIND_EXISTING,
  KIND_FREE,
  KIND_REALLOC,
  KIND_THREAD_DESTROY,
  OUTCOME_ALLOCATED,
  OUTCOME_FREED,
  OUTCOME_MOVED,
  OUTCOME_NONE,
} from './shared/event'
import { decimal, hex, misfit, setMisfit, writeDecimal, writeHex } from './shared/numbers'

export {
  ADDRESS,
  ALIGNMENT,
  API,
  ELEMENT_SIZE,
  ELEMENTS,
  END_TIME,
  KIND,
  MASK,
  OLD_ADDRESS,
  OUTCOME,
  PRESENT,
  SIZE,
  THREAD,
  TIME,
}

/** Where text is read. Behind its 262144 bytes there is room for what number readers look at beyond a line. */
export const INPUT: usize = memory.data(262176)
/** Where text is written: 4096 lines of at most 160 bytes. */
export const OUTPUT: usize = memory.data(655392)

const SPACE: u32 = 0x20
const TAB: u32 = 0x09
const LF: u32 = 0x0a
const CR: u32 = 0x0d

const MAX_LINE: usize = 65_536

/** What `decode` stopped at; the wrapper has the words for it. */
const NOTHING: i32 = 0
const LINE_FEED: i32 = 1
const THREAD_ID: i32 = 2
const COLON: i32 = 3
const POINTER_AND_SIZE: i32 = 4
const POINTER: i32 = 5
const POINTERS_AND_SIZE: i32 = 6
const POINTER_AND_SIZES: i32 = 7
const POINTER_ALIGNMENT_SIZE: i32 = 8
const ACTION: i32 = 9
const END_TIME_OR_END: i32 = 10
const TIMES_OR_END: i32 = 11
const PRESENT_OR_END: i32 = 12
const END: i32 = 13
const TOO_LONG: i32 = 14

/** What stood in the way of `decode`, or `NOTHING`. */
export let fault: i32 = NOTHING
/** The byte that did not fit. */
export let faultAt: usize = 0
/** Behind the last line that was read, or the beginning of the one at fault. */
export let position: usize = 0
/** How many lines were read, empty ones too. */
export let lines: u32 = 0
/** The fields of all events together. */
export let fields: u32 = 0

const MALLOC_FIELDS: u32 = HAS_API | HAS_THREAD | HAS_ADDRESS | HAS_SIZE
const FREE_FIELDS: u32 = HAS_API | HAS_THREAD | HAS_ADDRESS
const TIMES: u32 = HAS_TIME | HAS_END_TIME

/** Passes over blanks and tabs. */
// @ts-ignore: decorator
@inline
function blanks(p: usize): usize {
  let c = <u32>load<u8>(p)
  while (c == SPACE || c == TAB) c = <u32>load<u8>(++p)
  return p
}

/** Passes over blanks and tabs, of which at least one must stand here. */
// @ts-ignore: decorator
@inline
function gap(p: usize): usize {
  const c = <u32>load<u8>(p)
  if (c != SPACE && c != TAB) {
    setMisfit(p)
    return 0
  }
  return blanks(p + 1)
}

// @ts-ignore: decorator
@inline
function number(p: usize, to: usize): usize {
  p = gap(p)
  return p == 0 ? 0 : decimal(p, to)
}

// @ts-ignore: decorator
@inline
function pointer(p: usize, to: usize): usize {
  p = gap(p)
  if (p == 0) return 0
  const digits = ((<u32>load<u16>(p)) | 0x2000) == 0x7830 ? p + 2 : p
  const end = hex(digits, to)
  // Too large a pointer does not fit at its first byte, also where that is the prefix.
  if (end == 0 && misfit == digits && hex1(digits)) setMisfit(p)
  return end
}

function hex1(p: usize): bool {
  const c = <u32>load<u8>(p)
  return c - 0x30 <= 9 || (c | 0x20) - 0x61 <= 5
}

/** A thread id: a decimal number below 2^63, or a minus sign and one up to 2^63. */
function threadId(p: usize, to: usize): usize {
  if (<u32>load<u8>(p) != 0x2d) {
    const end = decimal(p, to)
    if (end != 0 && <i64>load<u64>(to) < 0) {
      setMisfit(p)
      return 0
    }
    return end
  }
  const end = decimal(p + 1, to)
  if (end == 0) return 0
  const magnitude = load<u64>(to)
  if (magnitude > 0x8000_0000_0000_0000) {
    setMisfit(p + 1)
    return 0
  }
  store<u64>(to, 0 - magnitude)
  return end
}

/** Passes over blanks and a carriage return to the line feed; 0 if something else stands before it. */
// @ts-ignore: decorator
@inline
function lineEnd(p: usize): usize {
  if (<u32>load<u8>(p) == LF) return p
  p = blanks(p)
  if (<u32>load<u8>(p) == CR) p++
  if (<u32>load<u8>(p) == LF) return p
  setMisfit(p)
  return 0
}

/** Makes `size` of calloc's event the product of what was read into `ELEMENTS` and `SIZE`. */
// @ts-ignore: decorator
@inline
function multiply(wide: usize): u32 {
  const count = load<u64>(ELEMENTS + wide)
  const each = load<u64>(SIZE + wide)
  const product = count * each
  store<u64>(SIZE + wide, product)
  // Where the product alone does not tell the size of an element, that is kept.
  if ((count | each) >> 32 == 0 ? count != 0 : count != 0 && each <= u64.MAX_VALUE / count) return 0
  store<u64>(ELEMENT_SIZE + wide, each)
  return HAS_ELEMENT_SIZE
}

/**
 * Reads the whole lines from `p` to `end` until there are `capacity` events, the lines are used up, or one is at fault.
 * @returns how many events were read
 */
export function decode(p: usize, end: usize, capacity: u32): u32 {
  let i: u32 = 0
  let read: u32 = 0
  let all: u32 = 0
  let start = p
  while (end > p && load<u8>(end - 1) != LF) end--
  // The decoder gives whole lines, or so much that a line which does not end is too long.
  fault = end > p ? NOTHING : TOO_LONG
  while (p < end && i < capacity) {
    start = p
    const wide = (<usize>i) << 3
    let set: u32 = 0
    p = blanks(p)
    let c = <u32>load<u8>(p)
    if (c == LF || c == CR) {
      if (c == CR) p++
      if (<u32>load<u8>(p) != LF) {
        setMisfit(p)
        p = 0
        fault = LINE_FEED
        break
      }
    } else {
      p = threadId(p, THREAD + wide)
      if (p == 0) {
        fault = THREAD_ID
        break
      }
      if (<u32>load<u8>(p) != 0x3a) {
        setMisfit(p)
        p = 0
        fault = COLON
        break
      }
      p = blanks(p + 1)
      // The first four letters, and the rest where they are not enough. Something may follow a word without a gap.
      const word = load<u32>(p)
      if (word == 0x6c6c616d && load<u16>(p + 4) == 0x636f) {
        store<u8>(KIND + i, KIND_ALLOC)
        store<u8>(API + i, API_MALLOC)
        set = MALLOC_FIELDS
        p = pointer(p + 6, ADDRESS + wide)
        if (p != 0) p = number(p, SIZE + wide)
        if (p == 0) {
          fault = POINTER_AND_SIZE
          break
        }
      } else if (word == 0x65657266) {
        store<u8>(KIND + i, KIND_FREE)
        store<u8>(API + i, API_FREE)
        set = FREE_FIELDS
        p = pointer(p + 4, ADDRESS + wide)
        if (p == 0) {
          fault = POINTER
          break
        }
      } else if (word == 0x6c616572 && load<u32>(p + 3) == 0x636f6c6c) {
        store<u8>(KIND + i, KIND_REALLOC)
        store<u8>(API + i, API_REALLOC)
        set = MALLOC_FIELDS | HAS_OLD_ADDRESS
        p = pointer(p + 7, ADDRESS + wide)
        if (p != 0) p = pointer(p, OLD_ADDRESS + wide)
        if (p != 0) p = number(p, SIZE + wide)
        if (p == 0) {
          fault = POINTERS_AND_SIZE
          break
        }
      } else if (word == 0x6c6c6163 && load<u16>(p + 4) == 0x636f) {
        store<u8>(KIND + i, KIND_ALLOC)
        store<u8>(API + i, API_CALLOC)
        p = pointer(p + 6, ADDRESS + wide)
        if (p != 0) p = number(p, ELEMENTS + wide)
        if (p != 0) p = number(p, SIZE + wide)
        if (p == 0) {
          fault = POINTER_AND_SIZES
          break
        }
        set = MALLOC_FIELDS | HAS_COUNT | multiply(wide)
      } else if (load<u64>(p) == 0x6e67696c616d656d) {
        store<u8>(KIND + i, KIND_ALLOC)
        store<u8>(API + i, API_MEMALIGN)
        set = MALLOC_FIELDS | HAS_ALIGNMENT
        p = pointer(p + 8, ADDRESS + wide)
        if (p != 0) p = number(p, ALIGNMENT + wide)
        if (p != 0) p = number(p, SIZE + wide)
        if (p == 0) {
          fault = POINTER_ALIGNMENT_SIZE
          break
        }
      } else if (load<u64>(p) == 0x645f646165726874 && load<u32>(p + 7) == 0x656e6f64) {
        store<u8>(KIND + i, KIND_THREAD_DESTROY)
        set = HAS_THREAD
        p = pointer(p + 11, ADDRESS + wide)
        if (p == 0) {
          fault = POINTER
          break
        }
        // The null pointer stands for none, and is written for none.
        if (load<u64>(ADDRESS + wide) != 0) set |= HAS_ADDRESS
      } else {
        setMisfit(p)
        p = 0
        fault = ACTION
        break
      }

      let next = lineEnd(p)
      if (next == 0) {
        const what = load<u8>(KIND + i)
        if (what == KIND_THREAD_DESTROY) {
          p = number(p, END_TIME + wide)
          set |= HAS_END_TIME
          fault = END_TIME_OR_END
        } else {
          p = number(p, TIME + wide)
          if (p != 0) p = number(p, END_TIME + wide)
          set |= TIMES
          fault = TIMES_OR_END
        }
        if (p == 0) break
        next = lineEnd(p)
        if (next == 0 && (what == KIND_FREE || what == KIND_REALLOC)) {
          p = number(p, PRESENT + wide)
          set |= HAS_PRESENT
          fault = PRESENT_OR_END
          if (p == 0) break
          next = lineEnd(p)
        }
        if (next == 0) {
          p = 0
          fault = END
          break
        }
        fault = NOTHING
      }
      p = next
    }
    p++
    if (p - start > MAX_LINE) {
      fault = TOO_LONG
      break
    }
    read++
    if (set != 0) {
      store<u32>(MASK + ((<usize>i) << 2), set)
      all |= set
      i++
    }
    start = p
  }
  position = start
  lines = read
  fields = all
  faultAt = misfit
  return i
}

/**
 * What the text could not say of an event that `encode` wrote or left out, as a set. The wrapper has the words, and
 * notes them in this order.
 */
const NO_ADDRESS: u32 = 1 << 0
const EXISTING_AS_MALLOC: u32 = 1 << 1
const NOT_THE_FORMS_FIELDS: u32 = 1 << 2
const OTHER_OUTCOME: u32 = 1 << 3
const OTHER_API: u32 = 1 << 4
const NOT_THE_PRODUCT: u32 = 1 << 5
const CALLOC_WITHOUT_SIZE: u32 = 1 << 6
const NOT_DIVISIBLE: u32 = 1 << 7
const NO_SIZE: u32 = 1 << 8
const ONE_TIME: u32 = 1 << 9
const TIME_OF_DONE: u32 = 1 << 10
const TIME_TOO_LARGE: u32 = 1 << 11
const TIME_AS_END: u32 = 1 << 12
const PRESENT_WITHOUT_TIMES: u32 = 1 << 13
const NO_COUNT: u32 = 1 << 14
const NULL_OF_DONE: u32 = 1 << 15

/** What could not be said of the last event that was looked at: a set, usually empty. */
export let notes: u32 = 0
/** How many bytes of output there are before the line of the event that has notes, or in all. */
export let lineStart: usize = 0
/** How many bytes of output there are. */
export let written: usize = 0
/** The action that the last event was written as: a code of lib/event/fields.ts. */
export let writtenAs: u8 = 0

/** Fields that malloc has no place for. */
const NOT_MALLOC: u32 = HAS_COUNT | HAS_ELEMENT_SIZE | HAS_ALIGNMENT

/**
 * Writes the events from `i` to `n`, up to and including the first of which something has to be said (`notes`).
 * @param micros whether times are microseconds
 * @returns the first event that was not looked at
 */
export function encode(i: u32, n: u32, micros: bool): u32 {
  const begin = OUTPUT
  let out = begin
  notes = 0
  for (; i < n; i++) {
    const wide = (<usize>i) << 3
    const set = load<u32>(MASK + ((<usize>i) << 2))
    const what = load<u8>(KIND + i)
    const start = out
    let p = out
    if ((set & HAS_THREAD) != 0) {
      let id = load<u64>(THREAD + wide)
      if (<i64>id < 0) {
        store<u8>(p++, 0x2d)
        id = 0 - id
      }
      p = writeDecimal(p, id)
    } else {
      store<u8>(p++, 0x30)
    }

    if (what == KIND_FREE) {
      if ((set & HAS_ADDRESS) == 0) {
        notes = NO_ADDRESS
        p = 0
      } else {
        if ((set & HAS_API) != 0 && load<u8>(API + i) != API_FREE) otherApi(API_FREE)
        store<u64>(p, 0x2065657266203a) // ": free "
        store<u16>(p + 7, 0x7830)
        p = writeHex(p + 9, load<u64>(ADDRESS + wide))
      }
    } else if (what == KIND_ALLOC || what == KIND_EXISTING) {
      if ((set & HAS_ADDRESS) == 0) {
        notes = NO_ADDRESS
        p = 0
      } else if (
        what == KIND_ALLOC &&
        ((set & NOT_MALLOC) != 0 || ((set & HAS_API) != 0 && load<u8>(API + i) == API_CALLOC))
      ) {
        p = writeOther(p, i, set)
      } else {
        if (what == KIND_EXISTING) notes |= EXISTING_AS_MALLOC
        if ((set & HAS_API) != 0 && load<u8>(API + i) != API_MALLOC) otherApi(API_MALLOC)
        store<u64>(p, 0x636f6c6c616d203a) // ": malloc"
        store<u32>(p + 8, 0x783020)
        p = writeSize(writeHex(p + 11, load<u64>(ADDRESS + wide)), set, wide)
      }
    } else if (what == KIND_REALLOC) {
      p = writeRealloc(p, i, set)
    } else if (what == KIND_THREAD_DESTROY) {
      p = writeDone(p, set, wide)
    } else {
      // The wrapper has counted it.
      continue
    }

    if (p != 0) {
      if ((set & TIMES) != 0)
        p = what == KIND_THREAD_DESTROY ? writeEnd(p, set, wide, micros) : writeTimes(p, set, wide, micros)
      if ((set & HAS_PRESENT) != 0 && (what == KIND_FREE || what == KIND_REALLOC)) {
        if ((set & TIMES) == 0) {
          notes |= PRESENT_WITHOUT_TIMES
          store<u32>(p, 0x30203020) // " 0 0"
          p += 4
        }
        store<u8>(p, SPACE)
        p = writeDecimal(p + 1, load<u64>(PRESENT + wide))
      }
      store<u8>(p, LF)
      out = p + 1
    }
    if (notes != 0) {
      written = out - begin
      lineStart = start - begin
      return i + 1
    }
  }
  written = out - begin
  lineStart = written
  return i
}

function otherApi(form: u8): void {
  notes |= OTHER_API
  writtenAs = form
}

/** `: thread_done` and its pointer, 0 if there is none. */
function writeDone(p: usize, set: u32, wide: usize): usize {
  store<u16>(p, 0x203a)
  store<u64>(p + 2, 0x645f646165726874)
  store<u64>(p + 10, 0x783020656e6f)
  p += 16
  if ((set & HAS_ADDRESS) != 0) {
    if (load<u64>(ADDRESS + wide) == 0) notes |= NULL_OF_DONE
    return writeHex(p, load<u64>(ADDRESS + wide))
  }
  store<u8>(p, 0x30)
  return p + 1
}

/** An allocation by calloc or memalign, whichever has a place for more of what is known. */
function writeOther(p: usize, i: u32, set: u32): usize {
  const wide = (<usize>i) << 3
  const known = (set & HAS_API) != 0
  const by = load<u8>(API + i)
  const aligned =
    (set & HAS_ALIGNMENT) != 0 &&
    ((known && by == API_MEMALIGN) || (!(known && by == API_CALLOC) && (set & HAS_COUNT) == 0))
  const form = aligned ? API_MEMALIGN : API_CALLOC
  writtenAs = form
  if ((set & (aligned ? HAS_COUNT | HAS_ELEMENT_SIZE : HAS_ALIGNMENT)) != 0) notes |= NOT_THE_FORMS_FIELDS
  if (known && by != form) otherApi(form)
  store<u16>(p, 0x203a)
  if (aligned) {
    store<u64>(p + 2, 0x6e67696c616d656d)
    store<u32>(p + 10, 0x783020)
    p = writeHex(p + 13, load<u64>(ADDRESS + wide))
    store<u8>(p, SPACE)
    return writeSize(writeDecimal(p + 1, load<u64>(ALIGNMENT + wide)), set, wide)
  }
  store<u64>(p + 2, 0x2020636f6c6c6163)
  store<u32>(p + 8, 0x783020)
  return writeElements(writeHex(p + 11, load<u64>(ADDRESS + wide)), set, wide)
}

/** calloc's two numbers, whose product is the event's size. */
function writeElements(p: usize, set: u32, wide: usize): usize {
  const counted = (set & HAS_COUNT) != 0
  const measured = (set & HAS_ELEMENT_SIZE) != 0
  const sized = (set & HAS_SIZE) != 0
  const total = load<u64>(SIZE + wide)
  let count: u64 = counted ? load<u64>(ELEMENTS + wide) : 0
  let each: u64 = measured ? load<u64>(ELEMENT_SIZE + wide) : 0
  if (counted && measured) {
    if (sized && count * each != total) notes |= NOT_THE_PRODUCT
  } else if (!sized) {
    notes |= CALLOC_WITHOUT_SIZE
  } else if (!counted && !measured) {
    notes |= NO_COUNT
    count = 1
    each = total
  } else {
    const known = counted ? count : each
    if (known == 0 && total == 0) {
      count = 0
      each = 0
    } else if (known == 0 || total % known != 0) {
      notes |= NOT_DIVISIBLE
      count = 1
      each = total
    } else if (counted) {
      each = total / count
    } else {
      count = total / each
    }
  }
  store<u8>(p, SPACE)
  p = writeDecimal(p + 1, count)
  store<u8>(p, SPACE)
  return writeDecimal(p + 1, each)
}

/** The action, pointers and size of a realloc; 0, if a pointer is not known. */
function writeRealloc(p: usize, i: u32, set: u32): usize {
  const wide = (<usize>i) << 3
  const told = (set & HAS_OUTCOME) != 0
  const result = load<u8>(OUTCOME + i)
  let known = (set & HAS_ADDRESS) != 0
  let oldKnown = (set & HAS_OLD_ADDRESS) != 0
  let now: u64 = known ? load<u64>(ADDRESS + wide) : 0
  let old: u64 = oldKnown ? load<u64>(OLD_ADDRESS + wide) : 0
  if (told) {
    if (result == OUTCOME_NONE && known != oldKnown) {
      if (known) old = now
      else now = old
      known = true
      oldKnown = true
    }
    if (result == OUTCOME_FREED) known = true
    if (result == OUTCOME_ALLOCATED) oldKnown = true
  }
  if (!known || !oldKnown) {
    notes |= NO_ADDRESS
    return 0
  }
  if (told) {
    const shown = old == 0 ? OUTCOME_ALLOCATED : now == 0 ? OUTCOME_FREED : now == old ? OUTCOME_NONE : OUTCOME_MOVED
    if (shown != result) notes |= OTHER_OUTCOME
  }
  if ((set & HAS_API) != 0 && load<u8>(API + i) != API_REALLOC) otherApi(API_REALLOC)
  store<u16>(p, 0x203a)
  store<u64>(p + 2, 0x20636f6c6c616572)
  store<u16>(p + 10, 0x7830)
  p = writeHex(p + 12, now)
  store<u32>(p, 0x783020)
  return writeSize(writeHex(p + 3, old), set, wide)
}

// @ts-ignore: decorator
@inline
function writeSize(p: usize, set: u32, wide: usize): usize {
  store<u8>(p++, SPACE)
  if ((set & HAS_SIZE) != 0) return writeDecimal(p, load<u64>(SIZE + wide))
  notes |= NO_SIZE
  store<u8>(p, 0x30)
  return p + 1
}

/** A pair of times; the text has no place for one alone. */
function writeTimes(p: usize, set: u32, wide: usize, micros: bool): usize {
  if ((set & TIMES) != TIMES) notes |= ONE_TIME
  p = writeTime(p, load<u64>(((set & HAS_TIME) != 0 ? TIME : END_TIME) + wide), micros)
  return writeTime(p, load<u64>(((set & HAS_END_TIME) != 0 ? END_TIME : TIME) + wide), micros)
}

/** thread_done's only time. */
function writeEnd(p: usize, set: u32, wide: usize, micros: bool): usize {
  if ((set & TIMES) == TIMES) notes |= TIME_OF_DONE
  else if ((set & HAS_TIME) != 0) notes |= TIME_AS_END
  return writeTime(p, load<u64>(((set & HAS_END_TIME) != 0 ? END_TIME : TIME) + wide), micros)
}

// @ts-ignore: decorator
@inline
function writeTime(p: usize, value: u64, micros: bool): usize {
  if (micros) {
    if (value > u64.MAX_VALUE / 1000) {
      notes |= TIME_TOO_LARGE
      value = u64.MAX_VALUE
    } else {
      value *= 1000
    }
  }
  store<u8>(p, SPACE)
  return writeDecimal(p + 1, value)
}
