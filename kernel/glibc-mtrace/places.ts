/** The places in lines of glibc's mtrace: `@ FILE:(SYMBOL+OFFSET)[0xADDRESS]`. */

import { HAS_CALL_SITE, HAS_FIELDS, HAS_FUNCTION, HAS_MODULE, HAS_TEXT } from '../shared/event'
import { findEither, findLast, LF } from '../shared/lines'
import { hex } from '../shared/numbers'
import { intern, strings } from '../shared/strings'

/** `@ `, `+ ` and the other operations as words. */
export const AT: u32 = 0x2040
export const PLUS: u32 = 0x202b
export const MINUS: u32 = 0x202d
export const LESS: u32 = 0x203c
export const GREATER: u32 = 0x203e
export const BANG: u32 = 0x2021
export const SPACE: u32 = 0x20
export const BRACKET: u32 = 0x5b
const CLOSING_BRACKET: u8 = 0x5d
const PARENTHESIS: u8 = 0x28
const CLOSING_PARENTHESIS: u8 = 0x29
const COLON: u8 = 0x3a
/** `0x` */
export const HEX: u32 = 0x7830
/** `(nil` */
const NIL: u32 = 0x6c69_6e28

/** The contents of a place's text, by string id: the set of fields, or 0 if not examined yet, and their values. */
export const PLACE_SET: usize = memory.data(65_536)
export const PLACE_MODULE: usize = memory.data(65_536)
export const PLACE_FUNCTION: usize = memory.data(65_536)
export const PLACE_FIELDS: usize = memory.data(65_536)
export const PLACE_SITE: usize = memory.data(131_072)
/** Marks an examined place in `PLACE_SET`; no field has this bit. */
export const KNOWN: u32 = 1 << 31
/** Stands for the absence of a place. */
export const NO_PLACE: u32 = KNOWN

/** `{"offset":"+0x12"}` */
const JSON_TEXT: usize = memory.data(64)

/** In `PLACE_SET`: the text is not a place. */
export const NOT_A_PLACE: u32 = KNOWN | HAS_TEXT

/** Forgets the places, because their string ids will be reused. */
export function forgetPlaces(): void {
  memory.fill(PLACE_SET, 0, (<usize>strings) << 2)
}

/** A pointer: `0x` and hex, or `(nil)`. The position after it, or 0. */
// @ts-ignore: decorator
@inline
export function pointer(p: usize, to: usize): usize {
  if (<u32>load<u16>(p) == HEX) return hex(p + 2, to)
  if (load<u32>(p) != NIL || load<u8>(p + 4) != CLOSING_PARENTHESIS) return 0
  store<u64>(to, 0)
  return p + 5
}

/** Whether a space and an operation that belongs to no event follow. */
function isOperation(word: u32): bool {
  return word == PLUS || word == MINUS || word == LESS || word == GREATER || word == BANG
}

/** The position of the operation in a line with a place, or 0. */
// @ts-ignore: decorator
@inline
export function operationAfterPlace(p: usize): usize {
  p = findEither(p, CLOSING_BRACKET)
  // A match within a file's name has no pointer after it.
  while (load<u8>(p) != LF) {
    if (load<u8>(p + 1) == SPACE && isOperation(<u32>load<u16>(p + 2)) && isPlain(p + 4)) return p + 2
    p = findEither(p + 1, CLOSING_BRACKET)
  }
  return 0
}

/** Whether something that may be a pointer follows: brackets within a file's name contain none. */
function isPlain(p: usize): bool {
  return <u32>load<u16>(p) == HEX || load<u32>(p) == NIL
}

/** The id of the place whose text is from `p` to `end`; it is examined when it first occurs. */
// @ts-ignore: decorator
@inline
export function placeOf(p: usize, end: usize): u32 {
  const id = intern(p, <u32>(end - p))
  if (load<u32>(PLACE_SET + ((<usize>id) << 2)) == 0) look(id, p, end)
  return id
}

/** Examines a place: `@ FILE:(SYMBOL+OFFSET)[0xADDRESS]`, of which all but the address may be missing. */
function look(id: u32, p: usize, end: usize): void {
  const at = (<usize>id) << 2
  if (<u32>load<u16>(p) == AT) p += 2
  const bracket = findLast(p, end, <u8>BRACKET)
  let set: u32 = 0
  let isPlace = bracket != 0
  if (isPlace) {
    const value = pointer(bracket + 1, PLACE_SITE + ((<usize>id) << 3))
    isPlace = value == end - 1
    // Offset 0 in a file means that there is no caller.
    if (bracket == p || load<u64>(PLACE_SITE + ((<usize>id) << 3)) != 0) set |= HAS_CALL_SITE
  }
  if (isPlace && bracket > p) {
    let file = bracket
    if (load<u8>(bracket - 1) == CLOSING_PARENTHESIS) {
      const open = findLast(p, bracket, PARENTHESIS)
      if (open == p || (open != 0 && load<u8>(open - 1) == COLON)) {
        const closing = bracket - 1
        const sign = signOf(open + 1, closing)
        store<u32>(PLACE_FUNCTION + at, intern(open + 1, <u32>(sign - open - 1)))
        set |= HAS_FUNCTION
        if (sign < closing) {
          store<u32>(PLACE_FIELDS + at, offsetText(sign, closing))
          set |= HAS_FIELDS
        }
        file = open
      }
    }
    if (file > p) {
      isPlace = load<u8>(file - 1) == COLON
      store<u32>(PLACE_MODULE + at, intern(p, <u32>(file - 1 - p)))
      set |= HAS_MODULE
    }
  }
  store<u32>(PLACE_SET + at, isPlace ? set | KNOWN : NOT_A_PLACE)
}

/**
 * The operation in the second line of a realloc: the new block, at the same place as the old one. Texts that differ
 * only in digits, such as `[0x0]` and `[0x00]`, are the same place.
 * @param length the length of the first line before its operation
 * @returns its position, or 0 if this is not the second line
 */
// @ts-ignore: decorator
@inline
export function operationOfPair(first: usize, length: usize, place: u32, second: usize): usize {
  if (<u32>load<u16>(second + length) == GREATER && memory.compare(first, second, length) == 0) return second + length
  return place == NO_PLACE ? 0 : operationAtSamePlace(place, second)
}

function operationAtSamePlace(place: u32, line: usize): usize {
  if (<u32>load<u16>(line) != AT && load<u8>(line) != BRACKET) return 0
  const operation = operationAfterPlace(line)
  if (operation == 0 || <u32>load<u16>(operation) != GREATER) return 0
  return areSamePlaces(place, placeOf(line, operation - 1)) ? operation : 0
}

function areSamePlaces(a: u32, b: u32): bool {
  const x = (<usize>a) << 2
  const y = (<usize>b) << 2
  const set = load<u32>(PLACE_SET + x)
  if (set != load<u32>(PLACE_SET + y)) return false
  return (
    ((set & HAS_CALL_SITE) == 0 || load<u64>(PLACE_SITE + (x << 1)) == load<u64>(PLACE_SITE + (y << 1))) &&
    ((set & HAS_MODULE) == 0 || load<u32>(PLACE_MODULE + x) == load<u32>(PLACE_MODULE + y)) &&
    ((set & HAS_FUNCTION) == 0 || load<u32>(PLACE_FUNCTION + x) == load<u32>(PLACE_FUNCTION + y)) &&
    ((set & HAS_FIELDS) == 0 || load<u32>(PLACE_FIELDS + x) == load<u32>(PLACE_FIELDS + y))
  )
}

/** The position of the sign and hex digits at the end of a symbol, or `end`. */
function signOf(p: usize, end: usize): usize {
  let q = end
  while (q > p && isHexDigit(load<u8>(q - 1))) q--
  if (q == end) return end
  if (q - p >= 2 && load<u8>(q - 1) == 0x78 && load<u8>(q - 2) == 0x30) q -= 2
  // An offset `0` before an x has been skipped with the digits.
  if (end - q > 18 || q == p) return end
  const c = load<u8>(q - 1)
  return c == 0x2b || c == 0x2d ? q - 1 : end
}

function isHexDigit(c: u8): bool {
  return c - 0x30 <= 9 || c - 0x61 <= 5
}

/** The id of `{"offset":"+12"}`, the text from `p` to `end` in it. */
function offsetText(p: usize, end: usize): u32 {
  const length = end - p
  store<u64>(JSON_TEXT, 0x7465_7366_666f_227b)
  store<u32>(JSON_TEXT, 0x22_3a22, 8)
  memory.copy(JSON_TEXT + 11, p, length)
  store<u16>(JSON_TEXT + 11 + length, 0x7d22)
  return intern(JSON_TEXT, <u32>(length + 13))
}
