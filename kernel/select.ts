/** Selects rows of a batch by value, and gathers their values. See lib/kernel/select.ts. */

import { MAX_RANGES } from '../lib/kernel/layouts/select'
import { MASK } from './shared/columns'

export { MASK }

/** The numbers of up to 4096 rows. */
export const ROWS: usize = memory.data(16384)
/**
 * The column to examine, with 8, 4 or 1 bytes for each row of the batch, followed by the buffer for gathered values.
 */
export const SOURCE: usize = memory.data(32960)
export const GATHERED: usize = memory.data(32960)
/** The selected ranges: first and last values, ascending and disjoint; at most `MAX_RANGES`. */
export const RANGES: usize = memory.data(MAX_RANGES * 16)
/** By code, 1 if it is wanted. */
export const CODES: usize = memory.data(256)

/**
 * Keeps the rows that have the field (`has`) with a 64-bit value in the range.
 * @returns their number
 */
export function inRange(has: u32, n: u32): u32 {
  const first = load<u64>(RANGES)
  const width = load<u64>(RANGES, 8) - first
  let kept: usize = 0
  for (let j: usize = 0; j < <usize>n; j++) {
    const i = <usize>load<u32>(ROWS + (j << 2))
    const isIn = load<u64>(SOURCE + (i << 3)) - first <= width
    store<u32>(ROWS + (kept << 2), <u32>i)
    kept += <usize>(isIn & ((load<u32>(MASK + (i << 2)) & has) != 0))
  }
  return <u32>kept
}

/** The same with several ranges. */
export function inRanges(has: u32, ranges: u32, n: u32): u32 {
  let kept: usize = 0
  for (let j: usize = 0; j < <usize>n; j++) {
    const i = <usize>load<u32>(ROWS + (j << 2))
    const value = load<u64>(SOURCE + (i << 3))
    // The last range that begins at or before the value, or the first one.
    let at = RANGES
    for (let left = ranges; left > 1;) {
      const half = left >> 1
      at = select<usize>(at + ((<usize>half) << 4), at, load<u64>(at + ((<usize>half) << 4)) <= value)
      left -= half
    }
    const isIn = (value >= load<u64>(at)) & (value <= load<u64>(at, 8))
    store<u32>(ROWS + (kept << 2), <u32>i)
    kept += <usize>(isIn & ((load<u32>(MASK + (i << 2)) & has) != 0))
  }
  return <u32>kept
}

/**
 * Keeps the rows with a selected code, and with the field if it is required (`has` is not 0).
 * @returns their number
 */
export function isWanted(has: u32, n: u32): u32 {
  let kept: usize = 0
  for (let j: usize = 0; j < <usize>n; j++) {
    const i = <usize>load<u32>(ROWS + (j << 2))
    const isIn = <usize>load<u8>(CODES + <usize>load<u8>(SOURCE + i))
    store<u32>(ROWS + (kept << 2), <u32>i)
    kept += isIn & (<usize>((load<u32>(MASK + (i << 2)) & has) == has))
  }
  return <u32>kept
}

/** Gathers the rows' values of 8 bytes. */
export function gather8(n: u32): void {
  for (let j: usize = 0; j < <usize>n; j++)
    store<u64>(GATHERED + (j << 3), load<u64>(SOURCE + ((<usize>load<u32>(ROWS + (j << 2))) << 3)))
}

/** Gathers the rows' values of 4 bytes. */
export function gather4(n: u32): void {
  for (let j: usize = 0; j < <usize>n; j++)
    store<u32>(GATHERED + (j << 2), load<u32>(SOURCE + ((<usize>load<u32>(ROWS + (j << 2))) << 2)))
}

/** Gathers the rows' values of a byte. */
export function gather1(n: u32): void {
  for (let j: usize = 0; j < <usize>n; j++)
    store<u8>(GATHERED + j, load<u8>(SOURCE + <usize>load<u32>(ROWS + (j << 2))))
}
