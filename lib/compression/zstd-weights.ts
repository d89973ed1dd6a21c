const [BLOCK_HEADER_BYTES, COMPRESSED_BLOCK, COMPRESSED_LITERALS] = [3, 2, 2]
/** The bytes of the header of compressed literals, by the size format in its bits 2 and 3. */
const LITERALS_HEADER_BYTES = [3, 3, 4, 5]
/** Symbols of a table of Huffman weights: more than there are is an error that every inflater reports. */
const MAX_SYMBOLS = 256

/**
 * Whether the Huffman weights of a block are compressed with a table in which one symbol has the whole probability.
 * Each such symbol takes no bits, so that the weights never end: libzstd reports an error, but fzstd does not return.
 * @param block with its header
 * @see RFC 8878, sections 3.1.1.3.1, 4.1.1 and 4.2.1.2
 */
export function hasEndlessWeights(block: Uint8Array): boolean {
  const byte = (at: number): number => block[at] ?? 0
  const literals = byte(BLOCK_HEADER_BYTES)
  if (((byte(0) >> 1) & 3) !== COMPRESSED_BLOCK || (literals & 3) !== COMPRESSED_LITERALS) return false
  const tree = BLOCK_HEADER_BYTES + (LITERALS_HEADER_BYTES[(literals >> 2) & 3] as number)
  const isDirect = byte(tree) >= 128
  if (isDirect) return false
  const log = (byte(tree + 1) & 15) + 5
  let position = (tree + 1) * 8 + 4
  const bits = (count: number): number => {
    const at = position >> 3
    return ((byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16)) >>> (position & 7)) & ((1 << count) - 1)
  }
  // As long as nothing is assigned, all ones is the whole probability, and a one in `log` bits is none.
  for (let symbols = 0; symbols < MAX_SYMBOLS; symbols++) {
    if (bits(log + 1) === (1 << (log + 1)) - 1) return true
    if (bits(log) !== 1) return false
    position += log
    let repeats: number
    do {
      repeats = bits(2)
      symbols += repeats
      position += 2
    } while (repeats === 3)
  }
  return false
}
