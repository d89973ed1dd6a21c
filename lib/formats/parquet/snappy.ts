import { varint } from './thrift.js'

/** Matches are searched within this number of bytes, so that positions in a block fit 16 bits. */
const BLOCK = 65_536
const TABLE_BITS = 14
const MIN_MATCH = 4
/** Literals of up to this length have their length in the tag. */
const SHORT = 60
const MAX_COPY = 64

const table = new Uint16Array(1 << TABLE_BITS)

/** Compresses bytes with Snappy (format_description.txt of google/snappy). */
export function snappy(bytes: Uint8Array): Uint8Array {
  const length = varint(bytes.length)
  const out = new Uint8Array(length.length + bytes.length + Math.ceil(bytes.length / 6) + 64)
  out.set(length)
  let end = length.length
  for (let from = 0; from < bytes.length; from += BLOCK)
    end = compressBlock(bytes.subarray(from, from + BLOCK), out, end)
  return out.subarray(0, end)
}

function compressBlock(bytes: Uint8Array, out: Uint8Array, end: number): number {
  table.fill(0)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const last = bytes.length - MIN_MATCH
  let literal = 0
  let misses = 32
  for (let at = 1; at <= last;) {
    const word = view.getUint32(at, true)
    const slot = Math.imul(word, 0x1e35_a7bd) >>> (32 - TABLE_BITS)
    const from = table[slot]
    table[slot] = at
    if (view.getUint32(from, true) !== word || from === at) {
      // Steps grow while nothing matches.
      at += misses++ >>> 5
      continue
    }
    misses = 32
    end = writeLiteral(bytes, literal, at, out, end)
    let length = MIN_MATCH
    while (at + length < bytes.length && bytes[from + length] === bytes[at + length]) length++
    end = writeCopy(at - from, length, out, end)
    at += length
    literal = at
  }
  return writeLiteral(bytes, literal, bytes.length, out, end)
}

function writeLiteral(bytes: Uint8Array, from: number, to: number, out: Uint8Array, end: number): number {
  const length = to - from
  if (length === 0) return end
  if (length <= SHORT) out[end++] = (length - 1) << 2
  else if (length <= 256) {
    out[end++] = SHORT << 2
    out[end++] = length - 1
  } else {
    out[end++] = (SHORT + 1) << 2
    out[end++] = length - 1
    out[end++] = (length - 1) >>> 8
  }
  if (length < 32) for (let i = from; i < to; i++) out[end++] = bytes[i]
  else {
    out.set(bytes.subarray(from, to), end)
    end += length
  }
  return end
}

/** Copies with a distance of 2 bytes, each of at most 64 bytes. */
function writeCopy(distance: number, length: number, out: Uint8Array, end: number): number {
  for (; length > 0; length -= MAX_COPY) {
    out[end++] = ((Math.min(length, MAX_COPY) - 1) << 2) | 2
    out[end++] = distance
    out[end++] = distance >>> 8
  }
  return end
}
