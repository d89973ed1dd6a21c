import { grown } from './lists.js'

/** The words of a row. */
export const WORDS = 4
const EMPTY = 0

/** Numbers rows of four words, and counts them: an open hash table. */
export class RowTable {
  size = 0
  /** The rows in the order in which they were added, and their counts. */
  words = new Int32Array(WORDS * 64)
  counts = new Float64Array(64)
  /** By hash: the number of a row plus 1. */
  private slots = new Int32Array(256)

  /** Adds to the count of a row. */
  count(a: number, b: number, c: number, d: number, count: number): void {
    const row = this.row(a, b, c, d, Infinity)
    this.counts[row] = this.counts[row] + count
  }

  /** The number of a row, which is added if there are fewer rows than `most`; otherwise -1. */
  row(a: number, b: number, c: number, d: number, most: number): number {
    const { words, slots } = this
    const mask = slots.length - 1
    let slot = hash(a, b, c, d) & mask
    for (let next = slots[slot]; next !== EMPTY; next = slots[slot]) {
      const at = WORDS * (next - 1)
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return next - 1
      slot = (slot + 1) & mask
    }
    if (this.size >= most) return -1
    const row = this.size++
    slots[slot] = row + 1
    if (row === this.counts.length) {
      this.words = grown(words, 2 * words.length)
      this.counts = grown(this.counts, 2 * row)
    }
    const at = WORDS * row
    this.words[at] = a
    this.words[at + 1] = b
    this.words[at + 2] = c
    this.words[at + 3] = d
    if (2 * this.size > slots.length) this.rehash()
    return row
  }

  private rehash(): void {
    const slots = new Int32Array(2 * this.slots.length)
    const mask = slots.length - 1
    const { words } = this
    for (let row = 0, at = 0; row < this.size; row++, at += WORDS) {
      const [a, b, c, d] = [words[at], words[at + 1], words[at + 2], words[at + 3]] as [number, number, number, number]
      let slot = hash(a, b, c, d) & mask
      while (slots[slot] !== EMPTY) slot = (slot + 1) & mask
      slots[slot] = row + 1
    }
    this.slots = slots
  }
}

function hash(a: number, b: number, c: number, d: number): number {
  let mixed = Math.imul(a, 0x9e37_79b1) ^ Math.imul(b, 0x85eb_ca6b)
  mixed ^= Math.imul(c, 0xc2b2_ae35) ^ Math.imul(d, 0x27d4_eb2f)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b_3c6d)
  return mixed ^ (mixed >>> 13)
}
