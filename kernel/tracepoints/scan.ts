/** Characters and words of a line. */

export const SPACE: u8 = 0x20
export const COLON: u8 = 0x3a
export const OPEN: u8 = 0x28
export const CLOSE: u8 = 0x29
export const BRACKET: u8 = 0x5b
export const CLOSING_BRACKET: u8 = 0x5d
export const DOT: u8 = 0x2e
export const DASH: u8 = 0x2d
export const SLASH: u8 = 0x2f
export const EQUALS: u8 = 0x3d
export const PLUS: u8 = 0x2b

/** Receives a number that is read only to be examined. */
export const NUMBER: usize = memory.data(8)

// @ts-ignore: decorator
@inline
export function isDigit(c: u8): bool {
  return c - 0x30 <= 9
}

/** The first character at or after `p` that is not a space. */
// @ts-ignore: decorator
@inline
export function skipSpaces(p: usize): usize {
  while (load<u8>(p) == SPACE) p++
  return p
}

/** One past the last character before `p` that is not a space. */
// @ts-ignore: decorator
@inline
export function skipSpacesBack(p: usize, start: usize): usize {
  while (p > start && load<u8>(p - 1) == SPACE) p--
  return p
}

/** The first character of the word that ends before `p`. */
// @ts-ignore: decorator
@inline
export function wordBegin(p: usize, start: usize): usize {
  while (p > start && load<u8>(p - 1) != SPACE) p--
  return p
}
