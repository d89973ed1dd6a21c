import { WORD } from '../../bytes/u64.js'

/** A sum is exact while its high part is below this. */
const EXACT = 2 ** 53

/**
 * An exact sum of 64-bit unsigned integers: `hi * 2^32 + lo`, where `hi` is a whole double, so that it represents up to
 * 2^85 without a BigInt for each added number. Never negative.
 */
export class Sum {
  lo = 0
  hi = 0

  /** @param lo the low word of the added number, unsigned @param hi the high word, or any whole double */
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

  /** Whether the sum has stayed below 2^85, as in any real trace. */
  get isExact(): boolean {
    return this.hi < EXACT
  }

  /** The sum as one integer. */
  get value(): bigint {
    return BigInt(this.hi) * BigInt(WORD) + BigInt(this.lo)
  }
}
