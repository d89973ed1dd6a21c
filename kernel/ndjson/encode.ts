/** Columns to lines. */

import * as Layout from '../../lib/kernel/layouts/ndjson'
import { writeBase64 } from '../shared/base64'
import { KIND, MASK } from '../shared/columns'
import { escape, isPlain, MAX_ESCAPED } from '../shared/json'
import { LISTED, LISTS, STARTS, STRINGS } from '../shared/strings'
import { writeShortDecimal, writeWideHex } from '../shared/wide'
import * as Text from './texts'

/**
 * The output buffer. Events begin before `OUTPUT_BYTES`. Values that may be too long for the rest are left to the
 * wrapper.
 */
export const OUTPUT: usize = memory.data(327_712)
const OUTPUT_BYTES: usize = 262_144
const OUTPUT_END: usize = 327_680

/** The field that the wrapper has to write, or `NO_FIELD`. */
export let needed: u32 = Layout.NO_FIELD
/** The fields after that one, with which `encode` has to continue. */
export let rest: u32 = 0
/** The number of bytes of output. */
export let written: usize = 0

/** The bit of `rest` for an event that has begun. */
const BEGUN: u32 = 1 << 31

/** Per string, the address of its text between quotes, and 1 plus the length of the text; zeros if not yet known. */
const TEXTS: usize = memory.data(131_072)
/** The texts of strings that are escaped. */
const ESCAPED: usize = memory.data(262_176)
const ESCAPED_SIZE: usize = 262_144
let escapedEnd: usize = ESCAPED
/** The number of strings and lists of the batch in `STRINGS` and `LISTED`. The others are left to the wrapper. */
let knownStrings: u32 = 0
let knownLists: u32 = 0

/**
 * Longer strings are left to the wrapper, because the whole of an event that begins before `OUTPUT_BYTES` has to fit. A
 * byte takes up to 6 bytes when it is escaped, so all strings of an event take less than 65536 bytes, and those after a
 * list less than 20000.
 */
const MAX_VALUE: u32 = 2048
/** A list is left to the wrapper if there is less room for one of its strings and what may follow it. */
const LIST_ROOM: usize = 32_768

/** Begins a batch. Its first strings and lists are where the decoder puts them. */
export function beginStrings(strings: u32, lists: u32): void {
  memory.fill(TEXTS, 0, (<usize>strings) << 3)
  escapedEnd = ESCAPED
  knownStrings = strings
  knownLists = lists
}

/** Prepares the text of a string. Returns whether there is room for it. */
export function prepareText(id: u32): bool {
  const from = STRINGS + load<u32>(STARTS + ((<usize>id) << 2))
  const length = <u32>(STRINGS + load<u32>(STARTS + ((<usize>id) << 2), 4) - from)
  const entry = TEXTS + ((<usize>id) << 3)
  if (length > MAX_VALUE) return false
  if (isPlain(from, length)) {
    store<u32>(entry, <u32>from)
    store<u32>(entry, length + 1, 4)
    return true
  }
  if (length * MAX_ESCAPED > <u32>(ESCAPED + ESCAPED_SIZE - escapedEnd)) return false
  const end = escape(from, length, escapedEnd)
  store<u32>(entry, <u32>escapedEnd)
  store<u32>(entry, <u32>(end - escapedEnd) + 1, 4)
  escapedEnd = end
  return true
}

/** Writes a string and the closing quote. Returns the position after it, or 0 if the wrapper has to write it. */
// @ts-ignore: decorator
@inline
function writeString(out: usize, id: u32): usize {
  if (id >= knownStrings) return 0
  const entry = TEXTS + ((<usize>id) << 3)
  if (load<u32>(entry, 4) == 0 && !prepareText(id)) return 0
  const from = <usize>load<u32>(entry)
  const length = <usize>load<u32>(entry, 4) - 1
  // Most strings have up to 32 bytes.
  v128.store(out, v128.load(from))
  v128.store(out + 16, v128.load(from + 16))
  for (let i: usize = 32; i < length; i += 16) v128.store(out + i, v128.load(from + i))
  store<u8>(out + length, <u8>Text.QUOTE)
  return out + length + 1
}

/** Writes the strings of a list and the closing bracket; 0 if the wrapper has to write them. */
export function writeList(out: usize, id: u32): usize {
  if (id >= knownLists) return 0
  const list = LISTS + ((<usize>id) << 2)
  const end = LISTED + ((<usize>load<u32>(list, 4)) << 2)
  for (let p = LISTED + ((<usize>load<u32>(list)) << 2); p < end; p += 4) {
    const string = load<u32>(p)
    if (out > OUTPUT + OUTPUT_END - LIST_ROOM) return 0
    store<u8>(out, <u8>Text.QUOTE)
    out = writeString(out + 1, string)
    if (out == 0) return 0
    if (p + 4 < end) store<u8>(out++, <u8>Text.COMMA)
  }
  store<u8>(out, <u8>Text.CLOSING_BRACKET)
  return out + 1
}

/** Writes base64 and the closing quote, or JSON text unchanged; 0 if the wrapper has to write it. */
export function writeBytes(out: usize, id: u32, isJson: bool): usize {
  if (id >= knownStrings) return 0
  const from = STRINGS + load<u32>(STARTS + ((<usize>id) << 2))
  const length = <u32>(STRINGS + load<u32>(STARTS + ((<usize>id) << 2), 4) - from)
  if (length > MAX_VALUE) return 0
  if (isJson) {
    memory.copy(out, from, length)
    return out + length
  }
  out = writeBase64(out, from, length)
  store<u8>(out, <u8>Text.QUOTE)
  return out + 1
}

/**
 * Encodes events `i..n`. Stops early when there is no more room for output, or at a value that the wrapper has to write
 * (`needed`).
 * @param left the `rest` of the last call if it stopped within an event, or 0
 * @returns the first event that is not complete
 */
export function encode(i: u32, n: u32, left: u32): u32 {
  let out: usize = OUTPUT
  needed = Layout.NO_FIELD
  rest = 0
  for (; i < n && out < OUTPUT + OUTPUT_BYTES; i++) {
    let set = left & ~BEGUN
    if (left == 0) {
      set = load<u32>(MASK + ((<usize>i) << 2))
      const name = Text.KIND_TEXTS + ((<usize>load<u8>(KIND + i)) << 6)
      store<u64>(out, Text.KIND_KEY)
      store<u8>(out, <u8>Text.QUOTE, 8)
      v128.store(out, v128.load(name), 9)
      out += Text.lengthOf(name) + 10
      store<u8>(out - 1, <u8>Text.QUOTE)
    }
    left = 0
    for (; set != 0; set &= set - 1) {
      const f = ctz(set)
      const text = Text.FIELD_TEXTS + ((<usize>f) << 6)
      const column = <usize>load<u32>(text, Layout.COLUMN_AT)
      v128.store(out, v128.load(text))
      const begin = out + Text.lengthOf(text)
      switch (load<u32>(text, Layout.TYPE_AT)) {
        case Layout.AS_U64:
          out = writeShortDecimal(begin, load<u64>(column + ((<usize>i) << 3)))
          break
        case Layout.AS_ADDRESS:
          store<u16>(begin, 0x7830)
          out = writeWideHex(begin + 2, load<u64>(column + ((<usize>i) << 3)))
          store<u8>(out++, <u8>Text.QUOTE)
          break
        case Layout.AS_U32:
          out = writeShortDecimal(begin, load<u32>(column + ((<usize>i) << 2)))
          break
        case Layout.AS_I32: {
          const value = <i64>load<i32>(column + ((<usize>i) << 2))
          store<u8>(begin, <u8>Text.MINUS)
          out = writeShortDecimal(value < 0 ? begin + 1 : begin, value < 0 ? 0 - value : value)
          break
        }
        case Layout.AS_API:
          out = writeName(begin, Text.API_TEXTS + ((<usize>load<u8>(column + i)) << 6))
          break
        case Layout.AS_OUTCOME:
          out = writeName(begin, Text.OUTCOME_TEXTS + ((<usize>load<u8>(column + i)) << 6))
          break
        case Layout.AS_STRING:
          out = writeString(begin, load<u32>(column + ((<usize>i) << 2)))
          break
        case Layout.AS_LIST:
          out = writeList(begin, load<u32>(column + ((<usize>i) << 2)))
          break
        case Layout.AS_BYTES:
          out = writeBytes(begin, load<u32>(column + ((<usize>i) << 2)), false)
          break
        default:
          out = writeBytes(begin, load<u32>(column + ((<usize>i) << 2)), true)
      }
      if (out == 0) {
        needed = f
        rest = BEGUN | (set & (set - 1))
        written = begin - OUTPUT
        return i
      }
    }
    store<u16>(out, 0x0a7d)
    out += 2
  }
  written = out - OUTPUT
  return i
}

/** Writes a name and the closing quote. */
function writeName(out: usize, text: usize): usize {
  v128.store(out, v128.load(text))
  out += Text.lengthOf(text)
  store<u8>(out, <u8>Text.QUOTE)
  return out + 1
}
