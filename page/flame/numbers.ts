import type { Integer } from '../../lib/transforms/report/result.js'
import { toNumber } from '../parts/format.js'

const known = new WeakMap<readonly Integer[], Float64Array>()

/** The values of a column of the data as numbers: exactly up to 2^53. Made once. */
export function numbersOf(values: readonly Integer[]): Float64Array {
  let numbers = known.get(values)
  if (numbers === undefined) {
    numbers = new Float64Array(values.length)
    for (let n = 0; n < values.length; n++) numbers[n] = toNumber(values[n])
    known.set(values, numbers)
  }
  return numbers
}

/** The exact sum of the values of some rows, none of which is negative. */
export function sumOf(values: readonly Integer[], rows: ArrayLike<number>): Integer | bigint {
  const numbers = numbersOf(values)
  let sum = 0
  for (let n = 0; n < rows.length; n++) sum += numbers[rows[n]]
  if (Number.isSafeInteger(sum)) return sum
  let exact = 0n
  for (let n = 0; n < rows.length; n++) exact += BigInt(values[rows[n]] ?? 0)
  return exact
}

/** Some of the rows, much faster than `filter` of arrays. */
export function rowsWhere(rows: Uint32Array, isKept: (row: number) => boolean): Uint32Array {
  const kept = new Uint32Array(rows.length)
  let count = 0
  for (let n = 0; n < rows.length; n++) {
    const row = rows[n]
    if (isKept(row)) kept[count++] = row
  }
  return kept.subarray(0, count)
}

/**
 * The rows that come first, in their order.
 * @param by what they are ordered by, the largest first
 * @param compare orders rows that are equal in it, too
 */
export function firstRows(
  rows: Uint32Array,
  count: number,
  by: Float64Array,
  compare: (a: number, b: number) => number,
): number[] {
  if (count <= 0) return []
  if (rows.length <= count) return Array.from(rows).toSorted(compare)
  // Numbers alone are sorted many times as fast as with a function.
  const values = new Float64Array(rows.length)
  for (let n = 0; n < rows.length; n++) values[n] = by[rows[n]]
  const least = values.toSorted()[values.length - count]
  return Array.from(rowsWhere(rows, (row) => by[row] >= least))
    .toSorted(compare)
    .slice(0, count)
}
