/* Codes of numbers: small ones are exact, larger ones have ranges, each so many to a doubling. */

/** The maximum number of exact codes: 2^5 ranges to a doubling, and exact numbers up to 2^7. */
export const FINEST = 5

/**
 * The code of a number: numbers below 2^(bits + 2) are their own code; from there on, each doubling has 2^bits codes.
 * @param value a whole number below 2^53
 */
export function codeOf(value: number, bits: number): number {
  const exact = 4 << bits
  if (value < exact) return value
  let octave = Math.floor(Math.log2(value))
  // Beside powers of two, the logarithm may be rounded to the next whole number.
  if (2 ** octave > value) octave--
  else if (2 ** (octave + 1) <= value) octave++
  return exact + (octave - bits - 2) * (1 << bits) + (Math.floor(value / 2 ** (octave - bits)) - (1 << bits))
}

/** The smallest number with a code. */
export function leastOf(code: number, bits: number): number {
  const exact = 4 << bits
  if (code < exact) return code
  const ranges = 1 << bits
  const octave = bits + 2 + Math.floor((code - exact) / ranges)
  return (ranges + ((code - exact) % ranges)) * 2 ** (octave - bits)
}

export function widthOf(code: number, bits: number): number {
  const exact = 4 << bits
  return code < exact ? 1 : 2 ** (2 + Math.floor((code - exact) / (1 << bits)))
}

/** The code of the same numbers with one bit less. */
export function coarser(code: number, bits: number): number {
  return codeOf(leastOf(code, bits), bits - 1)
}
