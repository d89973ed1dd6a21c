import { widened } from './widened.js'

/**
 * Finds numbers from 0 on by the hash of what they stand for, which the owner keeps and compares: the table for bytes,
 * records and whatever else is not a key of 64 bits. Chains in typed arrays: 8 bytes for each number, and 4 for each of
 * at least twice as many slots.
 *
 *     for (let n = index.first(hash); n >= 0; n = index.next(n)) if (isEqual(n)) return n
 *     index.put(n, hash)
 */
export class HashIndex {
  /** By hash, the number that was put there last, plus 1; 0 for none. */
  private heads = new Int32Array(16)
  /** Per number, the number plus 1 that was put there before it, and its hash. */
  private chain = new Int32Array(8)
  private hashes = new Int32Array(8)
  private size = 0

  /** The last number with a hash; -1 for none. */
  first(hash: number): number {
    return this.same(this.heads[hash & (this.heads.length - 1)], hash | 0)
  }

  /** The number before another one that has the same hash; -1 for none. */
  next(number: number): number {
    return this.same(this.chain[number], this.hashes[number])
  }

  /** Adds a number that is not there. */
  put(number: number, hash: number): void {
    if (2 * ++this.size > this.heads.length) this.grow()
    if (number >= this.chain.length) {
      this.chain = longer(this.chain, number)
      this.hashes = longer(this.hashes, number)
    }
    this.hashes[number] = hash
    this.link(number)
  }

  /** Removes all numbers. */
  clear(): void {
    this.heads.fill(0)
    this.size = 0
  }

  private same(head: number, hash: number): number {
    const { chain, hashes } = this
    let number = head - 1
    while (number >= 0 && hashes[number] !== hash) number = chain[number] - 1
    return number
  }

  private link(number: number): void {
    const slot = this.hashes[number] & (this.heads.length - 1)
    this.chain[number] = this.heads[slot]
    this.heads[slot] = number + 1
  }

  private grow(): void {
    const { heads, chain } = this
    this.heads = new Int32Array(4 * heads.length)
    for (const head of heads) {
      for (let number = head - 1; number >= 0;) {
        const before = chain[number] - 1
        this.link(number)
        number = before
      }
    }
  }
}

/** A copy with room for an index, and four times the room. Unused room takes no memory of the machine. */
function longer(array: Int32Array<ArrayBuffer>, index: number): Int32Array<ArrayBuffer> {
  return widened(array, Math.max(4 * array.length, index + 1))
}
