/**
 * The layout of each HATF field at one place of a stream, as set by the metadata records so far. Decoders and encoders
 * keep their own copy outside, and copy it to `STATE` before a call and back after it.
 *
 * Each property is an array by field code, so that two neighbours can be processed at once: size and address, time and
 * thread.
 */

import * as Layout from '../../lib/kernel/layouts/hatf'
import { HAS_HEAP, HAS_THREAD, HAS_TIME } from '../shared/event'

export const STATE: usize = memory.data(768)
/** The size of the state in bytes. */
export const STATE_BYTES: u32 = 768

/** Per field, the default, the base offset, or (delta and stride) the previous value; 0 for plain values. */
export const BASES: usize = STATE
/** Per field, the stride added to each value; otherwise 0. */
export const STRIDES: usize = STATE + 48
/** Per field, the sign bit of the stored value, or 0 if it is unsigned. */
export const SIGNS: usize = STATE + 96
/** Per field, all bits set if each value is the base of the next one. */
export const MOVES: usize = STATE + 144
/** Per field, which bytes at its position form the value, least significant first, as swizzle indices. */
export const BYTES: usize = STATE + 192
/** Per field, its width code. */
export const WIDTHS: usize = STATE + 240
/** Per field, the last width that was not 0. */
export const LAST_WIDTHS: usize = STATE + 248
/** Per field, its interpretation code. */
export const INTERPRETATIONS: usize = STATE + 256
/** The fields that any metadata record concerned, as bits by field code. */
export const TOUCHED: usize = STATE + 264
/** Of thread, heap and time, those that any metadata record concerned, as bits of an event's mask. */
export const OPTIONAL: usize = STATE + 268
/** The number of bytes of the attributes' length, or 0 if attributes have a fixed width. */
export const LENGTH_BYTES: usize = STATE + 272
/** The length of a record by tag, including the tag. Attributes that start with their length count that length only. */
export const LENGTHS: usize = STATE + 276

/**
 * For alloc and free: swizzle indices between the bytes after the tag and a size and an address, in both directions.
 */
export const READ_PAIR: usize = STATE + 320
export const WRITE_PAIR: usize = STATE + 352
/** For alloc and free: which of size and address advance with each record. */
export const MOVES_PAIR: usize = STATE + 384
/** Swizzle indices between bytes and the values of thread and time, for layouts without a heap between them. */
export const READ_OPTIONAL: usize = STATE + 416
export const WRITE_OPTIONAL: usize = STATE + 432
/** For alloc and free: the offset of the thread from the tag. */
export const THREAD_AT: usize = STATE + 448

/** The rest is used by encoders only. */

/**
 * The values of each record's size, address, time, thread, old address and heap for which nothing has to be done before
 * the record, in the bits that count. So a plainly stored field is widened when a value does not fit, and a single
 * value is given up when it changes.
 */
export const EXPECTED: usize = STATE + 464
export const COUNTING: usize = STATE + 512
/** By field code, the strategy that chooses its layouts (see plan.ts). */
export const STRATEGIES: usize = STATE + 560
/** By field code, the width that plain storing would have reached by now. */
export const PLAIN_WIDTHS: usize = STATE + 568
/**
 * Of thread, heap and time (as in a record's `R_GIVEN`), those to be laid out before the first record that has them.
 */
export const WAITING: usize = STATE + 576
/**
 * Of thread, heap and time (as bits of an event's mask), those that an event has had. Records include them from there
 * on.
 */
export const CARRIED: usize = STATE + 580
/** By field code, `LAYOUTS_BYTES`: the number of candidate layouts, then an interpretation and a width for each. */
export const LAYOUTS: usize = STATE + 584

const ONES: u64 = 0x0101_0101_0101_0101
/** Swizzle indices that select zeros. */
const ZEROS: u64 = 0x8080_8080_8080_8080

/** Swizzle indices from a big-endian number of a given width to the word's bytes, and back. */
function readIndices(width: u32): u64 {
  if (width == 4) return 0x8080_8080_0001_0203
  return width == 8
    ? 0x0001_0203_0405_0607
    : width == 2
      ? 0x8080_8080_8080_0001
      : width == 1
        ? 0x8080_8080_8080_8000
        : ZEROS
}

function writeIndices(width: u32): u64 {
  return width == 4 ? 0x0001_0203 : width == 8 ? 0x0001_0203_0405_0607 : width == 2 ? 0x0001 : 0
}

export function widthOf(f: u32): u32 {
  return load<u8>(WIDTHS + f)
}

export function interpretationOf(f: u32): u32 {
  return load<u8>(INTERPRETATIONS + f)
}

export function lengthOf(tag: u32): u32 {
  return load<u32>(LENGTHS + ((<usize>tag) << 2))
}

/** The state at the start of a stream. */
export function reset(): void {
  memory.fill(STATE, 0, STATE_BYTES)
  for (let f: u32 = 0; f < Layout.FIELD_COUNT; f++) {
    const width: u8 = f <= Layout.F_ADDRESS ? 4 : 0
    store<u8>(WIDTHS + f, width)
    store<u8>(LAST_WIDTHS + f, width)
    store<u8>(INTERPRETATIONS + f, <u8>(f <= Layout.F_ADDRESS ? Layout.NONE : Layout.DEFAULT))
    derive(f)
  }
  measure()
}

/** Sets a field's width. The caller calls `measure` afterwards. */
export function setWidth(f: u32, width: u32): void {
  store<u8>(WIDTHS + f, <u8>width)
  if (width != 0) store<u8>(LAST_WIDTHS + f, <u8>width)
  touch(f)
}

/** Sets a field's interpretation. The caller calls `measure` afterwards. */
export function setInterpretation(f: u32, interpretation: u32, base: u64, stride: u64): void {
  store<u8>(INTERPRETATIONS + f, <u8>interpretation)
  store<u8>(
    WIDTHS + f,
    interpretation == Layout.DEFAULT || interpretation == Layout.STRIDE ? 0 : load<u8>(LAST_WIDTHS + f),
  )
  store<u64>(BASES + ((<usize>f) << 3), interpretation == Layout.NONE ? 0 : base)
  store<u64>(STRIDES + ((<usize>f) << 3), interpretation == Layout.STRIDE ? stride : 0)
  touch(f)
}

function touch(f: u32): void {
  store<u32>(TOUCHED, load<u32>(TOUCHED) | (1 << f))
  if (f == Layout.F_TIME) store<u32>(OPTIONAL, load<u32>(OPTIONAL) | HAS_TIME)
  else if (f == Layout.F_THREAD) store<u32>(OPTIONAL, load<u32>(OPTIONAL) | HAS_THREAD)
  else if (f == Layout.F_HEAP) store<u32>(OPTIONAL, load<u32>(OPTIONAL) | HAS_HEAP)
  derive(f)
}

/** Derives the properties that depend on a field's width and interpretation. */
function derive(f: u32): void {
  const wide = (<usize>f) << 3
  const width = widthOf(f)
  const interpretation = interpretationOf(f)
  const isStored = interpretation != Layout.DEFAULT && interpretation != Layout.STRIDE
  const isSigned = (interpretation == Layout.BASE_OFFSET || interpretation == Layout.DELTA) && width != 0
  store<u64>(SIGNS + wide, isSigned ? (<u64>1) << ((width << 3) - 1) : 0)
  store<u64>(MOVES + wide, interpretation >= Layout.DELTA ? <u64>-1 : 0)
  store<u64>(BYTES + wide, isStored ? readIndices(width) : ZEROS)
}

/** Derives the properties of whole records that depend on the widths. */
export function measure(): void {
  const size = widthOf(Layout.F_SIZE)
  const address = widthOf(Layout.F_ADDRESS)
  const time = widthOf(Layout.F_TIME)
  const thread = widthOf(Layout.F_THREAD)
  const attributes = widthOf(Layout.F_ATTRIBUTES)
  const lengthBytes: u32 = attributes < Layout.V1 ? 0 : attributes - Layout.V1 + 1
  store<u32>(LENGTH_BYTES, lengthBytes)
  const threadOnly = 1 + thread + time + (lengthBytes != 0 ? lengthBytes : attributes)
  const heap = threadOnly + widthOf(Layout.F_HEAP)
  const block = heap + size + address
  store<u32>(LENGTHS, block)
  store<u32>(LENGTHS, heap + address, 4)
  const realloc = i32x4.splat(block + address)
  v128.store(LENGTHS, realloc, 8)
  store<u32>(LENGTHS, heap, 24)
  store<u32>(LENGTHS, heap, 28)
  store<u32>(LENGTHS, threadOnly, 32)
  store<u32>(LENGTHS, threadOnly, 36)
  store<u32>(THREAD_AT, 1 + size + address)
  store<u32>(THREAD_AT, 1 + address, 4)

  const addressBytes = load<u64>(BYTES, Layout.F_ADDRESS << 3)
  store<u64>(READ_PAIR, load<u64>(BYTES, Layout.F_SIZE << 3))
  store<u64>(READ_PAIR, addressBytes + size * ONES, 8)
  store<u64>(READ_PAIR, ZEROS, 16)
  store<u64>(READ_PAIR, addressBytes, 24)
  store<u64>(READ_OPTIONAL, load<u64>(BYTES, Layout.F_TIME << 3) + thread * ONES)
  store<u64>(READ_OPTIONAL, load<u64>(BYTES, Layout.F_THREAD << 3), 8)
  const moves = load<u64>(MOVES, Layout.F_ADDRESS << 3)
  store<u64>(MOVES_PAIR, load<u64>(MOVES, Layout.F_SIZE << 3))
  store<u64>(MOVES_PAIR, moves, 8)
  store<u64>(MOVES_PAIR, 0, 16)
  store<u64>(MOVES_PAIR, moves, 24)

  // Bytes after the last one are overwritten by the next record.
  const toAddress = writeIndices(address) + 8 * ONES
  store<u64>(WRITE_PAIR, writeIndices(size))
  store<u64>(WRITE_PAIR + size, toAddress)
  store<u64>(WRITE_PAIR, toAddress, 16)
  store<u64>(WRITE_OPTIONAL, writeIndices(thread) + 8 * ONES)
  store<u64>(WRITE_OPTIONAL + thread, writeIndices(time))
}
