import { hashWord } from '../bytes/hash.js'
import { HashIndex } from '../bytes/hash-index.js'
import { widened } from '../bytes/widened.js'

/** The words of a row. */
export const WORDS = 4

/** Numbers rows of four words, and counts them. */
export class RowTable {
  size = 0
  /** The rows in the order in which they were added, and their counts. */
  words = new Int32Array(WORDS * 64)
  counts = new Float64Array(64)
  private readonly index = new HashIndex()

  /** Adds to the count of a row. */
  count(a: number, b: number, c: number, d: number, count: number): void {
    const row = this.row(a, b, c, d, Infinity)
    this.counts[row] = this.counts[row] + count
  }

  /** The number of a row, which is added if there are fewer rows than `most`; otherwise -1. */
  row(a: number, b: number, c: number, d: number, most: number): number {
    const { words, index } = this
    const hash = hashWord(hashWord(hashWord(hashWord(0, a), b), c), d)
    for (let row = index.first(hash); row >= 0; row = index.next(row)) {
      const at = WORDS * row
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return row
    }
    if (this.size >= most) return -1
    const row = this.size++
    index.put(row, hash)
    if (row === this.counts.length) {
      this.words = widened(words, 2 * words.length)
      this.counts = widened(this.counts, 2 * row)
    }
    const at = WORDS * row
    this.words[at] = a
    this.words[at + 1] = b
    this.words[at + 2] = c
    this.words[at + 3] = d
    return row
  }
}
