/** Writes the parts of a line. Each function returns the position after what it wrote. */

import * as Layout from '../../lib/kernel/layouts/replay'
import * as Column from '../shared/columns'
import * as Event from '../shared/event'
import { writeDecimal, writeHex } from '../shared/numbers'
import { writeShortDecimal } from '../shared/wide'
import { note, otherApi, setForm } from './notes'
import { SPACE, TIMES } from './text'

/** Writes `: thread_done` and its pointer, or 0 if there is none. */
export function writeDone(p: usize, set: u32, wide: usize): usize {
  store<u16>(p, 0x203a)
  store<u64>(p + 2, 0x645f646165726874)
  store<u64>(p + 10, 0x783020656e6f)
  p += 16
  if ((set & Event.HAS_ADDRESS) != 0) {
    if (load<u64>(Column.ADDRESS + wide) == 0) note(Layout.NULL_OF_DONE)
    return writeHex(p, load<u64>(Column.ADDRESS + wide))
  }
  store<u8>(p, 0x30)
  return p + 1
}

/** Writes an allocation as calloc or memalign, whichever represents more of its fields. */
export function writeOther(p: usize, i: u32, set: u32): usize {
  const wide = (<usize>i) << 3
  const known = (set & Event.HAS_API) != 0
  const by = load<u8>(Column.API + i)
  const aligned =
    (set & Event.HAS_ALIGNMENT) != 0 &&
    ((known && by == Event.API_MEMALIGN) || (!(known && by == Event.API_CALLOC) && (set & Event.HAS_COUNT) == 0))
  const form = aligned ? Event.API_MEMALIGN : Event.API_CALLOC
  setForm(form)
  if ((set & (aligned ? Event.HAS_COUNT | Event.HAS_ELEMENT_SIZE : Event.HAS_ALIGNMENT)) != 0)
    note(Layout.NOT_THE_FORMS_FIELDS)
  if (known && by != form) otherApi(form)
  store<u16>(p, 0x203a)
  if (aligned) {
    store<u64>(p + 2, 0x6e67696c616d656d)
    store<u32>(p + 10, 0x783020)
    p = writeHex(p + 13, load<u64>(Column.ADDRESS + wide))
    store<u8>(p, SPACE)
    return writeSize(writeDecimal(p + 1, load<u64>(Column.ALIGNMENT + wide)), set, wide)
  }
  store<u64>(p + 2, 0x2020636f6c6c6163)
  store<u32>(p + 8, 0x783020)
  return writeElements(writeHex(p + 11, load<u64>(Column.ADDRESS + wide)), set, wide)
}

/** Writes the two numbers of calloc, whose product is the event's size. */
function writeElements(p: usize, set: u32, wide: usize): usize {
  const counted = (set & Event.HAS_COUNT) != 0
  const measured = (set & Event.HAS_ELEMENT_SIZE) != 0
  const sized = (set & Event.HAS_SIZE) != 0
  const total = load<u64>(Column.SIZE + wide)
  let count: u64 = counted ? load<u64>(Column.ELEMENTS + wide) : 0
  let each: u64 = measured ? load<u64>(Column.ELEMENT_SIZE + wide) : 0
  if (counted && measured) {
    if (sized && count * each != total) note(Layout.NOT_THE_PRODUCT)
  } else if (!sized) {
    note(Layout.CALLOC_WITHOUT_SIZE)
  } else if (!counted && !measured) {
    note(Layout.NO_COUNT)
    count = 1
    each = total
  } else {
    const known = counted ? count : each
    if (known == 0 && total == 0) {
      count = 0
      each = 0
    } else if (known == 0 || total % known != 0) {
      note(Layout.NOT_DIVISIBLE)
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

/** Writes the action, pointers and size of a realloc. Returns 0 if a pointer is unknown. */
export function writeRealloc(p: usize, i: u32, set: u32): usize {
  const wide = (<usize>i) << 3
  const told = (set & Event.HAS_OUTCOME) != 0
  const result = load<u8>(Column.OUTCOME + i)
  let known = (set & Event.HAS_ADDRESS) != 0
  let oldKnown = (set & Event.HAS_OLD_ADDRESS) != 0
  let now: u64 = known ? load<u64>(Column.ADDRESS + wide) : 0
  let old: u64 = oldKnown ? load<u64>(Column.OLD_ADDRESS + wide) : 0
  if (told) {
    if (result == Event.OUTCOME_NONE && known != oldKnown) {
      if (known) old = now
      else now = old
      known = true
      oldKnown = true
    }
    if (result == Event.OUTCOME_FREED) known = true
    if (result == Event.OUTCOME_ALLOCATED) oldKnown = true
  }
  if (!known || !oldKnown) {
    note(Layout.NO_ADDRESS)
    return 0
  }
  if (told) {
    const shown =
      old == 0
        ? Event.OUTCOME_ALLOCATED
        : now == 0
          ? Event.OUTCOME_FREED
          : now == old
            ? Event.OUTCOME_NONE
            : Event.OUTCOME_MOVED
    if (shown != result) note(Layout.OTHER_OUTCOME)
  }
  if ((set & Event.HAS_API) != 0 && load<u8>(Column.API + i) != Event.API_REALLOC) otherApi(Event.API_REALLOC)
  store<u16>(p, 0x203a)
  store<u64>(p + 2, 0x20636f6c6c616572)
  store<u16>(p + 10, 0x7830)
  p = writeHex(p + 12, now)
  store<u32>(p, 0x783020)
  return writeSize(writeHex(p + 3, old), set, wide)
}

/** Writes a space and the size of an event, or 0 if it has none. */
// @ts-ignore: decorator
@inline
export function writeSize(p: usize, set: u32, wide: usize): usize {
  store<u8>(p++, SPACE)
  if ((set & Event.HAS_SIZE) != 0) return writeShortDecimal(p, load<u64>(Column.SIZE + wide))
  note(Layout.NO_SIZE)
  store<u8>(p, 0x30)
  return p + 1
}

/** Writes both times. A single one is written twice. */
export function writeTimes(p: usize, set: u32, wide: usize, micros: bool): usize {
  if ((set & TIMES) != TIMES) note(Layout.ONE_TIME)
  p = writeTime(p, load<u64>(((set & Event.HAS_TIME) != 0 ? Column.TIME : Column.END_TIME) + wide), micros)
  return writeTime(p, load<u64>(((set & Event.HAS_END_TIME) != 0 ? Column.END_TIME : Column.TIME) + wide), micros)
}

/** Writes the only time of thread_done. */
export function writeEnd(p: usize, set: u32, wide: usize, micros: bool): usize {
  if ((set & TIMES) == TIMES) note(Layout.TIME_OF_DONE)
  else if ((set & Event.HAS_TIME) != 0) note(Layout.TIME_AS_END)
  return writeTime(p, load<u64>(((set & Event.HAS_END_TIME) != 0 ? Column.END_TIME : Column.TIME) + wide), micros)
}

// @ts-ignore: decorator
@inline
function writeTime(p: usize, value: u64, micros: bool): usize {
  if (micros) {
    if (value > u64.MAX_VALUE / 1000) {
      note(Layout.TIME_TOO_LARGE)
      value = u64.MAX_VALUE
    } else {
      value *= 1000
    }
  }
  store<u8>(p, SPACE)
  return writeDecimal(p + 1, value)
}
