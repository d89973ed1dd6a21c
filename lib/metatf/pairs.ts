import { HI, LO, wide } from '../bytes/u64.js'

/** Reads an unsigned number of 0 to 8 bytes at `at` into the pair of words at `words[index]`. */
export function readNumber(
  bytes: Uint8Array,
  at: number,
  width: number,
  little: boolean,
  words: Uint32Array,
  index: number,
): void {
  let lo = 0
  let hi = 0
  // From the most significant byte on: with 64 bits, what overflows the low word goes to the high one.
  const end = at + width
  if (little) {
    for (let i = end - 1; i >= at; i--) {
      hi = (hi << 8) | (lo >>> 24)
      lo = (lo << 8) | bytes[i]
    }
  } else {
    for (let i = at; i < end; i++) {
      hi = (hi << 8) | (lo >>> 24)
      lo = (lo << 8) | bytes[i]
    }
  }
  words[index + LO] = lo
  words[index + HI] = hi
}

/** Writes the low `width` bytes, 0 to 8, of the pair of words at `words[index]` to `at`. */
export function writeNumber(
  bytes: Uint8Array,
  at: number,
  width: number,
  little: boolean,
  words: Uint32Array,
  index: number,
): void {
  const lo = words[index + LO]
  const hi = words[index + HI]
  for (let i = 0; i < width; i++) {
    const byte = i < 4 ? lo >>> (8 * i) : hi >>> (8 * (i - 4))
    bytes[little ? at + i : at + width - 1 - i] = byte
  }
}

/** Extends the sign of the number of `width` bytes in the pair of words at `words[index]` to 64 bits. */
export function extendSign(words: Uint32Array, index: number, width: number): void {
  if (width === 0 || width >= 8) return
  if (width > 4) {
    const shift = 64 - 8 * width
    words[index + HI] = (words[index + HI] << shift) >> shift
    return
  }
  const shift = 32 - 8 * width
  const lo = (words[index + LO] << shift) >> shift
  words[index + LO] = lo
  words[index + HI] = lo >> 31
}

/** Adds the pair at `from[at]` to the one at `words[index]`, modulo 2^64. */
export function addPair(words: Uint32Array, index: number, from: Uint32Array, at: number): void {
  const lo = words[index + LO] + from[at + LO]
  words[index + HI] = words[index + HI] + from[at + HI] + (lo > 0xffff_ffff ? 1 : 0)
  words[index + LO] = lo
}

/** Subtracts the pair at `from[at]` from the one at `words[index]`, modulo 2^64. */
export function subtractPair(words: Uint32Array, index: number, from: Uint32Array, at: number): void {
  const lo = words[index + LO]
  const less = from[at + LO]
  words[index + HI] = words[index + HI] - from[at + HI] - (lo < less ? 1 : 0)
  words[index + LO] = lo - less
}

/** Whether two pairs are equal. */
export function samePair(a: Uint32Array, i: number, b: Uint32Array, j: number): boolean {
  return a[i + LO] === b[j + LO] && a[i + HI] === b[j + HI]
}

/** Whether the pair at `words[index]`, signed or not, can be stored in `width` bytes. */
export function fits(words: Uint32Array, index: number, width: number, signed: boolean): boolean {
  if (width >= 8) return true
  const lo = words[index + LO]
  const hi = words[index + HI]
  if (width === 0) return lo === 0 && hi === 0
  if (!signed) return width > 4 ? hi >>> (8 * (width - 4)) === 0 : hi === 0 && (width === 4 || lo >>> (8 * width) === 0)
  if (width > 4) {
    const shift = 64 - 8 * width
    return (hi << shift) >> shift === (hi | 0)
  }
  const shift = 32 - 8 * width
  return (lo << shift) >> shift === (lo | 0) && (hi | 0) === (lo | 0) >> 31
}

/** Stores a number, modulo 2^64, as pair p. */
export function setPair(words: Uint32Array, p: number, value: bigint): void {
  words[2 * p + LO] = Number(BigInt.asUintN(32, value))
  words[2 * p + HI] = Number(BigInt.asUintN(32, value >> 32n))
}

export function getPair(words: Uint32Array, p: number): bigint {
  return wide(words[2 * p + LO], words[2 * p + HI])
}
