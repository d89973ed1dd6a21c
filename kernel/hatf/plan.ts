/**
 * Decides which metadata goes before which record. A field's layouts are chosen by one of three strategies:
 * - plain: values as they are; a field is widened right before the first record that needs it
 * - single: a default until the value changes; plain from there on
 * - a choice of layouts: the cheapest are found for a window of records (viterbi.ts)
 * The first two need no lookahead and are applied while records are written.
 */

import * as Layout from '../../lib/kernel/layouts/hatf'
import * as Records from './records'
import * as State from './state'

/** By record, the fields with planned metadata, as bits by field code. */
export const PLANNED: usize = memory.data(2064)

/**
 * By field, the planned metadata: the record (32 bits), an interpretation and a width (`UNCHANGED` to keep the current
 * one), and the base and the stride as 64-bit words. A field has at most one entry per occurrence, and a record has at
 * most two.
 */
const ENTRIES: usize = memory.data(594432)
const FIELD_BYTES: u32 = 99072
const ENTRY_BYTES: u32 = 24
export const UNCHANGED: u32 = 0xff
/** By field, the number of entries, and how many of them were written. */
const COUNTS: usize = memory.data(24)
const DONE: usize = memory.data(24)

/** Clears the plan of a previous window of at most the maximum number of records. */
export function clearPlan(count: u32): void {
  memory.fill(PLANNED, 0, count)
  memory.fill(COUNTS, 0, 24)
  memory.fill(DONE, 0, 24)
}

/** Plans metadata before record r, after everything planned for the field so far. */
export function planEntry(f: u32, r: u32, interpretation: u32, width: u32, base: u64, stride: u64): void {
  const n = load<u32>(COUNTS + ((<usize>f) << 2))
  store<u32>(COUNTS + ((<usize>f) << 2), n + 1)
  const at = ENTRIES + <usize>(f * FIELD_BYTES + n * ENTRY_BYTES)
  store<u32>(at, r)
  store<u8>(at, <u8>interpretation, 4)
  store<u8>(at, <u8>width, 5)
  store<u64>(at, base, 8)
  store<u64>(at, stride, 16)
  store<u8>(PLANNED + r, <u8>((<u32>load<u8>(PLANNED + r)) | (1 << f)))
}

export function strategyOf(f: u32): u32 {
  return load<u8>(State.STRATEGIES + f)
}

/** Sets the expected values of all fields at the start of a stream. */
export function watchAll(): void {
  for (let f: u32 = 0; f < Layout.FIELD_COUNT; f++) watch(f)
}

/** Sets the expected values of a field from here on. */
function watch(f: u32): void {
  if (f == Layout.F_ATTRIBUTES) return
  const strategy = strategyOf(f)
  const wide = (<usize>(f == Layout.F_HEAP ? 5 : f)) << 3
  const isLaidOut = f <= Layout.F_ADDRESS || ((load<u32>(State.TOUCHED) >> f) & 1) != 0
  let expected: u64 = 0
  let counting: u64 = 0
  if (strategy != Layout.CHOICE) {
    const width = State.widthOf(f)
    const isSingle = strategy == Layout.SINGLE && isLaidOut && width == 0 && State.interpretationOf(f) == Layout.DEFAULT
    if (isSingle) expected = load<u64>(State.BASES + ((<usize>f) << 3))
    counting = isSingle || width == 0 ? <u64>-1 : width == 8 ? 0 : (<u64>-1) << (width << 3)
    const bit =
      f == Layout.F_THREAD
        ? Records.GIVEN_THREAD
        : f == Layout.F_HEAP
          ? Records.GIVEN_HEAP
          : f == Layout.F_TIME
            ? Records.GIVEN_TIME
            : 0
    store<u32>(State.WAITING, isLaidOut ? load<u32>(State.WAITING) & ~bit : load<u32>(State.WAITING) | bit)
  }
  store<u64>(State.EXPECTED + wide, expected)
  store<u64>(State.COUNTING + wide, counting)
  if (f == Layout.F_ADDRESS) store<u64>(State.COUNTING, counting, 32)
}

/** Writes the metadata that goes before record r. @returns the position after it */
export function writeMetadata(out: usize, r: u32): usize {
  const at = Records.recordAt(r)
  const tag = <u32>load<u8>(at, Records.R_TAG)
  const given = <u32>load<u8>(at, Records.R_GIVEN)
  out = widen(out, Layout.F_SIZE, load<u64>(at, Records.R_SIZE), false)
  out = widen(out, Layout.F_ADDRESS, load<u64>(at, Records.R_OLD_ADDRESS), false)
  out = widen(out, Layout.F_ADDRESS, load<u64>(at, Records.R_ADDRESS), false)
  out = widen(out, Layout.F_THREAD, load<u64>(at, Records.R_THREAD), (given & Records.GIVEN_THREAD) != 0)
  out = widen(out, Layout.F_HEAP, load<u64>(at, Records.R_HEAP), (given & Records.GIVEN_HEAP) != 0)
  out = widen(out, Layout.F_TIME, load<u64>(at, Records.R_TIME), (given & Records.GIVEN_TIME) != 0)
  const length = load<u32>(at, Records.R_DATA_END) - Records.dataStart(r)
  if (length > 0 && tag != Layout.TAG_COMMENT && strategyOf(Layout.F_ATTRIBUTES) == Layout.PLAIN) {
    const width: u32 = length > 0xff ? Layout.V2 : Layout.V1
    if (State.widthOf(Layout.F_ATTRIBUTES) < width) out = writeWider(out, Layout.F_ATTRIBUTES, width)
  }
  const planned = <u32>load<u8>(PLANNED + r)
  for (let f: u32 = 0; f < Layout.FIELD_COUNT; f++) {
    if (((planned >> f) & 1) != 0) {
      out = writePlanned(out, f, r)
    } else if (strategyOf(f) == Layout.SINGLE) {
      if (f == Layout.F_THREAD && tag < Layout.TAG_COMMENT)
        out = writeSingle(out, f, load<u64>(at, Records.R_THREAD), (given & Records.GIVEN_THREAD) != 0)
      else if (f == Layout.F_HEAP && tag < Layout.TAG_CREATE_THREAD)
        out = writeSingle(out, f, load<u64>(at, Records.R_HEAP), (given & Records.GIVEN_HEAP) != 0)
    }
  }
  State.measure()
  return out
}

/** The smallest width, of at least 1 byte, for a value. */
function leastWidth(value: u64): u32 {
  return value >> 32 != 0 ? 8 : value > 0xffff ? 4 : value > 0xff ? 2 : 1
}

function widen(out: usize, f: u32, value: u64, isGiven: bool): usize {
  if (strategyOf(f) != Layout.PLAIN || (value == 0 && !isGiven)) return out
  const width = leastWidth(value)
  return State.widthOf(f) < width ? writeWider(out, f, width) : out
}

function writeWider(out: usize, f: u32, width: u32): usize {
  if (State.interpretationOf(f) != Layout.NONE && State.widthOf(f) == 0)
    out = writeInterpretation(out, f, Layout.NONE, 0, 0)
  return writeWidth(out, f, width)
}

/** Metadata for a field that has had a single value so far. */
function writeSingle(out: usize, f: u32, value: u64, isGiven: bool): usize {
  if (((load<u32>(State.TOUCHED) >> f) & 1) == 0)
    return isGiven ? writeInterpretation(out, f, Layout.DEFAULT, value, 0) : out
  let width = leastWidth(value)
  if (State.interpretationOf(f) == Layout.DEFAULT && State.widthOf(f) == 0) {
    const single = load<u64>(State.BASES + ((<usize>f) << 3))
    if (value == single) return out
    // The first value is likely to recur.
    width = max(width, leastWidth(single))
    out = writeInterpretation(out, f, Layout.NONE, 0, 0)
  }
  return State.widthOf(f) < width ? writeWidth(out, f, width) : out
}

function writePlanned(out: usize, f: u32, r: u32): usize {
  const count = load<u32>(COUNTS + ((<usize>f) << 2))
  let n = load<u32>(DONE + ((<usize>f) << 2))
  for (; n < count; n++) {
    const at = ENTRIES + <usize>(f * FIELD_BYTES + n * ENTRY_BYTES)
    if (load<u32>(at) != r) break
    const interpretation = <u32>load<u8>(at, 4)
    const width = <u32>load<u8>(at, 5)
    if (interpretation != UNCHANGED)
      out = writeInterpretation(out, f, interpretation, load<u64>(at, 8), load<u64>(at, 16))
    if (width != UNCHANGED) out = writeWidth(out, f, width)
  }
  store<u32>(DONE + ((<usize>f) << 2), n)
  return out
}

function writeWidth(out: usize, f: u32, width: u32): usize {
  store<u32>(out, Layout.TAG_METADATA | (Layout.FIELD_SIZE << 8) | (f << 16) | (width << 24))
  State.setWidth(f, width)
  watch(f)
  return out + 4
}

function writeInterpretation(out: usize, f: u32, interpretation: u32, base: u64, stride: u64): usize {
  store<u32>(out, Layout.TAG_METADATA | (Layout.FIELD_INTERPRETATION << 8) | (f << 16) | (interpretation << 24))
  State.setInterpretation(f, interpretation, base, stride)
  watch(f)
  if (interpretation == Layout.NONE) return out + 4
  store<u64>(out, bswap(base), 4)
  if (interpretation != Layout.STRIDE) return out + 12
  store<u64>(out, bswap(stride), 12)
  return out + 20
}
