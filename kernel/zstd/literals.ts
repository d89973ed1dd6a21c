/** The literals of a block (RFC 8878, section 3.1.1.3.1). */

import { MAX_BLOCK } from '../../lib/kernel/layouts/zstd'
import { decodeStream, hasTree, readTree } from './huffman'

/** Copies of sixteen bytes may read beyond the end. */
const DECODED: usize = memory.data(131_072 + 64, 16)

// Types of literals.
const RAW: u32 = 0
const REPEATED: u32 = 1
const COMPRESSED: u32 = 2

/** The position of the literals, and their number. */
export let literals: usize = 0
export let literalCount: u32 = 0

/** Reads the literals. @returns the address after them; 0 if they are invalid */
export function readLiterals(p: usize, end: usize): usize {
  if (p >= end) return 0
  const word = load<u64>(p)
  const type = (<u32>word) & 3
  const format = ((<u32>word) >> 2) & 3
  return type < COMPRESSED ? readPlain(p, end, word, type, format) : readCoded(p, end, word, type, format)
}

/** Uncompressed literals, or one that is repeated. */
function readPlain(p: usize, end: usize, word: u64, type: u32, format: u32): usize {
  const bytes: u32 = format == 1 ? 2 : format == 3 ? 3 : 1
  literalCount = ((<u32>word) & ((1 << (8 * bytes)) - 1)) >> (bytes == 1 ? 3 : 4)
  p += bytes
  const length = type == RAW ? literalCount : 1
  if (literalCount > MAX_BLOCK || p + length > end) return 0
  literals = type == RAW ? p : DECODED
  if (type == REPEATED) memory.fill(DECODED, load<u8>(p), literalCount)
  return p + length
}

/** Literals as Huffman codes, in one stream or in four. */
function readCoded(p: usize, end: usize, word: u64, type: u32, format: u32): usize {
  const bits: u32 = format < 2 ? 10 : format == 2 ? 14 : 18
  const mask: u32 = (1 << bits) - 1
  literalCount = (<u32>(word >> 4)) & mask
  const length = (<u32>(word >> (<u64>(4 + bits)))) & mask
  p += format < 2 ? 3 : format == 2 ? 4 : 5
  const after = p + length
  if (literalCount > MAX_BLOCK || after > end) return 0
  if (type == COMPRESSED) {
    p = readTree(p, after)
    if (p == 0) return 0
  } else if (!hasTree()) return 0
  literals = DECODED
  const isDecoded = format == 0 ? decodeStream(p, after, DECODED, literalCount) : decodeFour(p, after)
  return isDecoded ? after : 0
}

function decodeFour(p: usize, end: usize): bool {
  const first = p + 6
  if (first > end) return false
  const second = first + load<u16>(p)
  const third = second + load<u16>(p, 2)
  const fourth = third + load<u16>(p, 4)
  const part: u32 = (literalCount + 3) >> 2
  if (fourth > end || part * 3 > literalCount) return false
  return (
    decodeStream(first, second, DECODED, part) &&
    decodeStream(second, third, DECODED + part, part) &&
    decodeStream(third, fourth, DECODED + 2 * part, part) &&
    decodeStream(fourth, end, DECODED + 3 * part, literalCount - 3 * part)
  )
}
