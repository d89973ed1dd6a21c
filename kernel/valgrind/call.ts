/** A call in a line: `NAME(ARGUMENTS)`. */

import {
  CALLOC,
  functionOf,
  MEMALIGN,
  NAMED,
  NEW,
  NO_CALL,
  OTHER,
  REALLOC,
  REALLOCARRAY,
  W_ALIGNED,
} from '../shared/called'
import { decimal, hex } from '../shared/numbers'

export const SPACE: u8 = 0x20
const OPEN: u8 = 0x28
const CLOSE: u8 = 0x29
const COMMA: u8 = 0x2c

/** Receives a number that is read only to be examined. */
export const NUMBER: usize = memory.data(8)

/** The effect of the call: a code of ../shared/called. */
export let does: u32 = NO_CALL
/** Its arguments. For aligned allocations they are in the order of `MEMALIGN`. */
export const ARGUMENTS: usize = memory.data(24)
export let argumentCount: u32 = 0
/** The arguments have names, and the size comes first. */
let isSizeFirst: bool = false
export let nameAt: usize = 0
export let nameLength: u32 = 0
/** One past the text of the call. */
export let callEnd: usize = 0

function isNameByte(c: u8): bool {
  return (c | 0x20) - 0x61 <= 25 || c - 0x30 <= 9 || c == 0x5f
}

/** Reads a number, in hex with `0x` or in decimal. @returns the position after it, or 0 */
// @ts-ignore: decorator
@inline
export function number(p: usize, to: usize): usize {
  return <u32>load<u16>(p) == 0x7830 ? hex(p + 2, to) : decimal(p, to)
}

/** The length of `zone_` or `malloc_zone_` at `p`, or 0: functions of macOS whose first argument is a zone. */
function zoneOf(p: usize): u32 {
  if (load<u32>(p) == 0x656e_6f7a && load<u8>(p + 4) == 0x5f) return 5
  return load<u64>(p) == 0x7a5f_636f_6c6c_616d && load<u32>(p + 8) == 0x5f65_6e6f ? 12 : 0
}

/** Whether a text begins as a call does: `NAME(`. */
export function isNamed(p: usize): bool {
  const limit = p + 256
  while (p < limit && isNameByte(load<u8>(p))) p++
  return load<u8>(p) == OPEN
}

/** Reads a call `NAME(ARGUMENTS)`. @returns whether there is one */
export function readCall(p: usize): bool {
  nameAt = p
  while (isNameByte(load<u8>(p))) p++
  nameLength = <u32>(p - nameAt)
  if (nameLength == 0 || load<u8>(p) != OPEN) return false
  argumentCount = 0
  isSizeFirst = false
  p++
  while (load<u8>(p) != CLOSE) {
    while (load<u8>(p) == SPACE) p++
    // `al 64, size 1000`
    if (load<u32>(p) == 0x657a_6973 && load<u8>(p + 4) == SPACE) {
      if (argumentCount == 0) isSizeFirst = true
      p += 5
    } else if ((load<u32>(p) & 0xff_ffff) == 0x20_6c61) p += 3
    // `alignment 64`, with musl and on FreeBSD
    else if (load<u64>(p) == 0x6e65_6d6e_6769_6c61 && <u32>load<u16>(p + 8) == 0x2074) p += 10
    p = number(p, argumentCount < 3 ? ARGUMENTS + ((<usize>argumentCount) << 3) : NUMBER)
    if (p == 0) return false
    argumentCount++
    if (load<u8>(p) == COMMA) p++
    else if (load<u8>(p) != CLOSE) return false
  }
  callEnd = p + 1
  const zone = zoneOf(nameAt)
  if (zone != 0 && argumentCount > 0) {
    memory.copy(ARGUMENTS, ARGUMENTS + 8, 16)
    argumentCount--
  }
  does = functionOf(nameAt + zone, nameLength - zone)
  // These do not state what was allocated.
  if (does == NAMED) does = OTHER
  const first = load<u64>(ARGUMENTS)
  if (does == NEW && argumentCount >= 2 && nameLength >= 14 && memory.compare(nameAt + 5, W_ALIGNED, 9) == 0)
    isSizeFirst = true
  if (does == MEMALIGN && argumentCount >= 3) {
    // The address of a variable comes first.
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 8))
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 16), 8)
    argumentCount = 2
  } else if (isSizeFirst && argumentCount >= 2) {
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 8))
    store<u64>(ARGUMENTS, first, 8)
  }
  const needed: u32 =
    does == REALLOCARRAY ? 3 : does == CALLOC || does == REALLOC || does == MEMALIGN ? 2 : does == OTHER ? 0 : 1
  if (argumentCount < needed) return false
  return true
}
