/**
 * The names in lines: keys, kinds, functions and outcomes. Functions that are seldom called are exported from the
 * kernel; otherwise the compiler would inline them into the loop.
 */

import { END_OF_LINE, NO_FIELD, SPACED, TEXT_BYTES } from '../../lib/kernel/layouts/ndjson'
import * as Text from './texts'

/** `"kind":` */
const LOOSE_KIND_KEY: u64 = 0x22_646e_696b_22

const COLON: u32 = 0x3a
const OPENING_BRACE: u32 = 0x7b
const CLOSING_BRACE: u32 = 0x7d
const LF: u32 = 0x0a
const CR: u32 = 0x0d
const END_TEXT: u32 = 0x0a7d

/** The position after spaces and tabs. */
export function skipSpaces(p: usize): usize {
  let c = <u32>load<u8>(p)
  while (c == 0x20 || c == 0x09) c = <u32>load<u8>(++p)
  return p
}

/** The length of a name of up to 16 bytes that ends with a quote. */
function nameLength(p: usize): usize {
  return <usize>ctz(i8x16.bitmask(i8x16.eq(v128.load(p), i8x16.splat(0x22))) | 0x10000)
}

/**
 * The text of the name at `p`, which ends with a quote, or 0. Names that share their first four letters follow each
 * other.
 */
// @ts-ignore: decorator
@inline
function nameAt(p: usize, length: usize, slots: usize, texts: usize): usize {
  const code = <usize>load<u8>(slots + Text.slotOf(p))
  if (code == 0) return 0
  let text = texts + ((code - 1) << 6)
  if (!Text.stands(text, p)) {
    text += TEXT_BYTES
    if (!Text.stands(text, p)) return 0
  }
  return Text.lengthOf(text) == length && load<u8>(p + length) == Text.QUOTE ? text : 0
}

/**
 * The number of the field text at `p`: of a field, with or without spaces, or of the end of the line; or `NO_FIELD`.
 */
export function find(p: usize): u32 {
  const code = <u32>load<u8>(Text.FIELD_SLOTS + Text.slotOf(p + 2))
  if (code != 0 && Text.stands(Text.FIELD_TEXTS + ((<usize>(code - 1)) << 6), p)) return code - 1
  const start = <u32>load<u16>(p)
  if (start == END_TEXT) return END_OF_LINE
  if (start != Text.SPACED_COMMA) return NO_FIELD
  const spaced = <u32>load<u8>(Text.FIELD_SLOTS + Text.slotOf(p + 3))
  const text = spaced - 1 + SPACED
  return spaced != 0 && Text.stands(Text.FIELD_TEXTS + ((<usize>text) << 6), p) ? text : NO_FIELD
}

/** The position at which `findLoose` ended. */
export let looseEnd: usize = 0

/** Like `find`, with any spaces between the parts. */
export function findLoose(p: usize): u32 {
  p = skipSpaces(p)
  if (load<u8>(p) == CLOSING_BRACE) {
    p = skipSpaces(p + 1)
    if (load<u8>(p) == CR) p++
    looseEnd = p + 1
    return load<u8>(p) == LF ? END_OF_LINE : NO_FIELD
  }
  if (load<u8>(p) != Text.COMMA) return NO_FIELD
  p = skipSpaces(p + 1)
  const code = <u32>load<u8>(Text.FIELD_SLOTS + Text.slotOf(p + 1))
  if (load<u8>(p) != Text.QUOTE || code == 0) return NO_FIELD
  const text = Text.FIELD_TEXTS + ((<usize>(code - 1)) << 6)
  // The name with both quotes, followed by the beginning of its value.
  let q = text + 1
  do if (load<u8>(p++) != load<u8>(q++)) return NO_FIELD
  while (load<u8>(q) != COLON)
  p = skipSpaces(p)
  if (load<u8>(p++) != COLON) return NO_FIELD
  p = skipSpaces(p)
  if (q + 1 < text + Text.lengthOf(text) && load<u8>(p++) != load<u8>(q + 1)) return NO_FIELD
  looseEnd = p
  return code - 1
}

/** The start of the name of the kind, after any spaces, or 0. */
export function looseKind(p: usize): usize {
  p = skipSpaces(p)
  if (load<u8>(p) != OPENING_BRACE) return 0
  p = skipSpaces(p + 1)
  if ((load<u64>(p) & 0xffff_ffff_ffff) != LOOSE_KIND_KEY) return 0
  p = skipSpaces(p + 6)
  if (load<u8>(p) != COLON) return 0
  p = skipSpaces(p + 1)
  return load<u8>(p) == Text.QUOTE ? p + 1 : 0
}

/** The result of `kindAt` if the line begins in any other way. */
export const NO_KIND: usize = 255

/** The position after the kind that `kindAt` found. */
export let kindEnd: usize = 0

/** The kind at the beginning of a line, or `NO_KIND`. */
export function kindAt(p: usize): usize {
  if (load<u64>(p) != Text.KIND_KEY) p = looseKind(p)
  else if (load<u8>(p + 8) == Text.QUOTE) p += 9
  else if (load<u16>(p + 8) == Text.SPACED_QUOTE) p += 10
  else p = looseKind(p)
  if (p == 0) return NO_KIND
  const length = nameLength(p)
  const name = nameAt(p, length, Text.KIND_SLOTS, Text.KIND_TEXTS)
  if (name == 0) return NO_KIND
  kindEnd = p + length + 1
  return (name - Text.KIND_TEXTS) >> 6
}

/** Looks up a name, and notes it in `last` for the next line. Returns the position after its quote, or 0. */
export function unknownName(p: usize, to: usize, last: usize, slots: usize, texts: usize): usize {
  const length = nameLength(p)
  const name = nameAt(p, length, slots, texts)
  if (name == 0) return 0
  store<u32>(last, <u32>name)
  store<u8>(to, <u8>((name - texts) >> 6))
  return p + length + 1
}

/**
 * Reads the name of a code and the quote after it. Usually it is the same name as last time, whose length is known, so
 * the end needs no search.
 */
// @ts-ignore: decorator
@inline
export function name(p: usize, to: usize, last: usize, slots: usize, texts: usize): usize {
  const text = <usize>load<u32>(last)
  if (text == 0 || !Text.stands(text, p)) return unknownName(p, to, last, slots, texts)
  const end = p + Text.lengthOf(text)
  if (load<u8>(end) != Text.QUOTE) return unknownName(p, to, last, slots, texts)
  store<u8>(to, <u8>((text - texts) >> 6))
  return end + 1
}
