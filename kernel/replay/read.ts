/**
 * Reads the parts of a line. Each function returns the position after the part, or 0 with the position of the first
 * byte that does not match in `misfit`.
 */

import { ELEMENT_SIZE, ELEMENTS, SIZE } from '../shared/columns'
import { HAS_ELEMENT_SIZE } from '../shared/event'
import { decimal, hex, misfit, setMisfit } from '../shared/numbers'
import { CR, LF, SPACE, TAB } from './text'

/** The position after spaces and tabs. */
export function skipSpaces(p: usize): usize {
  let c = <u32>load<u8>(p)
  while (c == SPACE || c == TAB) c = <u32>load<u8>(++p)
  return p
}

/** The position after at least one space or tab; 0 if there is none. */
export function gap(p: usize): usize {
  const c = <u32>load<u8>(p)
  if (c != SPACE && c != TAB) {
    setMisfit(p)
    return 0
  }
  return skipSpaces(p + 1)
}

/** Reads a decimal number after a gap. */
// @ts-ignore: decorator
@inline
export function number(p: usize, to: usize): usize {
  p = gap(p)
  return p == 0 ? 0 : decimal(p, to)
}

/** Reads a hexadecimal number after a gap, with `0x` or without. */
// @ts-ignore: decorator
@inline
export function pointer(p: usize, to: usize): usize {
  p = gap(p)
  if (p == 0) return 0
  const digits = ((<u32>load<u16>(p)) | 0x2000) == 0x7830 ? p + 2 : p
  const end = hex(digits, to)
  // The fault of a pointer that is too large is at its first byte, before the prefix.
  if (end == 0 && misfit == digits && isHexDigit(digits)) setMisfit(p)
  return end
}

function isHexDigit(p: usize): bool {
  const c = <u32>load<u8>(p)
  return c - 0x30 <= 9 || (c | 0x20) - 0x61 <= 5
}

/** Reads a thread id: a decimal number below 2^63, or a minus sign and a number up to 2^63. */
export function threadId(p: usize, to: usize): usize {
  if (<u32>load<u8>(p) != 0x2d) {
    const end = decimal(p, to)
    if (end != 0 && <i64>load<u64>(to) < 0) {
      setMisfit(p)
      return 0
    }
    return end
  }
  const end = decimal(p + 1, to)
  if (end == 0) return 0
  const magnitude = load<u64>(to)
  if (magnitude > 0x8000_0000_0000_0000) {
    setMisfit(p + 1)
    return 0
  }
  store<u64>(to, 0 - magnitude)
  return end
}

/** The position of the line feed after spaces and a carriage return; 0 if there is anything else before it. */
export function lineEnd(p: usize): usize {
  if (<u32>load<u8>(p) == LF) return p
  p = skipSpaces(p)
  if (<u32>load<u8>(p) == CR) p++
  if (<u32>load<u8>(p) == LF) return p
  setMisfit(p)
  return 0
}

/**
 * Sets the size of a calloc event to the product of what was read into `ELEMENTS` and `SIZE`. Returns the field that
 * has the size of an element where the product alone does not show it, or 0.
 */
export function multiply(wide: usize): u32 {
  const count = load<u64>(ELEMENTS + wide)
  const each = load<u64>(SIZE + wide)
  const product = count * each
  store<u64>(SIZE + wide, product)
  if ((count | each) >> 32 == 0 ? count != 0 : count != 0 && each <= u64.MAX_VALUE / count) return 0
  store<u64>(ELEMENT_SIZE + wide, each)
  return HAS_ELEMENT_SIZE
}
