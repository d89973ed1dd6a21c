/** heaptrack: lines to rows of an operation and its numbers. See lib/formats/heaptrack. */

import { KERNEL_INPUT } from '../lib/kernel/layouts/input'
import { ALLOC, ALLOC_INFO, FREE, INFO, NODE, RESIDENT, TEXT, TIME, WRONG } from '../lib/kernel/layouts/heaptrack'
import { KIND_ALLOC, KIND_FREE } from './shared/event'
import { GROWING, GrowingTable } from './shared/grow'
import { findLf, LF } from './shared/lines'
import { hex } from './shared/numbers'

/** The input buffer. It is followed by room for what readers look at beyond a line. */
export const INPUT: usize = memory.data(KERNEL_INPUT + 96)

/** The maximum number of lines that are read at a time. */
const ROWS: u32 = 4096

/** Per row, the operation of the line: one of those below. */
export const OPERATION: usize = memory.data(4096)
/** Per row, the position after its line feed. */
export const END: usize = memory.data(16_384)
/** Per row, the line's first, second and third number. */
export const FIRST: usize = memory.data(32_768)
export const SECOND: usize = memory.data(32_768)
export const THIRD: usize = memory.data(32_768)

/** Per row of `readBlocks`, the kind of the event, and the number of its info, from 1. */
export const KINDS: usize = memory.data(4096)
export const INFOS: usize = memory.data(16_384)

/**
 * By info, 0 if no block of it was allocated yet, otherwise the number of its live blocks plus 1. The table has at
 * least this many bytes.
 */
const FEWEST_LIVES: u64 = 65_536
export const lives = changetype<GrowingTable>(memory.data(GROWING))
/** The number of infos for which there is room. */
let infos: u32 = 0

/** `+ ` and so on, as words. */
const PLUS: u32 = 0x202b
const MINUS: u32 = 0x202d
const LETTER_T: u32 = 0x2074
const LETTER_A: u32 = 0x2061
const LETTER_C: u32 = 0x2063
const LETTER_R: u32 = 0x2052
const SPACE: u8 = 0x20

/** Reads two numbers and the line feed. @returns the position of the line feed, or 0 */
// @ts-ignore: decorator
@inline
function two(p: usize, wide: usize): usize {
  p = hex(p, FIRST + wide)
  if (p == 0 || load<u8>(p) != SPACE) return 0
  p = hex(p + 1, SECOND + wide)
  return p != 0 && load<u8>(p) == LF ? p : 0
}

/** Reads one number and the line feed. @returns the position of the line feed, or 0 */
// @ts-ignore: decorator
@inline
function one(p: usize, wide: usize): usize {
  p = hex(p, FIRST + wide)
  return p != 0 && load<u8>(p) == LF ? p : 0
}

/** Reads the whole lines from `p` to `end`, as long as there is room. @returns the number of rows; 0 if no line ends */
export function decode(p: usize, end: usize): u32 {
  while (end > p && load<u8>(end - 1) != LF) end--
  let row: u32 = 0
  while (p < end && row < ROWS) {
    const wide = (<usize>row) << 3
    const word = <u32>load<u16>(p)
    let operation: u32 = TEXT
    let q: usize = 0
    if (word == PLUS) {
      operation = ALLOC_INFO
      q = hex(p + 2, FIRST + wide)
      if (q != 0 && load<u8>(q) == SPACE) {
        operation = ALLOC
        q = hex(q + 1, SECOND + wide)
        q = q != 0 && load<u8>(q) == SPACE ? hex(q + 1, THIRD + wide) : 0
      }
      if (q != 0 && load<u8>(q) != LF) q = 0
    } else if (word == MINUS) {
      operation = FREE
      q = one(p + 2, wide)
    } else if (word == LETTER_T) {
      operation = NODE
      q = two(p + 2, wide)
    } else if (word == LETTER_A) {
      operation = INFO
      q = two(p + 2, wide)
    } else if (word == LETTER_C) {
      operation = TIME
      q = one(p + 2, wide)
    } else if (word == LETTER_R) {
      operation = RESIDENT
      q = one(p + 2, wide)
    }
    if (q == 0) {
      q = findLf(p)
      if (operation != TEXT) operation = WRONG
    }
    p = q + 1
    store<u8>(OPERATION + row, operation)
    store<u32>(END + ((<usize>row) << 2), <u32>p)
    row++
  }
  return row
}

/** Makes room for the live blocks of this many infos. @returns whether there is memory */
export function makeLives(wanted: u32): bool {
  if (wanted <= infos) return true
  if (!lives.reserve(max<u64>(FEWEST_LIVES, (<u64>wanted) << 2))) return false
  infos = 1 << (lives.log - 2)
  return true
}

/**
 * Reads the allocations and frees of an interpreted file from row `row` to row `end`, and counts the live blocks of
 * their infos. Stops at another line, at a free of no live block, and at the first allocation with an info, which may
 * have no definition.
 * @returns the number of rows
 */
export function readBlocks(row: u32, end: u32): u32 {
  const first = row
  for (; row < end; row++) {
    const operation = load<u8>(OPERATION + row)
    if (operation != FREE && operation != ALLOC_INFO) break
    const info = load<u64>(FIRST + ((<usize>row) << 3))
    if (info >= <u64>infos) break
    const at = lives.at + ((<usize>info) << 2)
    const live = load<u32>(at)
    if (live == 0) break
    if (operation == FREE) {
      if (live == 1) break
      store<u32>(at, live - 1)
      store<u8>(KINDS + row, KIND_FREE)
    } else {
      if (live == u32.MAX_VALUE) break
      store<u32>(at, live + 1)
      store<u8>(KINDS + row, KIND_ALLOC)
    }
    store<u32>(INFOS + ((<usize>row) << 2), <u32>info + 1)
  }
  return row - first
}
