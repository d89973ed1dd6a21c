/** Chooses the layouts of a field that take the fewest bytes in a window of records, and plans their metadata. */

import * as Layout from '../../lib/kernel/layouts/hatf'
import { BEGINNINGS, beginnings, solve } from './viterbi'
import { kindOf, stateWidth } from './viterbi-states'
import { classes, gather, occurrences, origin, RECORD_OF, VALUES, widthsOf } from './occurrences'
import { clearPlan, planEntry, strategyOf, UNCHANGED } from './plan'
import { R_HEAP, R_TAG, R_THREAD, R_TIME, recordAt } from './records'
import { BASES, interpretationOf, LAST_WIDTHS, PLAIN_WIDTHS, TOUCHED, widthOf } from './state'

/** Plans the metadata of the first `count` records, for the fields whose layouts are chosen. */
export function plan(count: u32): void {
  clearPlan(count)
  for (let f: u32 = 0; f < Layout.FIELD_COUNT; f++)
    if (strategyOf(f) == Layout.CHOICE && !isConstant(f, count)) choose(f, count)
}

/** Whether the current layout stores nothing and remains valid: the common case of a field that never changes. */
function isConstant(f: u32, count: u32): bool {
  if (f < Layout.F_TIME || f == Layout.F_ATTRIBUTES || ((load<u32>(TOUCHED) >> f) & 1) == 0) return false
  if (interpretationOf(f) != Layout.DEFAULT || widthOf(f) != 0) return false
  const value = load<u64>(BASES + ((<usize>f) << 3))
  const place = f == Layout.F_TIME ? R_TIME : f == Layout.F_THREAD ? R_THREAD : R_HEAP
  const lastTag = f == Layout.F_HEAP ? Layout.TAG_CREATE_THREAD : Layout.TAG_COMMENT
  for (let r: u32 = 0; r < count; r++) {
    const at = recordAt(r)
    if (load<u64>(at + place) != value && load<u8>(at, R_TAG) < lastTag) return false
  }
  return true
}

function choose(f: u32, count: u32): void {
  gather(f, count)
  if (occurrences == 0) return
  let fits: u32 = 0xffff
  for (let rest = classes; rest != 0; rest &= rest - 1) fits &= widthsOf(f, ctz(rest))
  let plainWidth = <u32>load<u8>(PLAIN_WIDTHS + f)
  while (((fits >> plainWidth) & 1) == 0) plainWidth = plainWidth == Layout.V1 ? Layout.V2 : plainWidth << 1
  store<u8>(PLAIN_WIDTHS + f, <u8>plainWidth)
  solve(f, fits, plainWidth)

  let interpretation = interpretationOf(f)
  let lastWidth = <u32>load<u8>(LAST_WIDTHS + f)
  for (let b = beginnings; b > 0;) {
    const i = <u32>load<u16>(BEGINNINGS + ((<usize>--b) << 2))
    const state = <u32>load<u16>(BEGINNINGS + ((<usize>b) << 2), 2)
    const next = kindOf(state)
    const isNew = next != Layout.NONE || interpretation != Layout.NONE
    let width: u32 = UNCHANGED
    if (next != Layout.DEFAULT && next != Layout.STRIDE && (!isNew || stateWidth(state) != lastWidth)) {
      width = stateWidth(state)
      if (width != 0) lastWidth = width
    }
    interpretation = next
    let base: u64 = 0
    let stride: u64 = 0
    if (f != Layout.F_ATTRIBUTES) {
      base = valueAt(i)
      if (next == Layout.STRIDE) {
        stride = (i + 1 == occurrences ? base : valueAt(i + 1)) - base
        base -= stride
      } else if (next == Layout.BASE_OFFSET) {
        base = baseOf(i, b == 0 ? occurrences : <u32>load<u16>(BEGINNINGS + ((<usize>(b - 1)) << 2)), stateWidth(state))
      }
      // The first value of a delta has the distance 0.
    }
    planEntry(f, load<u16>(RECORD_OF + ((<usize>i) << 1)), isNew ? next : UNCHANGED, width, base, stride)
  }
}

function valueAt(i: u32): u64 {
  return load<u64>(VALUES + ((<usize>i) << 3))
}

/** A base for the occurrences from `i` to `end`, which are stored in one width. */
function baseOf(i: u32, end: u32, width: u32): u64 {
  let least = i64.MAX_VALUE
  let greatest = i64.MIN_VALUE
  for (; i < end; i++) {
    const here = <i64>(valueAt(i) - origin)
    least = min(least, here)
    greatest = max(greatest, here)
  }
  const half: i64 = (<i64>1) << ((width << 3) - 1)
  return origin + <u64>roundest(greatest - half + 1, least + half)
}

/**
 * The number with the most trailing zero bits in the middle half of a range. With it, stored distances resemble the
 * values.
 */
function roundest(from: i64, to: i64): i64 {
  const slack = (to - from) >> 2
  const low = from + slack
  const high = to - slack
  let unit: i64 = 0x1_0000_0000
  while ((high & -unit) < low) unit >>= 1
  return high & -unit
}
