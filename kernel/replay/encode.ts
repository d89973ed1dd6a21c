/** Columns to lines of text. */

import { EXISTING_AS_MALLOC, NO_ADDRESS, PRESENT_WITHOUT_TIMES } from '../../lib/kernel/layouts/replay'
import { ADDRESS, API, KIND, MASK, PRESENT, THREAD } from '../shared/columns'
import * as Event from '../shared/event'
import { writeDecimal } from '../shared/numbers'
import { writeShortDecimal, writeWideHex } from '../shared/wide'
import { clearNotes, note, notes, otherApi } from './notes'
import { LF, OUTPUT, SPACE, TIMES } from './text'
import { writeDone, writeEnd, writeOther, writeRealloc, writeSize, writeTimes } from './values'

/** The number of bytes of output before the line of the event that has notes, or in all. */
export let lineStart: usize = 0
/** The number of bytes of output. */
export let written: usize = 0
/** Fields that malloc cannot represent. */
const NOT_MALLOC: u32 = Event.HAS_COUNT | Event.HAS_ELEMENT_SIZE | Event.HAS_ALIGNMENT

/**
 * Writes the events from `i` to `n`, up to and including the first that has `notes`.
 * @param micros whether times are microseconds
 * @returns the first event that was not examined
 */
export function encode(i: u32, n: u32, micros: bool): u32 {
  const begin = OUTPUT
  let out = begin
  clearNotes()
  for (; i < n; i++) {
    const wide = (<usize>i) << 3
    const set = load<u32>(MASK + ((<usize>i) << 2))
    const what = load<u8>(KIND + i)
    const start = out
    let p = out
    if ((set & Event.HAS_THREAD) != 0) {
      let id = load<u64>(THREAD + wide)
      if (<i64>id < 0) {
        store<u8>(p++, 0x2d)
        id = 0 - id
      }
      p = writeShortDecimal(p, id)
    } else {
      store<u8>(p++, 0x30)
    }

    if (what == Event.KIND_FREE) {
      if ((set & Event.HAS_ADDRESS) == 0) {
        note(NO_ADDRESS)
        p = 0
      } else {
        if ((set & Event.HAS_API) != 0 && load<u8>(API + i) != Event.API_FREE) otherApi(Event.API_FREE)
        store<u64>(p, 0x2065657266203a) // ": free "
        store<u16>(p + 7, 0x7830)
        p = writeWideHex(p + 9, load<u64>(ADDRESS + wide))
      }
    } else if (what == Event.KIND_ALLOC || what == Event.KIND_EXISTING) {
      if ((set & Event.HAS_ADDRESS) == 0) {
        note(NO_ADDRESS)
        p = 0
      } else if (
        what == Event.KIND_ALLOC &&
        ((set & NOT_MALLOC) != 0 || ((set & Event.HAS_API) != 0 && load<u8>(API + i) == Event.API_CALLOC))
      ) {
        p = writeOther(p, i, set)
      } else {
        if (what == Event.KIND_EXISTING) note(EXISTING_AS_MALLOC)
        if ((set & Event.HAS_API) != 0 && load<u8>(API + i) != Event.API_MALLOC) otherApi(Event.API_MALLOC)
        store<u64>(p, 0x636f6c6c616d203a) // ": malloc"
        store<u32>(p + 8, 0x783020)
        p = writeSize(writeWideHex(p + 11, load<u64>(ADDRESS + wide)), set, wide)
      }
    } else if (what == Event.KIND_REALLOC) {
      p = writeRealloc(p, i, set)
    } else if (what == Event.KIND_THREAD_DESTROY) {
      p = writeDone(p, set, wide)
    } else {
      // The wrapper counts events of other kinds.
      continue
    }

    if (p != 0) {
      if ((set & TIMES) != 0)
        p = what == Event.KIND_THREAD_DESTROY ? writeEnd(p, set, wide, micros) : writeTimes(p, set, wide, micros)
      if ((set & Event.HAS_PRESENT) != 0 && (what == Event.KIND_FREE || what == Event.KIND_REALLOC)) {
        if ((set & TIMES) == 0) {
          note(PRESENT_WITHOUT_TIMES)
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
