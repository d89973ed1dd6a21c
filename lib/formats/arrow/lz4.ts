import { ArrowFault } from './fault.js'

const MAGIC = 0x184d_2204
/** Bits of the frame's flags. */
const [DICTIONARY_ID, CONTENT_SIZE, BLOCK_CHECKSUMS] = [0x01, 0x08, 0x10]
const STORED = 0x8000_0000
const MIN_MATCH = 4
/** A length with this value in a token continues in the bytes after the token. */
const MORE = 15

/**
 * Inflates one frame of LZ4 (https://github.com/lz4/lz4, doc/lz4_Frame_format.md). Checksums are not checked.
 * @param length the number of inflated bytes
 * @throws ArrowFault when the data are not such a frame
 */
export function unlz4(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const out = new Uint8Array(length)
  try {
    if (view.getUint32(0, true) !== MAGIC) throw new ArrowFault('a buffer is not an LZ4 frame')
    const flags = view.getUint8(4)
    if (flags >> 6 !== 1) throw new ArrowFault('an LZ4 frame of an unknown version')
    let at = 7 + ((flags & CONTENT_SIZE) === 0 ? 0 : 8) + ((flags & DICTIONARY_ID) === 0 ? 0 : 4)
    let end = 0
    for (;;) {
      const size = view.getUint32(at, true)
      at += 4
      if (size === 0) break
      const stored = size >= STORED
      const block = bytes.subarray(at, at + (stored ? size - STORED : size))
      at += block.length + ((flags & BLOCK_CHECKSUMS) === 0 ? 0 : 4)
      if (!stored) end = unlz4Block(block, out, end)
      else {
        out.set(block, end)
        end += block.length
      }
    }
    if (end !== length) throw new ArrowFault('an LZ4 frame holds less than its buffer needs')
    return out
  } catch (error) {
    // Reading or writing beyond the end of the bytes.
    throw error instanceof RangeError ? new ArrowFault('the LZ4 data are corrupt') : error
  }
}

/** Inflates a block to `out[end..]`. @returns the end of the inflated bytes. @throws RangeError when it is damaged */
export function unlz4Block(block: Uint8Array, out: Uint8Array, end: number): number {
  let at = 0
  const more = (length: number): number => {
    if (length < MORE) return length
    for (;;) {
      const byte = block[at++]
      if (byte === undefined) throw new RangeError('the block ends within a length')
      length += byte
      if (byte !== 255) return length
    }
  }
  while (at < block.length) {
    const token = block[at++]
    const literals = more(token >> 4)
    if (at + literals > block.length) throw new RangeError('the block ends within literals')
    out.set(block.subarray(at, at + literals), end)
    at += literals
    end += literals
    // The last sequence has only literals.
    if (at === block.length) return end
    const distance = block[at] | (block[at + 1] << 8)
    at += 2
    const length = more(token & MORE) + MIN_MATCH
    if (!(distance > 0 && distance <= end) || end + length > out.length) throw new RangeError('a match is out of range')
    // Byte by byte, because a match may overlap its own output.
    for (const to = end + length; end < to; end++) out[end] = out[end - distance]
  }
  return end
}
