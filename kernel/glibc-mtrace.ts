/** glibc's mtrace: lines to columns. See lib/formats/glibc-mtrace. */

import { KERNEL_INPUT } from '../lib/kernel/layouts/input'
import { BATCH_STRING_BYTES } from '../lib/event/limits'
import { CUT, MAX_LINE, MORE_LINES, NO_LINES, TOO_LONG } from '../lib/kernel/layouts/glibc-mtrace'
import { MAX_STRINGS } from '../lib/kernel/layouts/strings'
import * as Column from './shared/columns'
import * as Event from './shared/event'
import * as Places from './glibc-mtrace/places'
import { findLf, LF } from './shared/lines'
import { hex } from './shared/numbers'
import { clearStrings, intern, stringsFull } from './shared/strings'

export {
  ADDRESS,
  CALL_SITE,
  FIELDS,
  FUNCTION,
  KIND,
  MASK,
  MODULE,
  OLD_ADDRESS,
  OUTCOME,
  SIZE,
  TEXT,
} from './shared/columns'
export { LISTED, listed, LISTS, lists, setSeed, STARTS, stringBytes, STRINGS, strings } from './shared/strings'

/** The input buffer: 262144 bytes, followed by room for what readers examine beyond a line. */
export const INPUT: usize = memory.data(KERNEL_INPUT + 96)

/** `= ` as a word. */
const EQUALS: u32 = 0x203d

/** The position after the last line that was read. */
export let position: usize = 0
/** The number of lines that were read. */
export let lines: u32 = 0
/** The union of the fields of all events. */
export let fields: u32 = 0
/** The number of lines that became comments, except `= Start` and `= End`, and the number of the first. */
export let odd: u32 = 0
export let firstOdd: u32 = 0
/** The fault of the line at `position`: none, too long, or truncated within an event. */
export let fault: u32 = 0
/** The last line of the trace is the old block of a realloc, and the new one is missing. */
export let isHalf: bool = false

/** A space and a size: `0x` and hex, or 0. The position after it, or 0. */
// @ts-ignore: decorator
@inline
function size(p: usize, to: usize): usize {
  if (load<u8>(p) != Places.SPACE) return 0
  if (<u32>load<u16>(p + 1) == Places.HEX) return hex(p + 3, to)
  if (load<u8>(p + 1) != 0x30) return 0
  store<u64>(to, 0)
  return p + 2
}

/**
 * Reads whole lines from `p` to `end` until there are `capacity` events or the lines are used up. A line with the old
 * block of a realloc is only read with the line after it.
 * @param behind whether more text follows these lines @param isCut the last line had no line feed
 * @param takesHalf whether the first of a realloc's two lines may be the last of the trace
 * @returns the number of events read
 */
export function decode(p: usize, end: usize, capacity: u32, behind: u32, isCut: bool, takesHalf: bool): u32 {
  Places.forgetPlaces()
  clearStrings()
  let i: u32 = 0
  let read: u32 = 0
  let all: u32 = 0
  odd = 0
  fault = 0
  isHalf = false
  while (end > p && load<u8>(end - 1) != LF) end--
  if (end == p) fault = TOO_LONG
  let start = p
  while (p < end && i < capacity && !stringsFull(BATCH_STRING_BYTES)) {
    start = p
    const wide = (<usize>i) << 3
    let place: u32 = Places.NO_PLACE
    let set: u32 = 0
    let q = p
    let word = <u32>load<u16>(p)
    if (word == Places.AT || load<u8>(p) == Places.BRACKET) {
      q = Places.operationAfterPlace(p)
      if (q != 0) {
        place = Places.placeOf(p, q - 1)
        if (load<u32>(Places.PLACE_SET + ((<usize>place) << 2)) == Places.NOT_A_PLACE) q = 0
        else word = <u32>load<u16>(q)
      }
    }
    let next: usize = 0
    // The end of the second line of a realloc.
    let pair: usize = 0
    if (q != 0) {
      if (word == Places.PLUS || word == Places.GREATER) {
        next = Places.pointer(q + 2, Column.ADDRESS + wide)
        if (next != 0) next = size(next, Column.SIZE + wide)
        set = Event.HAS_ADDRESS | Event.HAS_SIZE
        if (word == Places.PLUS) {
          store<u8>(Column.KIND + i, Event.KIND_ALLOC)
        } else {
          store<u8>(Column.KIND + i, Event.KIND_REALLOC)
          store<u8>(Column.OUTCOME + i, Event.OUTCOME_ALLOCATED)
          set |= Event.HAS_OUTCOME
        }
      } else if (word == Places.MINUS) {
        next = Places.pointer(q + 2, Column.ADDRESS + wide)
        store<u8>(Column.KIND + i, Event.KIND_FREE)
        set = Event.HAS_ADDRESS
      } else if (word == Places.LESS) {
        next = Places.pointer(q + 2, Column.OLD_ADDRESS + wide)
        store<u8>(Column.KIND + i, Event.KIND_REALLOC)
        set = Event.HAS_OLD_ADDRESS
        if (next != 0 && load<u8>(next) == LF) {
          const second = next + 1
          if (second >= end) {
            if (behind == MORE_LINES) break
            if (behind == NO_LINES) {
              isHalf = true
              if (!takesHalf) {
                fault = CUT
                break
              }
            }
          }
          let last: usize = 0
          const operation = second < end ? Places.operationOfPair(start, q - start, place, second) : 0
          if (operation != 0) {
            last = Places.pointer(operation + 2, Column.ADDRESS + wide)
            if (last != 0) last = size(last, Column.SIZE + wide)
          }
          if (last == 0 && isCut && second < end && findLf(second) + 1 == end) {
            fault = CUT
            break
          }
          if (last != 0 && load<u8>(last) == LF) {
            read++
            pair = last
            set |= Event.HAS_ADDRESS | Event.HAS_SIZE
          } else {
            store<u8>(Column.OUTCOME + i, Event.OUTCOME_FREED)
            set |= Event.HAS_OUTCOME
          }
        }
      } else if (word == Places.BANG) {
        next = Places.pointer(q + 2, Column.OLD_ADDRESS + wide)
        if (next != 0) next = size(next, Column.SIZE + wide)
        store<u8>(Column.KIND + i, Event.KIND_REALLOC)
        store<u64>(Column.ADDRESS + wide, 0)
        set = Event.HAS_ADDRESS | Event.HAS_OLD_ADDRESS | Event.HAS_SIZE
      }
    }
    if (next == 0 || load<u8>(next) != LF) {
      // Any other line is kept unchanged.
      next = findLf(start)
      if (next - start >= MAX_LINE) {
        fault = TOO_LONG
        break
      }
      const isKnown = word == EQUALS && isMark(start, next)
      if (isCut && !isKnown && next + 1 == end) {
        fault = CUT
        break
      }
      store<u8>(Column.KIND + i, Event.KIND_COMMENT)
      store<u32>(Column.TEXT + ((<usize>i) << 2), intern(start, <u32>(next - start)))
      set = Event.HAS_TEXT
      if (!isKnown && odd++ == 0) firstOdd = read
    } else {
      if (next - start >= MAX_LINE) {
        fault = TOO_LONG
        break
      }
      if (pair != 0) next = pair
      if (place != Places.NO_PLACE) {
        const at = (<usize>place) << 2
        const told = load<u32>(Places.PLACE_SET + at) & ~Places.KNOWN
        if ((told & Event.HAS_CALL_SITE) != 0)
          store<u64>(Column.CALL_SITE + wide, load<u64>(Places.PLACE_SITE + ((<usize>place) << 3)))
        if ((told & Event.HAS_MODULE) != 0)
          store<u32>(Column.MODULE + ((<usize>i) << 2), load<u32>(Places.PLACE_MODULE + at))
        if ((told & Event.HAS_FUNCTION) != 0)
          store<u32>(Column.FUNCTION + ((<usize>i) << 2), load<u32>(Places.PLACE_FUNCTION + at))
        if ((told & Event.HAS_FIELDS) != 0)
          store<u32>(Column.FIELDS + ((<usize>i) << 2), load<u32>(Places.PLACE_FIELDS + at))
        set |= told
      }
    }
    store<u32>(Column.MASK + ((<usize>i) << 2), set)
    all |= set
    i++
    read++
    p = next + 1
    start = p
  }
  position = start
  lines = read
  fields = all
  return i
}

/** Whether a line is `= Start` or `= End`. */
function isMark(p: usize, end: usize): bool {
  const length = end - p
  if (length == 7) return load<u32>(p) == 0x7453_203d && load<u32>(p + 3) == 0x7472_6174
  return length == 5 && load<u32>(p) == 0x6e45_203d && load<u8>(p + 4) == 0x64
}
