/** The call in a line: `lib->name@object(arguments`. */

import { CALLOC, functionOf, MEMALIGN, NAMED, NEW, OTHER, REALLOC, REALLOCARRAY, W_ALIGNED } from '../shared/called'
import { isPlain } from '../shared/json'
import { findEither, LF } from '../shared/lines'
import { SPACE, OPEN, CLOSE, COMMA, GREATER, AT_SIGN, DASH, skipSpaces, value } from './scan'

/** The arguments. For aligned allocations they are in the order of `MEMALIGN`. */
export const ARGUMENTS: usize = memory.data(24)
/** The effect of the call: a code of ../shared/called. */
export let does: u32 = OTHER
/** The number of arguments that matter. */
export let count: u32 = 0
export let nameAt: usize = 0
export let nameLength: u32 = 0
export let moduleAt: usize = 0
export let moduleLength: u32 = 0
/** `@OBJECT`, where the function is; its length is 0 if the line does not have it. */
let objectAt: usize = 0
let objectLength: usize = 0
/** One past the arguments that matter. */
export let argumentsEnd: usize = 0

const MAX_NAME: u32 = 120

/** The end of the function's name that begins at `p`: its arguments or `@`; 0 if there is no name. */
function nameEnd(p: usize): usize {
  let q = p
  let c = load<u8>(q)
  while ((c | 0x20) - 0x61 <= 25 || c - 0x30 <= 9 || c == 0x5f) c = load<u8>(++q)
  if (q - p == 8 && c == SPACE && load<u64>(p) == 0x726f_7461_7265_706f) {
    // operator new(unsigned long)(88, ...: the arguments are in the second parentheses.
    q = findEither(q, OPEN)
    if (load<u8>(q) == LF) return 0
    q = findEither(q, CLOSE)
    return load<u8>(q) == LF ? 0 : q + 1
  }
  return q > p ? q : 0
}

/** Reads a call. @returns whether an allocator's function is called */
export function readCall(p: usize, end: usize): bool {
  moduleLength = 0
  // The first -> that precedes any parenthesis.
  const paren = findEither(p, OPEN)
  if (paren >= end) return false
  for (let q = p; q + 1 < paren; q++) {
    if (load<u8>(q) == DASH && load<u8>(q + 1) == GREATER) {
      moduleAt = p
      moduleLength = <u32>(q - p)
      p = q + 2
      break
    }
  }
  const after = nameEnd(p)
  if (after == 0 || after - p > MAX_NAME) return false
  nameAt = p
  nameLength = <u32>(after - p)
  does = functionOf(nameAt, nameLength)
  if (does == OTHER || !isPlain(nameAt, nameLength)) return false
  p = after
  objectAt = p
  if (load<u8>(p) == AT_SIGN) p = findEither(p, OPEN)
  objectLength = p - objectAt
  if (load<u8>(p) != OPEN) return false
  p++
  const isPosix = does == MEMALIGN && nameLength == 14
  const isAligned =
    (does == NEW || does == MEMALIGN) && nameLength >= 14 && memory.compare(nameAt + 5, W_ALIGNED, 9) == 0
  const wanted: u32 =
    does == NAMED
      ? 0
      : does == REALLOCARRAY || isPosix
        ? 3
        : does == CALLOC || does == REALLOC || does == MEMALIGN || isAligned
          ? 2
          : 1
  for (let n: u32 = 0; n < wanted; n++) {
    const to = ARGUMENTS + ((<usize>n) << 3)
    p = skipSpaces(p)
    // Sizes have signs where ltrace does not know the function.
    const isNegative = load<u8>(p) == DASH
    p = value(isNegative ? p + 1 : p, to)
    if (p == 0) return false
    if (isNegative) store<u64>(to, 0 - load<u64>(to))
    if (n + 1 < wanted) {
      if (load<u8>(p) != COMMA) return false
      p++
    }
  }
  count = wanted
  if (isPosix) {
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 8))
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 16), 8)
    count = 2
  } else if (isAligned) {
    const size = load<u64>(ARGUMENTS)
    store<u64>(ARGUMENTS, load<u64>(ARGUMENTS, 8))
    store<u64>(ARGUMENTS, size, 8)
  }
  argumentsEnd = p
  return true
}

/** A hash of the object that the function is in; 0 if the line does not have it. */
export function objectHash(): u32 {
  if (objectLength == 0) return 0
  let hash: u32 = 0x811c_9dc5
  for (let n: usize = 0; n < objectLength; n++) hash = (hash ^ load<u8>(objectAt + n)) * 0x0100_0193
  return hash | 1
}
