/**
 * Numbers of `width` bits, at most 32, packed from the lowest bit on.
 * @param first the position of the first one, in bits; bits after the end of the bytes are 0
 */
export function unpack(
  bytes: Uint8Array,
  first: number,
  width: number,
  target: Uint32Array | Uint8Array,
  from: number,
  count: number,
): void {
  const mask = width === 32 ? -1 : (1 << width) - 1
  let at = Math.floor(first / 8)
  let bit = first % 8
  for (let i = from; i < from + count; i++) {
    let value = (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> bit
    if (bit + width > 32) value |= bytes[at + 4] << (32 - bit)
    target[i] = value & mask
    bit += width
    at += bit >>> 3
    bit &= 7
  }
}
