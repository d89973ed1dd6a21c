/** HATF records to bytes, with the metadata between them. */

import * as Layout from '../../lib/kernel/layouts/hatf'
import { HAS_HEAP } from '../shared/event'
import { PLANNED, writeMetadata } from './plan'
import * as Records from './records'
import * as State from './state'

/**
 * Output buffer, large enough that a record with its metadata and the longest attributes fits after the last one
 * started.
 */
export const OUTPUT: usize = memory.data(196608)
export const OUTPUT_BYTES: usize = 130048

/** The attributes and comments to write. */
export const DATA: usize = memory.data(131072)
export const DATA_BYTES: u32 = 131072

/** The number of bytes of output. */
export let written: usize = 0

export function setWritten(end: usize): void {
  written = end - OUTPUT
}

/**
 * Writes records until there is enough output, or the data that the next record needs is missing.
 * @param r
 * @param to the first record, and the one after the last
 * @param dataFrom
 * @param dataTo which part of the window's data is at `DATA`
 * @returns the record after the last that was written
 */
export function write(r: u32, to: u32, dataFrom: u32, dataTo: u32): u32 {
  return writeAt(OUTPUT, r, to, dataFrom, dataTo)
}

/** The same after other output. */
export function writeAt(out: usize, r: u32, to: u32, dataFrom: u32, dataTo: u32): u32 {
  let dataAt = Records.dataStart(r)
  const full = OUTPUT + OUTPUT_BYTES
  let optional = load<u32>(State.OPTIONAL)
  let quick = isQuick(optional)
  let bases = v128.load(State.BASES)
  let more = v128.load(State.BASES, Layout.F_TIME << 3)
  for (; r < to && out < full; r++) {
    const at = Records.recordAt(r)
    const dataEnd = load<u32>(at, Records.R_DATA_END)
    if (dataEnd > dataTo) break
    const tag = <u32>load<u8>(at, Records.R_TAG)
    const pair = v128.load(at, Records.R_SIZE)
    const times = v128.load(at, Records.R_TIME)
    const others = v128.load(at, Records.R_OLD_ADDRESS)
    const misfits = v128.or(
      v128.or(
        v128.and(v128.xor(pair, v128.load(State.EXPECTED)), v128.load(State.COUNTING)),
        v128.and(v128.xor(times, v128.load(State.EXPECTED, 16)), v128.load(State.COUNTING, 16)),
      ),
      v128.and(v128.xor(others, v128.load(State.EXPECTED, 32)), v128.load(State.COUNTING, 32)),
    )
    const isSpecial =
      ((<u32>load<u8>(PLANNED + r)) |
        (load<u8>(at, Records.R_GIVEN) & load<u32>(State.WAITING)) |
        (dataEnd - dataAt)) !=
      0
    if (isSpecial || v128.any_true(misfits)) {
      v128.store(State.BASES, bases)
      v128.store(State.BASES, more, Layout.F_TIME << 3)
      out = writeMetadata(out, r)
      optional = load<u32>(State.OPTIONAL)
      quick = isQuick(optional)
      bases = v128.load(State.BASES)
      more = v128.load(State.BASES, Layout.F_TIME << 3)
    }
    if (tag <= Layout.TAG_FREE && quick) {
      // Which of the two comes next is hard to predict, so both are written alike and only the length differs.
      const kind = (<usize>tag) << 4
      store<u8>(out, <u8>tag)
      v128.store(out, v128.swizzle(i64x2.sub(pair, bases), v128.load(State.WRITE_PAIR + kind)), 1)
      bases = v128.bitselect(pair, bases, v128.load(State.MOVES_PAIR + kind))
      if (optional != 0) {
        v128.store(
          out + load<u32>(State.THREAD_AT + ((<usize>tag) << 2)),
          v128.swizzle(i64x2.sub(times, more), v128.load(State.WRITE_OPTIONAL)),
        )
        more = v128.bitselect(times, more, v128.load(State.MOVES, Layout.F_TIME << 3))
      }
      out += State.lengthOf(tag)
      continue
    }
    v128.store(State.BASES, bases)
    v128.store(State.BASES, more, Layout.F_TIME << 3)
    out = writeAny(out, at, tag, DATA + (dataAt - dataFrom), dataEnd - dataAt)
    dataAt = dataEnd
    bases = v128.load(State.BASES)
    more = v128.load(State.BASES, Layout.F_TIME << 3)
  }
  v128.store(State.BASES, bases)
  v128.store(State.BASES, more, Layout.F_TIME << 3)
  written = out - OUTPUT
  return r
}

/** Whether alloc and free records contain only what is written as pairs. */
export function isQuick(optional: u32): bool {
  return (optional & HAS_HEAP) == 0 && State.widthOf(Layout.F_ATTRIBUTES) == 0
}

/** Writes any record, with `length` bytes of data. */
function writeAny(out: usize, at: usize, tag: u32, data: usize, length: u32): usize {
  store<u8>(out++, <u8>tag)
  if (tag == Layout.TAG_COMMENT) {
    store<u8>(out, 0)
    store<u8>(out, <u8>(length >> 8), 1)
    store<u8>(out, <u8>length, 2)
    memory.copy(out + 3, data, length)
    return out + 3 + length
  }
  if (tag <= Layout.TAG_REALLOC_FREED) {
    if (tag != Layout.TAG_FREE) {
      out = put(out, Layout.F_SIZE, load<u64>(at, Records.R_SIZE))
      if (tag > Layout.TAG_FREE) out = put(out, Layout.F_ADDRESS, load<u64>(at, Records.R_OLD_ADDRESS))
    }
    out = put(out, Layout.F_ADDRESS, load<u64>(at, Records.R_ADDRESS))
  }
  out = put(out, Layout.F_THREAD, load<u64>(at, Records.R_THREAD))
  if (tag < Layout.TAG_CREATE_THREAD) out = put(out, Layout.F_HEAP, load<u64>(at, Records.R_HEAP))
  out = put(out, Layout.F_TIME, load<u64>(at, Records.R_TIME))
  const width = State.widthOf(Layout.F_ATTRIBUTES)
  if (width == 0) return out
  if (width == Layout.V2) store<u8>(out++, <u8>(length >> 8))
  if (width >= Layout.V1) store<u8>(out++, <u8>length)
  memory.copy(out, data, length)
  return out + length
}

/** Writes a field; the bytes after it are overwritten. The value must fit. */
function put(out: usize, f: u32, value: u64): usize {
  const wide = (<usize>f) << 3
  const base = load<u64>(State.BASES + wide)
  store<u64>(State.BASES + wide, base ^ ((base ^ value) & load<u64>(State.MOVES + wide)))
  const width = State.widthOf(f)
  store<u64>(out, bswap((value - base) << (64 - (width << 3))))
  return out + width
}
