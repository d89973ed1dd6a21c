import { doubleAt, HI, LO } from '../bytes/u64.js'
import { GrowingKernel } from './growing.js'
import { COUNT, LAST, LOG, REST, SLOT_BYTES, SLOTS, SUM } from './layouts/pairs.js'
import type { KernelExports } from './load.js'

/** Blocks with the same key. */
export interface Pair {
  key: number
  blocks: number
  bytes: bigint
}

/** A kernel that counts, and the integers in its memory. */
export class CountingKernel<Exports extends KernelExports> extends GrowingKernel<Exports> {
  private words = new Uint32Array(0)

  /** `n` 64-bit integers from an address on. */
  integers(address: number, n: number): BigUint64Array {
    return new BigUint64Array(this.run.memory.buffer, address, n)
  }

  /** `n` bytes from an address on. */
  bytes(address: number, n: number): Uint8Array {
    return new Uint8Array(this.run.memory.buffer, address, n)
  }

  /** A 64-bit integer of which a double has all digits, as counts are. */
  number(address: number): number {
    return doubleAt(this.allWords(), address / 8)
  }

  /** A 64-bit integer. */
  integer(address: number): bigint {
    return this.integerIn(this.allWords(), address / 4)
  }

  /** A 32-bit integer. */
  word(address: number): number {
    return this.allWords()[address / 4]
  }

  /** An exact sum of 128 bits. */
  sum(address: number): bigint {
    const words = this.allWords()
    const low = this.integerIn(words, address / 4)
    // Few sums have an upper half.
    const at = address / 4 + 2
    return words[at] === 0 && words[at + 1] === 0 ? low : (this.integerIn(words, at) << 64n) | low
  }

  private integerIn(words: Uint32Array, at: number): bigint {
    const hi = words[at + HI]
    // Zero is no new object.
    const lo = words[at + LO] === 0 ? 0n : BigInt(words[at + LO])
    return hi === 0 ? lo : (BigInt(hi) << 32n) | lo
  }

  /** Every key of a table, and its count and sum. */
  *pairs(table: number): Generator<Pair> {
    if (this.word(table + LOG) === 0) return
    const slots = this.word(table + SLOTS)
    const last = slots + this.word(table + LAST)
    for (let slot = slots; slot <= last; slot += SLOT_BYTES) {
      const blocks = this.number(slot + COUNT)
      if (blocks !== 0) yield { key: this.number(slot), blocks, bytes: this.sum(slot + SUM) }
    }
  }

  /** The counts without a slot in a table. */
  rest(table: number): Omit<Pair, 'key'> {
    const at = table + REST - COUNT
    return { blocks: this.number(at + COUNT), bytes: this.sum(at + SUM) }
  }

  /** All of the memory: one view, for a result has very many figures. */
  private allWords(): Uint32Array {
    const { buffer } = this.run.memory
    if (this.words.buffer !== buffer) this.words = new Uint32Array(buffer)
    return this.words
  }
}
