/** Lines of text to columns. */

import * as Layout from '../../lib/kernel/layouts/replay'
import * as Column from '../shared/columns'
import * as Event from '../shared/event'
import { misfit, setMisfit } from '../shared/numbers'
import { lineEnd, multiply, number, pointer, skipSpaces, threadId } from './read'
import { CR, LF, TIMES } from './text'

/** The expected text in place of the byte that did not match, or `NOTHING`. */
export let fault: i32 = Layout.NOTHING
/** The byte that did not fit. */
export let faultAt: usize = 0
/** The position after the last line that was read, or the beginning of the line at fault. */
export let position: usize = 0
/** The number of lines that were read, including empty ones. */
export let lines: u32 = 0
/** The union of the fields of all events. */
export let fields: u32 = 0

const MALLOC_FIELDS: u32 = Event.HAS_API | Event.HAS_THREAD | Event.HAS_ADDRESS | Event.HAS_SIZE
const FREE_FIELDS: u32 = Event.HAS_API | Event.HAS_THREAD | Event.HAS_ADDRESS

/**
 * Reads the whole lines from `p` to `end` until there are `capacity` events, the lines are used up, or one is at fault.
 * @returns the number of events that were read
 */
export function decode(p: usize, end: usize, capacity: u32): u32 {
  let i: u32 = 0
  let read: u32 = 0
  let all: u32 = 0
  let start = p
  while (end > p && load<u8>(end - 1) != LF) end--
  // The decoder passes whole lines, or enough bytes of an unfinished line to show that it is too long.
  fault = end > p ? Layout.NOTHING : Layout.TOO_LONG
  while (p < end && i < capacity) {
    start = p
    const wide = (<usize>i) << 3
    let set: u32 = 0
    p = skipSpaces(p)
    const c = <u32>load<u8>(p)
    if (c == LF || c == CR) {
      if (c == CR) p++
      if (<u32>load<u8>(p) != LF) {
        setMisfit(p)
        fault = Layout.LINE_FEED
        break
      }
    } else {
      p = threadId(p, Column.THREAD + wide)
      if (p == 0) {
        fault = Layout.THREAD_ID
        break
      }
      if (<u32>load<u8>(p) != 0x3a) {
        setMisfit(p)
        fault = Layout.COLON
        break
      }
      p = skipSpaces(p + 1)
      // The first four letters distinguish the words. A pointer may follow a word without a gap.
      const word = load<u32>(p)
      let expected = Layout.POINTER_AND_SIZE
      if (word == 0x6c6c616d && load<u16>(p + 4) == 0x636f) {
        store<u8>(Column.KIND + i, Event.KIND_ALLOC)
        store<u8>(Column.API + i, Event.API_MALLOC)
        set = MALLOC_FIELDS
        p = pointer(p + 6, Column.ADDRESS + wide)
        if (p != 0) p = number(p, Column.SIZE + wide)
      } else if (word == 0x65657266) {
        store<u8>(Column.KIND + i, Event.KIND_FREE)
        store<u8>(Column.API + i, Event.API_FREE)
        set = FREE_FIELDS
        p = pointer(p + 4, Column.ADDRESS + wide)
        expected = Layout.POINTER
      } else if (word == 0x6c616572 && load<u32>(p + 3) == 0x636f6c6c) {
        store<u8>(Column.KIND + i, Event.KIND_REALLOC)
        store<u8>(Column.API + i, Event.API_REALLOC)
        set = MALLOC_FIELDS | Event.HAS_OLD_ADDRESS
        p = pointer(p + 7, Column.ADDRESS + wide)
        if (p != 0) p = pointer(p, Column.OLD_ADDRESS + wide)
        if (p != 0) p = number(p, Column.SIZE + wide)
        expected = Layout.POINTERS_AND_SIZE
      } else if (word == 0x6c6c6163 && load<u16>(p + 4) == 0x636f) {
        store<u8>(Column.KIND + i, Event.KIND_ALLOC)
        store<u8>(Column.API + i, Event.API_CALLOC)
        set = MALLOC_FIELDS | Event.HAS_COUNT
        p = pointer(p + 6, Column.ADDRESS + wide)
        if (p != 0) p = number(p, Column.ELEMENTS + wide)
        if (p != 0) p = number(p, Column.SIZE + wide)
        if (p != 0) set |= multiply(wide)
        expected = Layout.POINTER_AND_SIZES
      } else if (load<u64>(p) == 0x6e67696c616d656d) {
        store<u8>(Column.KIND + i, Event.KIND_ALLOC)
        store<u8>(Column.API + i, Event.API_MEMALIGN)
        set = MALLOC_FIELDS | Event.HAS_ALIGNMENT
        p = pointer(p + 8, Column.ADDRESS + wide)
        if (p != 0) p = number(p, Column.ALIGNMENT + wide)
        if (p != 0) p = number(p, Column.SIZE + wide)
        expected = Layout.POINTER_ALIGNMENT_SIZE
      } else if (load<u64>(p) == 0x645f646165726874 && load<u32>(p + 7) == 0x656e6f64) {
        store<u8>(Column.KIND + i, Event.KIND_THREAD_DESTROY)
        set = Event.HAS_THREAD
        p = pointer(p + 11, Column.ADDRESS + wide)
        // A null pointer is written where there is no pointer.
        if (p != 0 && load<u64>(Column.ADDRESS + wide) != 0) set |= Event.HAS_ADDRESS
        expected = Layout.POINTER
      } else {
        setMisfit(p)
        p = 0
        expected = Layout.ACTION
      }
      if (p == 0) {
        fault = expected
        break
      }

      let next = lineEnd(p)
      if (next == 0) {
        const what = load<u8>(Column.KIND + i)
        if (what == Event.KIND_THREAD_DESTROY) {
          p = number(p, Column.END_TIME + wide)
          set |= Event.HAS_END_TIME
          fault = Layout.END_TIME_OR_END
        } else {
          p = number(p, Column.TIME + wide)
          if (p != 0) p = number(p, Column.END_TIME + wide)
          set |= TIMES
          fault = Layout.TIMES_OR_END
        }
        if (p == 0) break
        next = lineEnd(p)
        if (next == 0 && (what == Event.KIND_FREE || what == Event.KIND_REALLOC)) {
          p = number(p, Column.PRESENT + wide)
          set |= Event.HAS_PRESENT
          fault = Layout.PRESENT_OR_END
          if (p == 0) break
          next = lineEnd(p)
        }
        fault = next == 0 ? Layout.END : Layout.NOTHING
        if (next == 0) break
      }
      p = next
    }
    p++
    if (p - start > Layout.MAX_LINE) {
      fault = Layout.TOO_LONG
      break
    }
    read++
    if (set != 0) {
      store<u32>(Column.MASK + ((<usize>i) << 2), set)
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
