import { HEAD_BYTES, CHUNK_BYTES, MAGIC, TAIL_BYTES, THREAD_BYTES, VERSION } from './layout.js'
import type { OpList } from './op-list.js'

/** The data in the tail of a file, besides the positions of its tables. */
interface TailFigures {
  readonly slots: number
  readonly epochs: number
  readonly peakBytes: number
  readonly peakBlocks: number
}

/** Continues a checksum: FNV-1a of 32-bit words. */
export function checksum(sum: number, words: Uint32Array): number {
  for (let i = 0; i < words.length; i++) sum = Math.imul(sum ^ words[i], 0x0100_0193)
  return sum >>> 0
}

/** The checksum of no bytes. */
export const NO_SUM = 0x811c_9dc5

/** The first bytes of a file. */
export function headWords(): Uint32Array {
  const words = new Uint32Array(HEAD_BYTES / 4)
  new Uint8Array(words.buffer).set(MAGIC)
  words[2] = VERSION
  return words
}

/**
 * The tables and the tail.
 * @param at the position of the tables in the file @param sum the checksum of everything before them
 */
export function tailWords(lists: readonly OpList[], figures: TailFigures, at: number, sum: number): Uint32Array {
  const chunks = lists.reduce((n, { offsets }) => n + offsets.length, 0)
  const calls = lists.reduce((n, list) => n + list.calls, 0)
  const bytes = lists.length * THREAD_BYTES + chunks * CHUNK_BYTES + TAIL_BYTES
  const words = new Uint32Array(bytes / 4)
  const numbers = new BigUint64Array(words.buffer)
  let n = 0
  const put = (value: number) => (numbers[n++] = BigInt(value))
  let first = 0
  for (const { offsets, ops, calls: own } of lists) {
    for (const value of [first, offsets.length, ops, own]) put(value)
    first += offsets.length
  }
  const chunksAt = at + lists.length * THREAD_BYTES
  for (const { offsets, sizes } of lists) {
    for (const [i, offset] of offsets.entries()) {
      put(offset)
      put(sizes[i])
    }
  }
  for (const value of [at, chunksAt, chunks, figures.epochs, calls, figures.peakBytes, figures.peakBlocks]) put(value)
  let word = 2 * n
  words[word++] = lists.length
  words[word++] = figures.slots
  word++
  words[word] = checksum(sum, words.subarray(0, word))
  new Uint8Array(words.buffer).set(MAGIC, 4 * (word + 1))
  return words
}
