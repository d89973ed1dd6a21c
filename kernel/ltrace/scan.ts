/** Characters and values of a line. */

import { decimal, hex } from '../shared/numbers'

export const SPACE: u8 = 0x20
export const OPEN: u8 = 0x28
export const CLOSE: u8 = 0x29
export const COLON: u8 = 0x3a
export const DOT: u8 = 0x2e
export const COMMA: u8 = 0x2c
export const LESS: u8 = 0x3c
export const GREATER: u8 = 0x3e
export const AT_SIGN: u8 = 0x40
export const DASH: u8 = 0x2d
export const EQUALS: u8 = 0x3d

/** Times with more whole seconds are not relative to the previous line. */
export const EPOCH: u64 = 100_000_000
export const NANOS: u64 = 1_000_000_000

/** Receives a number that is read only to be examined. */
export const NUMBER: usize = memory.data(8)

export function skipSpaces(p: usize): usize {
  while (load<u8>(p) == SPACE) p++
  return p
}

/** Reads the six digits after a point as nanoseconds into `NUMBER`. @returns the position after them, or 0 */
export function fraction(p: usize): usize {
  const end = decimal(p, NUMBER)
  if (end != p + 6) return 0
  store<u64>(NUMBER, load<u64>(NUMBER) * 1000)
  return end
}

/** Reads a pointer or a number: 123, 0x7f, nil, NULL. @returns the position after it, or 0 */
export function value(p: usize, to: usize): usize {
  if (<u32>load<u16>(p) == 0x7830) return hex(p + 2, to)
  const word = load<u32>(p)
  if (word == 0x4c4c_554e || (word & 0xff_ffff) == 0x6c_696e) {
    store<u64>(to, 0)
    return word == 0x4c4c_554e ? p + 4 : p + 3
  }
  return decimal(p, to)
}
