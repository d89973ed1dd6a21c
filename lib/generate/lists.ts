import { widened } from '../bytes/widened.js'

/** A list of numbers that are added and taken at its end, in typed memory that grows. */
export class NumberList {
  length = 0
  private values = new Float64Array(16)

  push(value: number): void {
    if (this.length === this.values.length) this.values = widened(this.values, 2 * this.length)
    this.values[this.length++] = value
  }

  /** Takes the last number. @returns undefined if there is none */
  pop(): number | undefined {
    return this.length === 0 ? undefined : this.values[--this.length]
  }

  /** The number at a place below the length. */
  at(place: number): number {
    return this.values[place]
  }

  /** Takes the number at a place; the last one moves there. */
  take(place: number): number {
    const value = this.at(place)
    this.values[place] = this.at(--this.length)
    return value
  }
}
