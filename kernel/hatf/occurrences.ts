/**
 * All occurrences of one field in a window of records, in writing order: the values that a layout must represent.
 * Distances are relative to an origin whose low word is 0, so that round distances are round values.
 */

import * as Layout from '../../lib/kernel/layouts/hatf'
import * as Record from './records'
import { BASES, interpretationOf, STRIDES, TOUCHED } from './state'

/** For each occurrence, the index of its record, in 16 bits. */
export const RECORD_OF: usize = memory.data(8256)
/** For each occurrence, the traits that its layouts depend on, in 16 bits: see below. */
export const TRAITS: usize = memory.data(8256)
/** For each occurrence, its value as a 64-bit word; for attributes, their length. */
export const VALUES: usize = memory.data(33024)

/** The lowest bits of the traits: the class of values that fit the same widths (see `widthsOf`). */
export const FIT: u32 = 7
/** The value differs from the previous one. */
export const OTHER: u32 = 1 << 3
/** The distance from the previous value differs from the distance before it. */
export const UNSTEADY: u32 = 1 << 4
/** Above this bit: the size of the distance from the previous value, 0 to 3 for 1, 2 or 4 signed bytes or more. */
export const MOVE_SHIFT: u32 = 5
export const MOVE: u32 = 3
/** The value is out of range. */
export const FAR: u32 = 1 << 7
/** The second address of a realloc record, which no metadata can precede. */
export const TIED: u32 = 1 << 8

/** Values further from the origin than this many times 2^32 count as out of range. */
const REACH: i64 = 0x10_0000

/**
 * By the number of bits besides the sign: the class of a distance for 1, 2 and 4 signed bytes. For unsigned values,
 * their class.
 */
const MOVES_BY_BITS = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3,
  3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
])
const FITS_BY_BYTES = memory.data<u8>([0, 1, 2, 3, 3, 4, 4, 4, 4])

/** The number of occurrences; 0 until the field's first value. */
export let occurrences: u32 = 0
/** The classes of all occurrences, as bits. */
export let classes: u32 = 0
/** The value at distance 0. */
export let origin: u64 = 0

/** The widths that the values of a class fit, as bits by width code. */
export function widthsOf(f: u32, fit: u32): u32 {
  if (f == Layout.F_ATTRIBUTES) {
    const own: u32 = fit == 0 ? 1 : fit == 1 ? 1 << 1 : fit == 2 ? 1 << 2 : fit == 3 ? 1 << 4 : fit == 4 ? 1 << 8 : 0
    return own | (fit < 6 ? 1 << 9 : 0) | (1 << 10)
  }
  return fit == 0 ? 0x117 : fit == 1 ? 0x116 : fit == 2 ? 0x114 : fit == 3 ? 0x110 : 0x100
}

/** Whether a distance is out of range. */
export function isFar(distance: i64): bool {
  return <u64>((distance >> 32) + (REACH - 1)) > <u64>(2 * REACH - 2)
}

/** Finds a field's occurrences among the first `count` records. */
export function gather(f: u32, count: u32): void {
  occurrences = 0
  classes = 0
  const first: u32 = ((load<u32>(TOUCHED) >> f) & 1) != 0 ? 0 : firstGiven(f, count)
  if (f == Layout.F_ATTRIBUTES) gatherLengths(first, count)
  else if (first < count) gatherValues(f, first, count)
}

function firstGiven(f: u32, count: u32): u32 {
  const bit =
    f == Layout.F_THREAD
      ? Record.GIVEN_THREAD
      : f == Layout.F_HEAP
        ? Record.GIVEN_HEAP
        : f == Layout.F_TIME
          ? Record.GIVEN_TIME
          : 0
  let r: u32 = 0
  if (bit != 0) while (r < count && (load<u8>(Record.recordAt(r), Record.R_GIVEN) & bit) == 0) r++
  else if (f == Layout.F_ATTRIBUTES)
    while (
      r < count &&
      (load<u8>(Record.recordAt(r), Record.R_TAG) == Layout.TAG_COMMENT ||
        load<u32>(Record.recordAt(r), Record.R_DATA_END) == Record.dataStart(r))
    )
      r++
  return r
}

function gatherLengths(first: u32, count: u32): void {
  let n: u32 = 0
  let all: u32 = 0
  for (let r = first; r < count; r++) {
    const at = Record.recordAt(r)
    if (load<u8>(at, Record.R_TAG) == Layout.TAG_COMMENT) continue
    const length = load<u32>(at, Record.R_DATA_END) - Record.dataStart(r)
    const fit: u32 = length <= 2 ? length : length == 4 ? 3 : length == 8 ? 4 : length <= 0xff ? 5 : 6
    store<u16>(RECORD_OF + ((<usize>n) << 1), <u16>r)
    store<u16>(TRAITS + ((<usize>n) << 1), <u16>fit)
    all |= 1 << fit
    n++
  }
  occurrences = n
  classes = all
}

/** The tags of records with each of the fields, as bits. */
function tagsOf(f: u32): u32 {
  return f == Layout.F_SIZE ? 0x3d : f == Layout.F_ADDRESS ? 0x3f : f == Layout.F_HEAP ? 0xff : 0x3ff
}

/** The position of a field in a record. */
function placeOf(f: u32): usize {
  return f == Layout.F_SIZE
    ? Record.R_SIZE
    : f == Layout.F_ADDRESS
      ? Record.R_ADDRESS
      : f == Layout.F_TIME
        ? Record.R_TIME
        : f == Layout.F_THREAD
          ? Record.R_THREAD
          : Record.R_HEAP
}

function gatherValues(f: u32, first: u32, count: u32): void {
  const tags = tagsOf(f)
  const place = placeOf(f)
  while (first < count && ((tags >> load<u8>(Record.recordAt(first), Record.R_TAG)) & 1) == 0) first++
  if (first == count) return
  const isAddress = f == Layout.F_ADDRESS
  const earliest = Record.recordAt(first)
  const value = load<u64>(
    earliest +
      (isAddress && load<u8>(earliest, Record.R_TAG) >= Layout.TAG_REALLOC_NONE ? Record.R_OLD_ADDRESS : place),
  )
  origin = value & 0xffff_ffff_0000_0000
  recall(f)
  let n: u32 = 0
  let all: u32 = 0
  for (let r = first; r < count; r++) {
    const at = Record.recordAt(r)
    const tag = <u32>load<u8>(at, Record.R_TAG)
    // The type of the next record is hard to predict, so every record is stored and non-occurrences are overwritten.
    if (isAddress && tag >= Layout.TAG_REALLOC_NONE) {
      if (tag > Layout.TAG_REALLOC_FREED) continue
      all |= observe(n++, r, load<u64>(at, Record.R_OLD_ADDRESS), 0)
      all |= observe(n++, r, load<u64>(at, Record.R_ADDRESS), TIED)
    } else if (((tags >> tag) & 1) != 0) {
      all |= observe(n++, r, load<u64>(at + place), 0)
    }
  }
  occurrences = n
  classes = all
}

/** The previous value, its distance from its own predecessor, and whether they are known. */
let before: i64 = 0
let step: i64 = 0
let isBeforeFar: u32 = 0
let isStepFar: u32 = 0

/** Restores the values before the window, as far as the current layout depends on them. */
function recall(f: u32): void {
  const interpretation = interpretationOf(f)
  isBeforeFar = 1
  isStepFar = 1
  if (interpretation == Layout.NONE || interpretation == Layout.BASE_OFFSET) return
  before = <i64>(load<u64>(BASES + ((<usize>f) << 3)) - origin)
  isBeforeFar = u32(isFar(before))
  if (interpretation != Layout.STRIDE) return
  step = <i64>load<u64>(STRIDES + ((<usize>f) << 3))
  isStepFar = isBeforeFar | u32(isFar(before - step))
}

/** Records occurrence n. @returns its class as a bit */
// @ts-ignore: decorator
@inline
function observe(n: u32, r: u32, value: u64, tied: u32): u32 {
  const here = <i64>(value - origin)
  const far = u32(isFar(here))
  const moved = here - before
  const isMoveFar = far | isBeforeFar
  const fit = <u32>load<u8>(FITS_BY_BYTES + <usize>((71 - clz(value)) >> 3))
  const move: u32 = isMoveFar != 0 ? 3 : load<u8>(MOVES_BY_BITS + <usize>(64 - clz(moved ^ (moved >> 63))))
  const other = u32(moved != 0) | isMoveFar
  const unsteady = u32(moved != step) | isMoveFar | isStepFar
  store<u16>(RECORD_OF + ((<usize>n) << 1), <u16>r)
  store<u16>(
    TRAITS + ((<usize>n) << 1),
    <u16>(fit | (other << 3) | (unsteady << 4) | (move << MOVE_SHIFT) | (far << 7) | tied),
  )
  store<u64>(VALUES + ((<usize>n) << 3), value)
  before = here
  step = moved
  isBeforeFar = far
  isStepFar = isMoveFar
  return 1 << fit
}
