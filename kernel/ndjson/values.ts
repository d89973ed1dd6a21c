/**
 * The values in lines, except those that all formats share. Functions that are seldom called are exported from the
 * kernel; otherwise the compiler would inline them into the loop.
 */

import { SCRATCH_SIZE } from '../../lib/kernel/layouts/strings'
import { readBase64 } from '../shared/base64'
import { plainEnd, SCRATCH, unescape, unescapedEnd } from '../shared/json'
import * as Strings from '../shared/strings'
import { exactDecimal } from '../shared/wide'
import { skipSpaces } from './names'
import { CLOSING_BRACKET, COMMA, MINUS, QUOTE } from './texts'

/** Reads a signed 32-bit integer. Returns the position after it, or 0. */
export function signed(p: usize, to: usize): usize {
  const negative = load<u8>(p) == MINUS
  p = exactDecimal(negative ? p + 1 : p, SCRATCH)
  const value = load<u64>(SCRATCH)
  if (p == 0 || value > (negative ? 0x8000_0000 : 0x7fff_ffff)) return 0
  store<u32>(to, negative ? 0 - <u32>value : <u32>value)
  return p
}

/** Reads a string with escapes; `p` is after the opening quote. Returns the position after the closing one, or 0. */
function escapedString(p: usize, to: usize): usize {
  p = unescape(p)
  if (p == 0) return 0
  Strings.beginRow()
  const id = Strings.intern(SCRATCH, <u32>(unescapedEnd - SCRATCH))
  store<u32>(to, id)
  return id == Strings.NO_ROOM ? 0 : p + 1
}

/** Reads a string; `p` is after the opening quote. Returns the position after the closing one, or 0. */
// @ts-ignore: decorator
@inline
export function string(p: usize, to: usize): usize {
  const guessed = Strings.guess(p)
  if (guessed != 0) {
    store<u32>(to, guessed - 1)
    return p + Strings.lengthOfString(guessed - 1) + 1
  }
  return unknownString(p, to)
}

/** Longer strings are not guessed, because the comparison could read too far beyond the end of the input. */
const MAX_GUESS: usize = 1024

/** Reads a string that was not guessed. */
export function unknownString(p: usize, to: usize): usize {
  const end = plainEnd(p)
  if (load<u8>(end) != QUOTE) return escapedString(p, to)
  const id = Strings.intern(p, <u32>(end - p))
  if (id == Strings.NO_ROOM) return 0
  if (end - p <= MAX_GUESS) Strings.follow(id)
  else Strings.beginRow()
  store<u32>(to, id)
  return end + 1
}

/** Reads a list of strings; `p` is after the opening bracket. Returns the position after the closing one, or 0. */
export function list(p: usize, to: usize): usize {
  const first = Strings.nextList()
  const room = Strings.listRoom()
  let n: u32 = 0
  p = skipSpaces(p)
  if (load<u8>(p) == CLOSING_BRACKET) {
    p++
  } else {
    for (;;) {
      if (load<u8>(p) != QUOTE || n == room) return 0
      p = string(p + 1, first + ((<usize>n) << 2))
      if (p == 0) return 0
      n++
      p = skipSpaces(p)
      const c = <u32>load<u8>(p++)
      if (c == CLOSING_BRACKET) break
      if (c != COMMA) return 0
      p = skipSpaces(p)
    }
  }
  const id = Strings.internList(n)
  store<u32>(to, id)
  return id == Strings.NO_ROOM ? 0 : p
}

/** Reads base64; `p` is after the opening quote. Returns the position after the closing one, or 0. */
export function bytes(p: usize, to: usize): usize {
  const end = plainEnd(p)
  if (load<u8>(end) != QUOTE || end - p > SCRATCH_SIZE) return 0
  const written = readBase64(p, end, SCRATCH)
  if (written == 0) return 0
  const id = Strings.intern(SCRATCH, <u32>(written - SCRATCH))
  store<u32>(to, id)
  return id == Strings.NO_ROOM ? 0 : end + 1
}

/** Adds the string of `length` bytes in `SCRATCH` unless it exists. Returns its id, or `NO_ROOM`. */
export function internScratch(length: u32): u32 {
  return Strings.intern(SCRATCH, length)
}
