import { WORD } from '../../bytes/u64.js'

/** A sum is exact while its high part is below this. */
const EXACT = 2 ** 53

/**
 * An exact sum of 64-bit unsigned integers: `hi * 2^32 + lo`, where `hi` is a whole double, so that it holds up to 2^85
 * without a BigInt for each number that is added. Never below zero.
 */
export class Sum {
  lo = 0
  hi = 0

  /** @param lo the low word of what is added, unsigned. @param hi the high word, or any whole double. */
  add(lo: number, hi: number): void {
    const low = this.lo + lo
    if (low >= WORD) {
      this.lo = low - WORD
      this.hi += hi + 1
    } else {
      this.lo = low
      this.hi += hi
    }
  }

  /** Takes away what was added before. */
  subtract(lo: number, hi: number): void {
    const low = this.lo - lo
    if (low < 0) {
      this.lo = low + WORD
      this.hi -= hi + 1
    } else {
      this.lo = low
      this.hi -= hi
    }
  }

  /** Becomes the larger of both. @returns whether that was the other one */
  raise(other: Sum): boolean {
    if (other.hi < this.hi || (other.hi === this.hi && other.lo <= this.lo)) return false
    this.hi = other.hi
    this.lo = other.lo
    return true
  }

  /** Back to zero. */
  clear(): void {
    this.lo = this.hi = 0
  }

  /** Whether the sum stayed below 2^85, as that of all that a real trace has. */
  get isExact(): boolean {
    return this.hi < EXACT
  }

  /** The sum as one integer. */
  get value(): bigint {
    return BigInt(this.hi) * BigInt(WORD) + BigInt(this.lo)
  }
}

/** A column of exact sums, one a row; each is at most the sum of all, which tells whether they are exact: see `Sum`. */
export class SumColumn {
  private lo: Uint32Array
  private hi: Float64Array

  constructor(rows: number) {
    this.lo = new Uint32Array(rows)
    this.hi = new Float64Array(rows)
  }

  /** Makes room for rows below `rows`. */
  grow(rows: number): void {
    this.lo = widened(this.lo, new Uint32Array(rows))
    this.hi = widened(this.hi, new Float64Array(rows))
  }

  add(row: number, lo: number, hi: number): void {
    const low = (this.lo[row] as number) + lo
    // What is stored is taken modulo 2^32.
    this.lo[row] = low
    this.hi[row] = (this.hi[row] as number) + hi + (low >= WORD ? 1 : 0)
  }

  subtract(row: number, lo: number, hi: number): void {
    const low = (this.lo[row] as number) - lo
    this.lo[row] = low
    this.hi[row] = (this.hi[row] as number) - hi - (low < 0 ? 1 : 0)
  }

  /** The row becomes the larger of itself and the same row of another column. */
  raise(row: number, other: SumColumn): void {
    const hi = other.hi[row] as number
    const lo = other.lo[row] as number
    if (hi < (this.hi[row] as number) || (hi === this.hi[row] && lo <= (this.lo[row] as number))) return
    this.hi[row] = hi
    this.lo[row] = lo
  }

  /** Adds each row of another column to the same row of this one, and empties that one. */
  absorb(other: SumColumn): void {
    for (let row = 0; row < this.lo.length; row++) this.add(row, other.lo[row] as number, other.hi[row] as number)
    other.lo.fill(0)
    other.hi.fill(0)
  }

  /** The sum of a row. */
  value(row: number): bigint {
    return BigInt(this.hi[row] as number) * BigInt(WORD) + BigInt(this.lo[row] as number)
  }
}

/** An array's values at the beginning of a larger one, which is returned. */
export function widened<A extends Uint32Array | Float64Array>(values: A, larger: A): A {
  larger.set(values)
  return larger
}
