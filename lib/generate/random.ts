/**
 * Random numbers: xoshiro128** of Blackman and Vigna, *Scrambled Linear Pseudorandom Number Generators* (2021), whose
 * state splitmix32 makes of a seed. The same seed gives the same numbers.
 */
export class Random {
  private a: number
  private b: number
  private c: number
  private d: number

  /** @param seed a whole number from 0 to 2^53 - 1 */
  constructor(seed: number) {
    let state = (seed | 0) ^ Math.imul(Math.floor(seed / 2 ** 32), 0x85eb_ca6b)
    const split = () => {
      state = (state + 0x9e37_79b9) | 0
      let mixed = Math.imul(state ^ (state >>> 16), 0x21f0_aaad)
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97)
      return mixed ^ (mixed >>> 15)
    }
    this.a = split()
    this.b = split()
    this.c = split()
    // Not all words may be 0.
    this.d = split() | 1
  }

  /** A whole number from 0 to 2^32 - 1. */
  next(): number {
    const { b } = this
    const five = Math.imul(b, 5)
    const result = Math.imul((five << 7) | (five >>> 25), 9)
    this.c ^= this.a
    this.d ^= b
    this.b ^= this.c
    this.a ^= this.d
    this.c ^= b << 9
    this.d = (this.d << 11) | (this.d >>> 21)
    return result >>> 0
  }

  /** A number from 0 to less than 1, in steps of 2^-32. */
  unit(): number {
    return this.next() / 2 ** 32
  }

  /** A whole number from 0 to n - 1. @param n at most 2^32 */
  below(n: number): number {
    return Math.floor((this.next() / 2 ** 32) * n)
  }

  /** Whether something happens that has a chance of `percent`. */
  chance(percent: number): boolean {
    return this.next() < percent * (2 ** 32 / 100)
  }
}
