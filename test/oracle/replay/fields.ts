import { ZERO } from '../../../lib/text/ascii.js'
import { decimal, gap, hex } from '../../../lib/text/numbers.js'
import { hexValue } from '../../../lib/bytes/u64.js'

/** Reads spaces and a 64-bit unsigned decimal number. */
export function decimalField(bytes: Uint8Array, p: number, words: Uint32Array, at: number): number {
  p = gap(bytes, p)
  return p < 0 ? p : decimal(bytes, p, words, at)
}

/**
 * Reads spaces and a 64-bit hex number of either case, with `0x` or without. Too large a number does not fit at its
 * first byte.
 */
export function pointerField(bytes: Uint8Array, p: number, words: Uint32Array, at: number): number {
  p = gap(bytes, p)
  if (p < 0) return p
  const start = p
  if (bytes[p] === ZERO && (bytes[p + 1] | 32) === 0x78) p += 2
  const after = hex(bytes, p, words, at)
  return after < 0 && hexValue(bytes[p]) >= 0 ? ~start : after
}
