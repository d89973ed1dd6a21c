/** Strings in JSON text, sixteen bytes at a time. */

import { SCRATCH_SIZE } from '../../lib/kernel/layouts/strings'

const QUOTE: u32 = 0x22
const BACKSLASH: u32 = 0x5c

/** A buffer for strings being unescaped or escaped. */
export const SCRATCH: usize = memory.data(65_568)

/** The first quote, backslash or control character. A line feed ends every search. */
// @ts-ignore: decorator
@inline
export function plainEnd(p: usize): usize {
  // Most strings end within 32 bytes, and a branch for each 16 of them would be hard to predict.
  let stops = specials(p) | (specials(p + 16) << 16)
  while (stops == 0) {
    p += 32
    stops = specials(p) | (specials(p + 16) << 16)
  }
  return p + <usize>ctz(stops)
}

/** Which of sixteen bytes are quotes, backslashes and control characters. */
// @ts-ignore: decorator
@inline
function specials(p: usize): i32 {
  const text = v128.load(p)
  const marks = v128.or(i8x16.eq(text, i8x16.splat(0x22)), i8x16.eq(text, i8x16.splat(0x5c)))
  return i8x16.bitmask(v128.or(marks, i8x16.eq(i8x16.min_u(text, i8x16.splat(0x1f)), text)))
}

/** The end of the string that `unescape` wrote to `SCRATCH`. */
export let unescapedEnd: usize = 0

/**
 * Unescapes a string into `SCRATCH`.
 * @param p after its opening quote
 * @returns the position of its closing quote; 0 if it is not a string, is too long, or needs the general path
 */
export function unescape(p: usize): usize {
  let out = SCRATCH
  for (;;) {
    const end = plainEnd(p)
    const length = end - p
    if (out + length > SCRATCH + SCRATCH_SIZE - 16) return 0
    memory.copy(out, p, length)
    out += length
    p = end
    const c = <u32>load<u8>(p)
    if (c == QUOTE) break
    if (c != BACKSLASH) return 0
    const letter = <u32>load<u8>(p + 1)
    p += 2
    if (letter != 0x75) {
      const byte = escaped(letter)
      if (byte == 0) return 0
      store<u8>(out++, <u8>byte)
      continue
    }
    let code = fourHex(p)
    if (code < 0) return 0
    p += 4
    if (code >= 0xd800 && code <= 0xdbff) {
      const low = load<u16>(p) == 0x755c ? fourHex(p + 2) : -1
      if (low >= 0xdc00 && low <= 0xdfff) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
        p += 6
      } else {
        // It may be followed by a byte that is not UTF-8, written as the other half of the pair.
        if (load<u8>(p) >= 0x80) return 0
      }
    } else if (code >= 0xdc80 && code <= 0xdcff) {
      // A lone surrogate represents a byte that is not UTF-8.
      store<u8>(out++, <u8>(code - 0xdc00))
      continue
    }
    // Other lone surrogates are three bytes.
    out = writeUtf8(out, <u32>code)
  }
  unescapedEnd = out
  return p
}

/** The byte that an escape letter represents, or 0. */
function escaped(letter: u32): u32 {
  switch (letter) {
    case 0x22:
    case 0x5c:
    case 0x2f:
      return letter
    case 0x62:
      return 0x08
    case 0x66:
      return 0x0c
    case 0x6e:
      return 0x0a
    case 0x72:
      return 0x0d
    case 0x74:
      return 0x09
    default:
      return 0
  }
}

/** The value of four hex digits, or -1. */
function fourHex(p: usize): i32 {
  let value: i32 = 0
  for (let i: usize = 0; i < 4; i++) {
    const c = <u32>load<u8>(p + i)
    const digit = c - 0x30
    const letter = (c | 0x20) - 0x61
    if (digit > 9 && letter > 5) return -1
    value = (value << 4) | (<i32>(digit <= 9 ? digit : letter + 10))
  }
  return value
}

function writeUtf8(out: usize, code: u32): usize {
  if (code < 0x80) {
    store<u8>(out, <u8>code)
    return out + 1
  }
  if (code < 0x800) {
    store<u8>(out, <u8>(0xc0 | (code >> 6)))
    store<u8>(out, <u8>(0x80 | (code & 0x3f)), 1)
    return out + 2
  }
  if (code < 0x10000) {
    store<u8>(out, <u8>(0xe0 | (code >> 12)))
    store<u8>(out, <u8>(0x80 | ((code >> 6) & 0x3f)), 1)
    store<u8>(out, <u8>(0x80 | (code & 0x3f)), 2)
    return out + 3
  }
  store<u8>(out, <u8>(0xf0 | (code >> 18)))
  store<u8>(out, <u8>(0x80 | ((code >> 12) & 0x3f)), 1)
  store<u8>(out, <u8>(0x80 | ((code >> 6) & 0x3f)), 2)
  store<u8>(out, <u8>(0x80 | (code & 0x3f)), 3)
  return out + 4
}

/**
 * Whether a string needs no escapes: ASCII without quotes, backslashes and control characters. Reads up to 16 bytes
 * beyond.
 */
export function isPlain(p: usize, length: u32): bool {
  for (; length > 16; p += 16, length -= 16) if (notPlain(p) != 0) return false
  return (notPlain(p) & ((1 << length) - 1)) == 0
}

// @ts-ignore: decorator
@inline
function notPlain(p: usize): i32 {
  const text = v128.load(p)
  const special = v128.or(i8x16.eq(text, i8x16.splat(0x22)), i8x16.eq(text, i8x16.splat(0x5c)))
  // Compared as signed numbers, non-ASCII bytes are less than a space too.
  return i8x16.bitmask(v128.or(special, i8x16.lt_s(text, i8x16.splat(0x20))))
}

/** The maximum length of one escaped byte. */
export const MAX_ESCAPED: u32 = 6

/**
 * Writes a string as `JSON.stringify` does, without quotes, with bytes that are not UTF-8 as lone surrogates, and three
 * bytes for a lone surrogate as that surrogate. `decodeText` of lib/event/strings.ts reads them in the same way.
 * @returns the position after it
 */
export function escape(p: usize, length: u32, out: usize): usize {
  const end = p + length
  while (p < end) {
    const c = <u32>load<u8>(p)
    if (c >= 0x80) {
      const n = sequenceLength(p, end - p)
      if (n > 0) {
        for (let i: usize = 0; i < n; i++) store<u8>(out++, load<u8>(p++))
        continue
      }
      const halves = halvesEnd(p, end)
      if (halves > p && isKept(p, halves, end)) {
        for (; p < halves; p += 3) out = writeHalf(out, load<u8>(p + 1), load<u8>(p + 2))
      } else {
        for (const last = max(halves, p + 1); p < last; p++) out = writeUnicode(out, 0x6364, load<u8>(p))
      }
      continue
    } else if (c >= 0x20) {
      if (c == QUOTE || c == BACKSLASH) store<u8>(out++, <u8>BACKSLASH)
      store<u8>(out++, <u8>c)
    } else {
      const letter = escapeLetter(c)
      if (letter == 0) out = writeUnicode(out, 0x3030, c)
      else {
        store<u16>(out, <u16>(BACKSLASH | (letter << 8)))
        out += 2
      }
    }
    p++
  }
  return out
}

/** Whether three bytes at `p` are a lone surrogate that does not stand for a byte. */
function isHalf(p: usize, end: usize): bool {
  if (end - p < 3 || load<u8>(p) != 0xed || (load<u8>(p + 2) & 0xc0) != 0x80) return false
  const second = load<u8>(p + 1)
  return second >= 0xa0 && second <= 0xbf && (second & 0xfe) != 0xb2
}

/** The end of the second half of a pair, or of the first halves, at `p`; `p` if there are none. */
function halvesEnd(p: usize, end: usize): usize {
  let q = p
  while (isHalf(q, end) && load<u8>(q + 1) < 0xb0) q += 3
  return q == p && isHalf(p, end) ? p + 3 : q
}

/** Whether they are written as such: nothing that follows first halves can be taken for a second half. */
function isKept(p: usize, halves: usize, end: usize): bool {
  if (load<u8>(p + 1) >= 0xb0 || halves == end) return true
  return load<u8>(halves) < 0x80 || sequenceLength(halves, end - halves) > 0
}

/** Writes the escape of the lone surrogate with these bytes after the first. */
function writeHalf(out: usize, second: u32, third: u32): usize {
  const code = ((second & 0x3f) << 6) | (third & 0x3f)
  return writeUnicode(out, <u16>(0x64 | ((<u32>hexDigit(code >> 8)) << 8)), code & 0xff)
}

function escapeLetter(c: u32): u32 {
  return c == 0x0a ? 0x6e : c == 0x09 ? 0x74 : c == 0x0d ? 0x72 : c == 0x08 ? 0x62 : c == 0x0c ? 0x66 : 0
}

/** Writes `\u`, two digits and a byte in hex. */
function writeUnicode(out: usize, digits: u16, byte: u32): usize {
  store<u16>(out, 0x755c)
  store<u16>(out, digits, 2)
  store<u8>(out, hexDigit(byte >> 4), 4)
  store<u8>(out, hexDigit(byte & 15), 5)
  return out + 6
}

function hexDigit(value: u32): u8 {
  return <u8>(value < 10 ? value + 0x30 : value + 0x57)
}

/** The length of the valid UTF-8 sequence of 2 to 4 bytes at `p`, or 0. */
function sequenceLength(p: usize, left: usize): usize {
  const lead = <u32>load<u8>(p)
  const n: usize =
    lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0
  if (n == 0 || n > left) return 0
  for (let i: usize = 1; i < n; i++) if ((load<u8>(p + i) & 0xc0) != 0x80) return 0
  // Rejects overlong sequences, surrogates, and code points beyond U+10FFFF.
  const second = <u32>load<u8>(p + 1)
  if (
    lead == 0xe0
      ? second < 0xa0
      : lead == 0xed
        ? second > 0x9f
        : lead == 0xf0
          ? second < 0x90
          : lead == 0xf4 && second > 0x8f
  )
    return 0
  return n
}
