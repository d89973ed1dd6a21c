import { HI, LO } from '../../bytes/u64.js'
import { U64Column } from '../../event/batch.js'
import { ArrowFault } from './fault.js'
import type { IntType } from './schema.js'

type Bytes = Uint8Array<ArrayBuffer>
type Narrow = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array

/**
 * `count` elements of `size` bytes, in place if they are aligned.
 * @throws ArrowFault when some are missing
 */
export function elements(bytes: Bytes, count: number, size: number): Bytes {
  if (bytes.length < count * size) throw new ArrowFault('a buffer is too short for its column')
  const used = bytes.subarray(0, count * size)
  return used.byteOffset % size === 0 ? used : used.slice()
}

/** Words of 32 bits, in place if they are aligned. */
export function words(bytes: Bytes, count: number): Uint32Array<ArrayBuffer> {
  const { buffer, byteOffset } = elements(bytes, count, 4)
  return new Uint32Array(buffer, byteOffset, count)
}

/** A column of 64-bit integers, in place if they have 64 bits; these remain unchanged, signed or not. */
export function wideColumn(bytes: Bytes, int: IntType, rows: number): U64Column {
  if (int.bits === 64) {
    const { buffer, byteOffset } = elements(bytes, rows, 8)
    return new U64Column(buffer, byteOffset, rows)
  }
  const narrow = narrowColumn(bytes, int, rows)
  const column = new U64Column(new ArrayBuffer(8 * rows), 0, rows)
  for (let i = 0; i < rows; i++) {
    const value = narrow[i]
    column.words[2 * i + LO] = value
    column.words[2 * i + HI] = value < 0 ? -1 : 0
  }
  return column
}

/**
 * A column of 32-bit integers.
 * @param like an array with elements of the column's type
 * @param has whether a row has a value
 * @throws ArrowFault when a value does not fit
 */
export function narrowed(
  bytes: Bytes,
  int: IntType,
  rows: number,
  like: Int32Array | Uint32Array,
  has: (row: number) => boolean,
): Int32Array | Uint32Array {
  const isSigned = like instanceof Int32Array
  if (int.bits === 32 && int.isSigned === isSigned) {
    const { buffer, byteOffset } = elements(bytes, rows, 4)
    return isSigned ? new Int32Array(buffer, byteOffset, rows) : new Uint32Array(buffer, byteOffset, rows)
  }
  const column = isSigned ? new Int32Array(rows) : new Uint32Array(rows)
  if (int.bits === 64) {
    const { words: pairs } = wideColumn(bytes, int, rows)
    for (let i = 0; i < rows; i++) {
      const low = (column[i] = pairs[2 * i + LO])
      const high = isSigned && low > 0x7fff_ffff ? 0xffff_ffff : 0
      if (has(i) && pairs[2 * i + HI] !== high) throw new ArrowFault(UNFIT, {}, i)
    }
    return column
  }
  const source = narrowColumn(bytes, int, rows)
  for (let i = 0; i < rows; i++) {
    column[i] = source[i]
    if (has(i) && column[i] !== source[i]) throw new ArrowFault(UNFIT, {}, i)
  }
  return column
}

const UNFIT = 'an integer is out of range'

/** Indices into a dictionary. Impossible indices become large numbers. */
export function indices(bytes: Bytes, int: IntType, rows: number): Uint32Array {
  if (int.bits === 32) return words(bytes, rows)
  if (int.bits < 32) return Uint32Array.from(narrowColumn(bytes, int, rows))
  const { words: pairs } = wideColumn(bytes, int, rows)
  const column = new Uint32Array(rows)
  for (let i = 0; i < rows; i++) column[i] = pairs[2 * i + HI] === 0 ? pairs[2 * i + LO] : 0xffff_ffff
  return column
}

/** Codes of one byte, in place. */
export function codes(bytes: Bytes, int: IntType, rows: number): Uint8Array | Uint32Array {
  return int.bits === 8 ? elements(bytes, rows, 1) : indices(bytes, int, rows)
}

/** Offsets of lists or strings in the data that follow: one more than there are rows. */
export function offsets(bytes: Bytes, rows: number, isLarge: boolean): Uint32Array<ArrayBuffer> {
  // Some programs write no offset if there are no rows.
  if (rows === 0 && bytes.length === 0) return new Uint32Array(1)
  const found = isLarge ? largeOffsets(bytes, rows + 1) : words(bytes, rows + 1)
  for (let i = 0; i < rows; i++)
    if (found[i] > found[i + 1]) throw new ArrowFault('offsets that are not in order', {}, i)
  return found
}

function largeOffsets(bytes: Bytes, count: number): Uint32Array<ArrayBuffer> {
  const { words: pairs } = wideColumn(bytes, { bits: 64, isSigned: true }, count)
  const narrow = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    if (pairs[2 * i + HI] !== 0) throw new ArrowFault('an offset is out of range', {}, Math.max(0, i - 1))
    narrow[i] = pairs[2 * i + LO]
  }
  return narrow
}

function narrowColumn(bytes: Bytes, { bits, isSigned }: IntType, rows: number): Narrow {
  const { buffer, byteOffset } = elements(bytes, rows, bits / 8)
  const Like =
    bits === 8
      ? isSigned
        ? Int8Array
        : Uint8Array
      : bits === 16
        ? isSigned
          ? Int16Array
          : Uint16Array
        : isSigned
          ? Int32Array
          : Uint32Array
  return new Like(buffer, byteOffset, rows)
}
