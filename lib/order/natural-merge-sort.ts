import { HI, LO } from '../bytes/u64.js'

const NOTHING = new Int32Array(0)

/**
 * Sorts keys by merging existing runs (a natural merge sort), so that input that is sorted, or consists of a few sorted
 * parts, takes next to no time. Its memory, 10 bytes per key, is reused.
 */
export class NaturalMergeSort {
  private order = NOTHING
  private merged = NOTHING
  /** The start of each run, and the end of the last one. */
  private bounds = NOTHING

  /**
   * The numbers of the keys from the smallest to the greatest; equal keys keep their order. Valid until the next call.
   * @param keys pairs of words, key i's from `2 * i` (see `LO` and `HI`)
   * @param n the number of keys
   */
  of(keys: Uint32Array, n: number): Int32Array {
    if (this.order.length < n) {
      this.order = new Int32Array(n)
      this.merged = new Int32Array(n)
      this.bounds = new Int32Array((n >> 1) + 2)
    }
    const { bounds } = this
    let runs = findRuns(keys, n, this.order, bounds)
    while (runs > 1) {
      let longer = 0
      for (let r = 0; r < runs; r += 2) {
        const start = bounds[r]
        const middle = bounds[r + 1]
        const end = r + 1 < runs ? bounds[r + 2] : middle
        mergeRuns(keys, this.order, this.merged, start, middle, end)
        bounds[longer++] = start
      }
      bounds[longer] = n
      runs = longer
      ;[this.order, this.merged] = [this.merged, this.order]
    }
    return this.order.subarray(0, n)
  }
}

/**
 * Fills `order` with runs of at least two keys, descending ones reversed, and fills `bounds`.
 * @returns the number of runs
 */
function findRuns(keys: Uint32Array, n: number, order: Int32Array, bounds: Int32Array): number {
  let runs = 0
  for (let start = 0; start < n;) {
    let end = start + 1
    // Reversing equal keys would change their order.
    if (end < n && compare(keys, start, end) > 0) {
      while (end < n && compare(keys, end - 1, end) > 0) end++
      for (let i = start; i < end; i++) order[i] = start + end - 1 - i
    } else {
      while (end < n && compare(keys, end - 1, end) <= 0) end++
      for (let i = start; i < end; i++) order[i] = i
    }
    bounds[runs++] = start
    start = end
  }
  bounds[runs] = n
  return runs
}

function mergeRuns(
  keys: Uint32Array,
  from: Int32Array,
  to: Int32Array,
  start: number,
  middle: number,
  end: number,
): void {
  let a = start
  let b = middle
  for (let i = start; i < end; i++) {
    if (a < middle && (b >= end || compare(keys, from[a], from[b]) <= 0)) to[i] = from[a++]
    else to[i] = from[b++]
  }
}

function compare(keys: Uint32Array, a: number, b: number): number {
  return keys[2 * a + HI] - keys[2 * b + HI] || keys[2 * a + LO] - keys[2 * b + LO]
}
