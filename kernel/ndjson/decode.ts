/** Lines to columns. */

import * as Layout from '../../lib/kernel/layouts/ndjson'
import { KIND, MASK } from '../shared/columns'
import { BATCH_EVENTS, KIND_ALLOC, KIND_FREE } from '../shared/event'
import { beginRow, clearStrings, stringsFull } from '../shared/strings'
import { exactDecimal, exactDecimal32, quotedHex } from '../shared/wide'
import { find, findLoose, kindAt, kindEnd, looseEnd, name, NO_KIND } from './names'
import { API_SLOTS, API_TEXTS, FIELD_TEXTS, lengthOf, OUTCOME_SLOTS, OUTCOME_TEXTS, stands } from './texts'
import { bytes, list, signed, string } from './values'

/**
 * Per kind and field, the number of the text of the field that followed it last time; at `NO_FIELD`, the number for the
 * field that came first.
 */
const FOLLOWERS: usize = memory.data(832)

/** Per kind, the text of the function and, 64 bytes later, of the outcome that it had last time. */
const LAST_NAMES: usize = memory.data(128)

/** `{"kind":"alloc"` */
const ALLOC = i8x16(0x7b, 0x22, 0x6b, 0x69, 0x6e, 0x64, 0x22, 0x3a, 0x22, 0x61, 0x6c, 0x6c, 0x6f, 0x63, 0x22, 0)
const ALLOC_MASK = i8x16(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0)
const ALLOC_LENGTH: usize = 15
/** `{"kind":"free"` */
const FREE = i8x16(0x7b, 0x22, 0x6b, 0x69, 0x6e, 0x64, 0x22, 0x3a, 0x22, 0x66, 0x72, 0x65, 0x65, 0x22, 0, 0)
const FREE_MASK = i8x16(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0)
const FREE_LENGTH: usize = 14

const LF: u32 = 0x0a

export let stop: u32 = Layout.USED_UP
/** The beginning of the first line that was not read. */
export let position: usize = 0
/** The number of empty lines that were skipped. */
export let emptyLines: u32 = 0
/** The union of the fields of all events. */
export let fields: u32 = 0

export function begin(): void {
  clearStrings()
  fields = 0
}

/**
 * Reads the whole lines from `p` to `end` into the columns from event `i` on. Stops at the end of the lines, when the
 * batch is full, or at a line that is not an event in the usual form: with spaces or none between its parts, keys in
 * any order, and no surprising values. Empty lines are skipped.
 * @param stringLimit the number of bytes of strings that makes a batch full
 * @returns the number of events in the columns
 */
export function decode(p: usize, end: usize, i: u32, stringLimit: u32): u32 {
  let all = fields
  let start = p
  let empty: u32 = 0
  stop = Layout.USED_UP
  while (end > p && load<u8>(end - 1) != LF) end--
  while (p < end) {
    if (i == BATCH_EVENTS || stringsFull(stringLimit)) {
      stop = Layout.FULL
      break
    }
    let kind: usize = 0
    // Most events are of two kinds, for which the place of the first field is known.
    const head = v128.load(p)
    if (!v128.any_true(v128.and(v128.xor(head, ALLOC), ALLOC_MASK))) {
      kind = KIND_ALLOC
      p += ALLOC_LENGTH
    } else if (!v128.any_true(v128.and(v128.xor(head, FREE), FREE_MASK))) {
      kind = KIND_FREE
      p += FREE_LENGTH
    } else if (load<u8>(p) == LF) {
      do {
        p++
        empty++
      } while (p < end && load<u8>(p) == LF)
      start = p
      continue
    } else {
      kind = kindAt(p)
      if (kind == NO_KIND) {
        stop = Layout.RARE
        break
      }
      p = kindEnd
    }
    const followers = FOLLOWERS + (kind << 6)
    let set: u32 = 0
    let last: u32 = Layout.NO_FIELD
    beginRow()
    for (;;) {
      let which = <u32>load<u8>(followers + last)
      let text = FIELD_TEXTS + ((<usize>which) << 6)
      if (stands(text, p)) {
        p += lengthOf(text)
      } else {
        which = find(p)
        if (which == Layout.NO_FIELD) {
          which = findLoose(p)
          if (which == Layout.NO_FIELD) {
            p = 0
            break
          }
          text = FIELD_TEXTS + ((<usize>which) << 6)
          p = looseEnd
        } else {
          text = FIELD_TEXTS + ((<usize>which) << 6)
          p += lengthOf(text)
        }
        store<u8>(followers + last, <u8>which)
      }
      const f = which & (Layout.SPACED - 1)
      last = f
      set |= 1 << f
      const column = <usize>load<u32>(text, Layout.COLUMN_AT)
      switch (load<u32>(text, Layout.TYPE_AT)) {
        case Layout.AS_U64:
          p = exactDecimal(p, column + ((<usize>i) << 3))
          break
        case Layout.AS_ADDRESS:
          p = load<u16>(p) == 0x7830 ? quotedHex(p + 2, column + ((<usize>i) << 3)) : 0
          break
        case Layout.AS_U32:
          p = exactDecimal32(p, column + ((<usize>i) << 2))
          break
        case Layout.AS_I32:
          p = signed(p, column + ((<usize>i) << 2))
          break
        case Layout.AS_API:
          p = name(p, column + i, LAST_NAMES + (kind << 2), API_SLOTS, API_TEXTS)
          break
        case Layout.AS_OUTCOME:
          p = name(p, column + i, LAST_NAMES + (kind << 2) + 64, OUTCOME_SLOTS, OUTCOME_TEXTS)
          break
        case Layout.AS_STRING:
          p = string(p, column + ((<usize>i) << 2))
          break
        case Layout.AS_LIST:
          p = list(p, column + ((<usize>i) << 2))
          break
        case Layout.AS_BYTES:
          p = bytes(p, column + ((<usize>i) << 2))
          break
        case Layout.AS_END:
          break
        default:
          p = 0
      }
      if (p == 0 || f == Layout.END_OF_LINE) break
    }
    if (p == 0) {
      stop = Layout.RARE
      break
    }
    set &= ~(1 << Layout.END_OF_LINE)
    store<u8>(KIND + i, <u8>kind)
    store<u32>(MASK + ((<usize>i) << 2), set)
    all |= set
    i++
    start = p
  }
  position = start
  emptyLines = empty
  fields = all
  return i
}
