/** Secrets of the process. The factors are odd, so that products lose nothing. */
const SALT = Math.floor(Math.random() * 2 ** 32)
const FACTOR = Math.floor(Math.random() * 2 ** 32) | 1
const OTHER = Math.floor(Math.random() * 2 ** 32) | 1

/**
 * A hash of a word and the hash of what precedes it, in 32 bits. The factors differ in each process: with known ones,
 * the author of a trace could choose keys whose differences cancel under each seed.
 */
export function hashWord(before: number, word: number): number {
  let h = Math.imul(before ^ word ^ SALT, FACTOR)
  h = Math.imul(h ^ (h >>> 15), OTHER)
  return h ^ (h >>> 16)
}

/** The hash of `source[start..end)`. */
export function hashBytes(source: Uint8Array, start: number, end: number): number {
  let h = end - start
  let i = start
  for (; i + 4 <= end; i += 4)
    h = hashWord(h, source[i] | (source[i + 1] << 8) | (source[i + 2] << 16) | (source[i + 3] << 24))
  for (; i < end; i++) h = hashWord(h, source[i])
  return h
}
