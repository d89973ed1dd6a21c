/** Bytes in lines of text, sixteen at a time. Searches may read up to 16 bytes beyond the byte that they find. */

export const LF: u8 = 0x0a
const CR: u8 = 0x0d

/** The position of the next line feed. There must be one. */
// @ts-ignore: decorator
@inline
export function findLf(p: usize): usize {
  return findEither(p, LF)
}

/** The position of the next byte of this value, or of the line feed if that comes first. There must be a line feed. */
// @ts-ignore: decorator
@inline
export function findEither(p: usize, byte: u8): usize {
  let found = eithers(p, byte)
  while (found == 0) {
    p += 16
    found = eithers(p, byte)
  }
  return p + <usize>ctz(found)
}

// @ts-ignore: decorator
@inline
function eithers(p: usize, byte: u8): i32 {
  const text = v128.load(p)
  return i8x16.bitmask(v128.or(i8x16.eq(text, i8x16.splat(byte)), i8x16.eq(text, i8x16.splat(LF))))
}

/**
 * The end of the line from `p` to a line feed. CRs before it become line feeds in the input until `restoreEnd`, so that
 * lines that end in CR LF, as terminals write them, are read like others.
 */
// @ts-ignore: decorator
@inline
export function endOfLine(p: usize, lf: usize): usize {
  while (lf != p && load<u8>(lf - 1) == CR) store<u8>(--lf, LF)
  return lf
}

/** Restores the input from the end of a line to its line feed, because the line may be read again. */
// @ts-ignore: decorator
@inline
export function restoreEnd(end: usize, lf: usize): void {
  if (end != lf) memory.fill(end, CR, lf - end)
}

/** The byte that `cutLine` replaced. */
let replaced: u8 = 0

/** Ends a line at `end`, so that it can be read. `joinLine` restores the byte. */
export function cutLine(end: usize): void {
  replaced = load<u8>(end)
  store<u8>(end, LF)
}

export function joinLine(end: usize): void {
  store<u8>(end, replaced)
}

/** The position of the last byte of this value from `p` to `end`, or 0. */
export function findLast(p: usize, end: usize, byte: u8): usize {
  while (end > p) if (load<u8>(--end) == byte) return end
  return 0
}
