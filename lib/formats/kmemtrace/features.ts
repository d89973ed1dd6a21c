/** Bytes of a feature's size (which counts itself) and id. */
const FEATURE_HEAD = 3

/**
 * Whether `bytes[start..end)` is a sequence of complete features: each a size of 2 bytes, an id, and as much data as
 * the size says.
 */
export function areFeatures(bytes: Uint8Array, start: number, end: number, littleEndian: boolean): boolean {
  let at = start
  while (end - at >= FEATURE_HEAD) {
    const first = bytes[at]
    const second = bytes[at + 1]
    const size = littleEndian ? first | (second << 8) : (first << 8) | second
    if (size < FEATURE_HEAD) return false
    at += size
  }
  return at === end
}
