/** Columns to records. */

import { NO_ADDRESS, NO_SIZE, OTHER_TYPE, UNFIT_FILE, UNFIT_FUNCTION } from '../../lib/kernel/layouts/mtrc'
import { ADDRESS, FILE, FUNCTION, INDEX, KIND, LINE, MASK, SIZE, THREAD, TYPE } from '../shared/columns'
import * as Event from '../shared/event'
import { OF_3, OF_7, writeLeb } from '../shared/leb128'
import { assign, assigned, assignedNote } from './assign'
import { isFull, lastIndex, setLastIndex } from './blocks'
import { ENTRY_OF, FILE_ENTRY_OF, FILE_USE, USE, writeName } from './caches'
import { beginIndexed, endIndexed } from './indexed'
import { A, F, H, I, OUTPUT, R } from './layout'
import { ENTRIES, FILE_ENTRIES, sources } from './state'
import { isInternal, numberAt, slotOf, UNFIT, want } from './strings'

/** A record begins before this many bytes of output. The last one may take twice 64 KiB. */
const OUTPUT_BYTES: usize = 131_072

/** The number of bytes in `OUTPUT`. The wrapper takes them and sets this to 0. */
export let written: usize = 0
/** The notes on the last event that was examined: a set, usually empty. */
export let notes: u32 = 0
/** The number of bytes of output before the record of that event. */
export let recordStart: usize = 0
export function setWritten(bytes: usize): void {
  written = bytes
}

/**
 * Encodes events `i..n`. Stops early when the output buffer is nearly full, a string is needed (`wanted`), memory runs
 * out (`isFull`), or an event has `notes`; it is then the last one encoded.
 * @returns the first event that was not examined
 */
export function encode(i: u32, n: u32): u32 {
  const withSources = sources
  const limit = OUTPUT + OUTPUT_BYTES
  let p = OUTPUT + written
  let start = p
  let said: u32 = 0
  let largest = lastIndex
  for (; i < n && p < limit; i++) {
    const set = load<u32>((<usize>i) << 2, MASK)
    const kind = load<u8>(i, KIND)
    const wide = (<usize>i) << 3
    let type: u8 = 0
    let index: u64 = 0
    let caller: u32 = 0
    let file: u32 = 0
    start = p
    if (kind == Event.KIND_RESERVE) {
      type = H
      if ((set & Event.HAS_TYPE) != 0) {
        const id = load<u32>((<usize>i) << 2, TYPE)
        const slot = slotOf(id)
        if (slot < 0) {
          want(id)
          break
        }
        if (isInternal(numberAt(slot))) type = I
        else said = OTHER_TYPE
      }
      store<u8>(p++, type)
    } else {
      if (kind > Event.KIND_EXISTING) {
        if ((set & Event.HAS_INDEX) != 0) largest = max<u64>(largest, load<u64>(wide, INDEX))
        continue
      }
      if (withSources) {
        // Names come first, while nothing has changed yet.
        if ((set & Event.HAS_FUNCTION) != 0) {
          const id = load<u32>((<usize>i) << 2, FUNCTION)
          const slot = slotOf(id)
          if (slot < 0) {
            want(id)
            break
          }
          caller = numberAt(slot)
        }
        if ((set & Event.HAS_FILE) != 0) {
          const id = load<u32>((<usize>i) << 2, FILE)
          const slot = slotOf(id)
          if (slot < 0) {
            want(id)
            break
          }
          file = numberAt(slot)
        }
      }
      if ((set & Event.HAS_INDEX) != 0) {
        type = kind == Event.KIND_FREE ? F : kind == Event.KIND_REALLOC ? R : A
        index = load<u64>(wide, INDEX)
        said = type == F ? endIndexed(index, set, wide) : beginIndexed(index, kind, set, wide)
        if (isFull) break
        largest = max<u64>(largest, index)
      } else {
        setLastIndex(largest)
        type = assign(i, kind, set)
        largest = lastIndex
        said = assignedNote
        if (type == 0) {
          if (!isFull) i++
          break
        }
        index = assigned
      }
      store<u8>(p, type)
      p = writeLeb(p + 1, index, OF_3)
    }
    if (type != F) {
      if ((set & Event.HAS_ADDRESS) != 0) {
        p = writeLeb(p, load<u64>(wide, ADDRESS), OF_7)
      } else {
        store<u8>(p++, 0)
        said |= NO_ADDRESS
      }
      if ((set & Event.HAS_SIZE) != 0) {
        p = writeLeb(p, load<u64>(wide, SIZE), 0)
      } else {
        store<u8>(p++, 0)
        said |= NO_SIZE
      }
    }
    if (withSources && kind != Event.KIND_RESERVE) {
      const thread: u64 = (set & Event.HAS_THREAD) != 0 ? load<u64>(wide, THREAD) : 0
      const line: u64 = (set & Event.HAS_LINE) != 0 ? load<u32>((<usize>i) << 2, LINE) : 0
      const source = line | (set & (Event.HAS_FUNCTION | Event.HAS_FILE))
      if ((thread | source) == 0) {
        store<u32>(p, 0)
        p += 4
      } else if (source == 0) {
        p = writeLeb(p, thread, OF_3)
        store<u32>(p, 0)
        p += 3
      } else {
        if (thread < 0x80) store<u8>(p++, <u8>thread)
        else p = writeLeb(p, thread, OF_3)
        if ((set & Event.HAS_FUNCTION) == 0) {
          store<u8>(p++, 0)
        } else if (caller == UNFIT) {
          store<u8>(p++, 0)
          said |= UNFIT_FUNCTION
        } else {
          p = writeName(p, caller, ENTRIES, ENTRY_OF, USE)
        }
        if ((set & Event.HAS_FILE) == 0) {
          store<u8>(p++, 0)
        } else if (file == UNFIT) {
          store<u8>(p++, 0)
          said |= UNFIT_FILE
        } else {
          p = writeName(p, file, FILE_ENTRIES, FILE_ENTRY_OF, FILE_USE)
        }
        p = writeLeb(p, line, 0)
      }
    }
    if (said != 0) {
      i++
      break
    }
  }
  setLastIndex(largest)
  notes = said
  recordStart = start - OUTPUT
  written = p - OUTPUT
  return i
}
