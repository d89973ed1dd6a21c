/** Base64 with padding, in the standard alphabet. */

const LETTERS: usize = memory.data<u8>([
  65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 97, 98, 99,
  100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 48,
  49, 50, 51, 52, 53, 54, 55, 56, 57, 43, 47,
])
const PAD: u32 = 0x3d

/** Writes `length` bytes. @returns the position after the last letter */
export function writeBase64(out: usize, p: usize, length: u32): usize {
  for (; length >= 3; length -= 3, p += 3, out += 4) {
    const bits = ((<u32>load<u8>(p)) << 16) | ((<u32>load<u8>(p, 1)) << 8) | (<u32>load<u8>(p, 2))
    store<u32>(
      out,
      letter(bits >> 18) |
        (letter((bits >> 12) & 63) << 8) |
        (letter((bits >> 6) & 63) << 16) |
        (letter(bits & 63) << 24),
    )
  }
  if (length == 0) return out
  const bits = ((<u32>load<u8>(p)) << 16) | (length == 2 ? (<u32>load<u8>(p, 1)) << 8 : 0)
  const third = length == 2 ? letter((bits >> 6) & 63) : PAD
  store<u32>(out, letter(bits >> 18) | (letter((bits >> 12) & 63) << 8) | (third << 16) | (PAD << 24))
  return out + 4
}

// @ts-ignore: decorator
@inline
function letter(value: u32): u32 {
  return load<u8>(LETTERS + value)
}

/** The value of a letter; 64 for other characters. */
function valueOf(c: u32): u32 {
  const lower = c - 0x61
  const upper = c - 0x41
  const digit = c - 0x30
  return upper < 26 ? upper : lower < 26 ? lower + 26 : digit < 10 ? digit + 52 : c == 0x2b ? 62 : c == 0x2f ? 63 : 64
}

/** Reads letters from `p` to `end`. @returns the position after the last byte written, or 0 if they are not base64 */
export function readBase64(p: usize, end: usize, out: usize): usize {
  if (((end - p) & 3) != 0) return 0
  const padding: usize = end > p && load<u8>(end - 1) == PAD ? (load<u8>(end - 2) == PAD ? 2 : 1) : 0
  const letters = end - padding
  for (; p < end; p += 4, out += 3) {
    let bits: u32 = 0
    for (let i: usize = 0; i < 4; i++) {
      const value = p + i < letters ? valueOf(load<u8>(p + i)) : 0
      if (value == 64) return 0
      bits = (bits << 6) | value
    }
    store<u8>(out, <u8>(bits >> 16))
    store<u8>(out, <u8>(bits >> 8), 1)
    store<u8>(out, <u8>bits, 2)
  }
  return out - padding
}
