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

  /** Whether the sum stayed below 2^85, as that of all that a real trace has. */
  get isExact(): boolean {
    return this.hi < EXACT
  }

  /** The sum as one integer. */
  get value(): bigint {
    return BigInt(this.hi) * BigInt(WORD) + BigInt(this.lo)
  }
}

/** An array's values at the beginning of a larger one, which is returned. */
export function widened<A extends Int32Array | Uint32Array | Float64Array>(values: A, larger: A): A {
  larger.set(values)
  return larger
}
