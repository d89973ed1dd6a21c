/**
 * Lines to columns. Functions that are seldom called are exported from the kernel: the compiler would else make them
 * part of the loop.
 */

import { readBase64 } from '../shared/base64'
import { KIND, MASK } from '../shared/columns'
import { BATCH_EVENTS, KIND_ALLOC, KIND_FREE } from '../shared/event'
import { plainEnd, SCRATCH, SCRATCH_SIZE, unescape, unescapedEnd } from '../shared/json'
import {
  beginRow,
  clearStrings,
  follow,
  guess,
  intern,
  internList,
  lengthOfString,
  listRoom,
  nextList,
  NO_ROOM,
  stringsFull,
} from '../shared/strings'
import { exactDecimal, exactDecimal32, quotedHex } from '../shared/wide'
import {
  API_SLOTS,
  API_TEXTS,
  AS_ADDRESS,
  AS_API,
  AS_BYTES,
  AS_END,
  AS_I32,
  AS_LIST,
  AS_OUTCOME,
  AS_STRING,
  AS_U32,
  AS_U64,
  CLOSING_BRACKET,
  COLUMN_AT,
  COMMA,
  END_OF_LINE,
  FIELD_SLOTS,
  FIELD_TEXTS,
  KIND_KEY,
  KIND_SLOTS,
  KIND_TEXTS,
  lengthOf,
  MINUS,
  NO_FIELD,
  OUTCOME_SLOTS,
  OUTCOME_TEXTS,
  QUOTE,
  slotOf,
  stands,
  TYPE_AT,
} from './texts'

/**
 * Per kind and field, the field that came behind it the last time; in the place of `NO_FIELD`, the one that came first.
 */
const FOLLOWERS: usize = memory.data(768)

/** `{"kind":"alloc"` */
const ALLOC = i8x16(0x7b, 0x22, 0x6b, 0x69, 0x6e, 0x64, 0x22, 0x3a, 0x22, 0x61, 0x6c, 0x6c, 0x6f, 0x63, 0x22, 0)
const ALLOC_MASK = i8x16(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0)
const ALLOC_LENGTH: usize = 15
/** `{"kind":"free"` */
const FREE = i8x16(0x7b, 0x22, 0x6b, 0x69, 0x6e, 0x64, 0x22, 0x3a, 0x22, 0x66, 0x72, 0x65, 0x65, 0x22, 0, 0)
const FREE_MASK = i8x16(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0)
const FREE_LENGTH: usize = 14

/** `"kind":` */
const LOOSE_KIND_KEY: u64 = 0x22_646e_696b_22

const COLON: u32 = 0x3a
const OPENING_BRACE: u32 = 0x7b
const CLOSING_BRACE: u32 = 0x7d
const LF: u32 = 0x0a
const CR: u32 = 0x0d

/** Why `decode` stopped. */
const USED_UP: u32 = 0
/** The line at `position` is one that the wrapper has to read. */
const RARE: u32 = 1
/** The batch is to be given out. */
const FULL: u32 = 2

export let stop: u32 = USED_UP
/** The beginning of the first line that was not read. */
export let position: usize = 0
/** The fields of all events together. */
export let fields: u32 = 0

/** Begins a batch. */
export function begin(): void {
  clearStrings()
  fields = 0
}

/** Passes over blanks. */
// @ts-ignore: decorator
@inline
function blanks(p: usize): usize {
  let c = <u32>load<u8>(p)
  while (c == 0x20 || c == 0x09) c = <u32>load<u8>(++p)
  return p
}

/** How long a name of up to 16 bytes is that ends with a quote. */
// @ts-ignore: decorator
@inline
function nameLength(p: usize): usize {
  return <usize>ctz(i8x16.bitmask(i8x16.eq(v128.load(p), i8x16.splat(0x22))) | 0x10000)
}

/**
 * The text of the name that stands at `p` and ends with a quote, or 0. Names whose first four letters are the same
 * follow each other.
 */
// @ts-ignore: decorator
@inline
function nameAt(p: usize, length: usize, slots: usize, texts: usize): usize {
  const code = <usize>load<u8>(slots + slotOf(p))
  if (code == 0) return 0
  let text = texts + ((code - 1) << 6)
  if (!stands(text, p)) {
    text += 64
    if (!stands(text, p)) return 0
  }
  return lengthOf(text) == length && load<u8>(p + length) == QUOTE ? text : 0
}

/** The field whose text stands at `p`, or the end of the line, or `NO_FIELD`. */
function find(p: usize): u32 {
  const code = <u32>load<u8>(FIELD_SLOTS + slotOf(p + 2))
  if (code != 0 && stands(FIELD_TEXTS + ((<usize>(code - 1)) << 6), p)) return code - 1
  return load<u16>(p) == 0x0a7d ? END_OF_LINE : NO_FIELD
}

/** Where `findLoose` ended. */
let looseEnd: usize = 0

/** The same where there are blanks. */
export function findLoose(p: usize): u32 {
  p = blanks(p)
  if (load<u8>(p) == CLOSING_BRACE) {
    p = blanks(p + 1)
    if (load<u8>(p) == CR) p++
    looseEnd = p + 1
    return load<u8>(p) == LF ? END_OF_LINE : NO_FIELD
  }
  if (load<u8>(p) != COMMA) return NO_FIELD
  p = blanks(p + 1)
  const code = <u32>load<u8>(FIELD_SLOTS + slotOf(p + 1))
  if (load<u8>(p) != QUOTE || code == 0) return NO_FIELD
  const text = FIELD_TEXTS + ((<usize>(code - 1)) << 6)
  // The name with both quotes, and what its value begins with.
  let q = text + 1
  do if (load<u8>(p++) != load<u8>(q++)) return NO_FIELD
  while (load<u8>(q) != COLON)
  p = blanks(p)
  if (load<u8>(p++) != COLON) return NO_FIELD
  p = blanks(p)
  if (q + 1 < text + lengthOf(text) && load<u8>(p++) != load<u8>(q + 1)) return NO_FIELD
  looseEnd = p
  return code - 1
}

/** Where the name of the kind begins if there are blanks before it, or 0. */
export function looseKind(p: usize): usize {
  p = blanks(p)
  if (load<u8>(p) != OPENING_BRACE) return 0
  p = blanks(p + 1)
  if ((load<u64>(p) & 0xffff_ffff_ffff) != LOOSE_KIND_KEY) return 0
  p = blanks(p + 6)
  if (load<u8>(p) != COLON) return 0
  p = blanks(p + 1)
  return load<u8>(p) == QUOTE ? p + 1 : 0
}

const NO_KIND: usize = 255

/** Behind the kind that `kindAt` found. */
let kindEnd: usize = 0

/** The kind that a line begins with. */
export function kindAt(p: usize): usize {
  if (load<u64>(p) == KIND_KEY && load<u8>(p + 8) == QUOTE) p += 9
  else p = looseKind(p)
  if (p == 0) return NO_KIND
  const length = nameLength(p)
  const name = nameAt(p, length, KIND_SLOTS, KIND_TEXTS)
  if (name == 0) return NO_KIND
  kindEnd = p + length + 1
  return (name - KIND_TEXTS) >> 6
}

/** Per kind, the text of the function or the outcome that it had the last time. */
const LAST_NAMES: usize = memory.data(128)

/** A name, looked up; notes it for the next time. The position behind its quote, or 0. */
export function unknownName(p: usize, to: usize, last: usize, slots: usize, texts: usize): usize {
  const length = nameLength(p)
  const name = nameAt(p, length, slots, texts)
  if (name == 0) return 0
  store<u32>(last, <u32>name)
  store<u8>(to, <u8>((name - texts) >> 6))
  return p + length + 1
}

/**
 * The name of a code and the quote behind it: usually the one that came the last time, and then it is known at once
 * where it ends.
 */
// @ts-ignore: decorator
@inline
function name(p: usize, to: usize, last: usize, slots: usize, texts: usize): usize {
  const text = <usize>load<u32>(last)
  const end = p + lengthOf(text)
  if (text == 0 || !stands(text, p) || load<u8>(end) != QUOTE) return unknownName(p, to, last, slots, texts)
  store<u8>(to, <u8>((text - texts) >> 6))
  return end + 1
}

/** A signed number of 32 bits. */
export function signed(p: usize, to: usize): usize {
  const negative = load<u8>(p) == MINUS
  p = exactDecimal(negative ? p + 1 : p, SCRATCH)
  const value = load<u64>(SCRATCH)
  if (p == 0 || value > (negative ? 0x8000_0000 : 0x7fff_ffff)) return 0
  store<u32>(to, negative ? 0 - <u32>value : <u32>value)
  return p
}

/** Reads a string with escapes from behind its opening quote. The position behind the closing one, or 0. */
function escapedString(p: usize, to: usize): usize {
  p = unescape(p)
  if (p == 0) return 0
  beginRow()
  const id = intern(SCRATCH, <u32>(unescapedEnd - SCRATCH))
  store<u32>(to, id)
  return id == NO_ROOM ? 0 : p + 1
}

/** Reads a string from behind its opening quote. The position behind the closing one, or 0. */
// @ts-ignore: decorator
@inline
function string(p: usize, to: usize): usize {
  const guessed = guess(p)
  if (guessed != 0) {
    store<u32>(to, guessed - 1)
    return p + lengthOfString(guessed - 1) + 1
  }
  return unknownString(p, to)
}

/** Longer strings are not guessed. */
const MAX_GUESS: usize = 1024

/** A string that was not guessed. */
export function unknownString(p: usize, to: usize): usize {
  const end = plainEnd(p)
  if (load<u8>(end) != QUOTE) return escapedString(p, to)
  const id = intern(p, <u32>(end - p))
  if (id == NO_ROOM) return 0
  // What is guessed is compared with what may lie behind the input: not with much of it.
  if (end - p <= MAX_GUESS) follow(id)
  else beginRow()
  store<u32>(to, id)
  return end + 1
}

/** Reads a list of strings from behind its opening bracket. */
export function list(p: usize, to: usize): usize {
  const first = nextList()
  const room = listRoom()
  let n: u32 = 0
  p = blanks(p)
  if (load<u8>(p) == CLOSING_BRACKET) {
    p++
  } else {
    for (;;) {
      if (load<u8>(p) != QUOTE || n == room) return 0
      p = string(p + 1, first + ((<usize>n) << 2))
      if (p == 0) return 0
      n++
      p = blanks(p)
      const c = <u32>load<u8>(p++)
      if (c == CLOSING_BRACKET) break
      if (c != COMMA) return 0
      p = blanks(p)
    }
  }
  const id = internList(n)
  store<u32>(to, id)
  return id == NO_ROOM ? 0 : p
}

/** Reads base64 from behind the opening quote. */
export function bytes(p: usize, to: usize): usize {
  const end = plainEnd(p)
  if (load<u8>(end) != QUOTE || end - p > SCRATCH_SIZE) return 0
  const written = readBase64(p, end, SCRATCH)
  if (written == 0) return 0
  const id = intern(SCRATCH, <u32>(written - SCRATCH))
  store<u32>(to, id)
  return id == NO_ROOM ? 0 : end + 1
}

/**
 * Reads the whole lines from `p` to `end` into the columns from event `i` on, until the lines are used up, the batch is
 * full, or a line is not an event in the canonical form; blanks may stand between its parts, and keys in any order.
 * @param stringLimit so many bytes of strings make a batch full
 * @returns how many events there are
 */
export function decode(p: usize, end: usize, i: u32, stringLimit: u32): u32 {
  let all = fields
  let start = p
  stop = USED_UP
  while (end > p && load<u8>(end - 1) != LF) end--
  while (p < end) {
    if (i == BATCH_EVENTS || stringsFull(stringLimit)) {
      stop = FULL
      break
    }
    let kind: usize = 0
    // Most events are of two kinds, and then it is known at once where the first field begins.
    const head = v128.load(p)
    if (!v128.any_true(v128.and(v128.xor(head, ALLOC), ALLOC_MASK))) {
      kind = KIND_ALLOC
      p += ALLOC_LENGTH
    } else if (!v128.any_true(v128.and(v128.xor(head, FREE), FREE_MASK))) {
      kind = KIND_FREE
      p += FREE_LENGTH
    } else {
      kind = kindAt(p)
      if (kind == NO_KIND) {
        stop = RARE
        break
      }
      p = kindEnd
    }
    const followers = FOLLOWERS + (kind << 6)
    let set: u32 = 0
    let last: u32 = NO_FIELD
    beginRow()
    for (;;) {
      let f = <u32>load<u8>(followers + last)
      let text = FIELD_TEXTS + ((<usize>f) << 6)
      if (stands(text, p)) {
        p += lengthOf(text)
      } else {
        f = find(p)
        if (f == NO_FIELD) {
          f = findLoose(p)
          if (f == NO_FIELD) {
            p = 0
            break
          }
          text = FIELD_TEXTS + ((<usize>f) << 6)
          p = looseEnd
        } else {
          text = FIELD_TEXTS + ((<usize>f) << 6)
          p += lengthOf(text)
        }
        store<u8>(followers + last, <u8>f)
      }
      last = f
      set |= 1 << f
      const column = <usize>load<u32>(text, COLUMN_AT)
      switch (load<u32>(text, TYPE_AT)) {
        case AS_U64:
          p = exactDecimal(p, column + ((<usize>i) << 3))
          break
        case AS_ADDRESS:
          p = load<u16>(p) == 0x7830 ? quotedHex(p + 2, column + ((<usize>i) << 3)) : 0
          break
        case AS_U32:
          p = exactDecimal32(p, column + ((<usize>i) << 2))
          break
        case AS_I32:
          p = signed(p, column + ((<usize>i) << 2))
          break
        case AS_API:
          p = name(p, column + i, LAST_NAMES + (kind << 2), API_SLOTS, API_TEXTS)
          break
        case AS_OUTCOME:
          p = name(p, column + i, LAST_NAMES + (kind << 2) + 64, OUTCOME_SLOTS, OUTCOME_TEXTS)
          break
        case AS_STRING:
          p = string(p, column + ((<usize>i) << 2))
          break
        case AS_LIST:
          p = list(p, column + ((<usize>i) << 2))
          break
        case AS_BYTES:
          p = bytes(p, column + ((<usize>i) << 2))
          break
        case AS_END:
          break
        default:
          p = 0
      }
      if (p == 0 || f == END_OF_LINE) break
    }
    if (p == 0) {
      stop = RARE
      break
    }
    set &= ~(1 << END_OF_LINE)
    store<u8>(KIND + i, <u8>kind)
    store<u32>(MASK + ((<usize>i) << 2), set)
    all |= set
    i++
    start = p
  }
  position = start
  fields = all
  return i
}

/**
 * The id of the string of `length` bytes in `SCRATCH`, added if there is none yet; `NO_ROOM` if there is no room for
 * it.
 */
export function internScratch(length: u32): u32 {
  return intern(SCRATCH, length)
}
