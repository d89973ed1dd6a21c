/** HATF records to columns. */

import * as Layout from '../../lib/kernel/layouts/hatf'
import { ADDRESS, HEAP, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE, THREAD, TIME } from '../shared/columns'
import * as Event from '../shared/event'
import { foldRealloc } from './fold'
import * as State from './state'

/** The position after the last record that was read, or the start of the faulty record. */
export let position: usize = 0
/** The number of events decoded. */
export let events: u32 = 0
/** The union of their fields. */
export let fields: u32 = 0
/** The start of the attributes or the text at which `decode` stopped. */
export let dataFrom: usize = 0
export let dataTo: usize = 0
/** The fault, and the field it concerns. */
export let faultValue: u32 = 0
export let faultField: u32 = 0

const HEAD: usize = 4

/** The value of a field whose bytes are at p. It may be the base of the next value. */
function valueOf(f: u32, p: usize): u64 {
  const wide = (<usize>f) << 3
  const stored = i64x2.extract_lane(v128.swizzle(v128.load_zero<u64>(p), v128.load_zero<u64>(State.BYTES + wide)), 0)
  const sign = load<u64>(State.SIGNS + wide)
  const base = load<u64>(State.BASES + wide)
  const value = base + load<u64>(State.STRIDES + wide) + ((stored ^ sign) - sign)
  store<u64>(State.BASES + wide, base ^ ((base ^ value) & load<u64>(State.MOVES + wide)))
  return value
}

/**
 * Reads records from `p` to `end`. There must be padding after `end` to look ahead. Updates the state.
 * @param i the number of events so far
 * @param all the union of their fields
 * @param fold whether to remove the components of reallocs
 * @returns why it stopped
 */
export function decode(p: usize, end: usize, i: u32, all: u32, fold: bool): u32 {
  let stop = Layout.USED_UP
  let optional = load<u32>(State.OPTIONAL)
  let quick = isQuick(optional)
  let bases = v128.load(State.BASES)
  while (p < end) {
    if (i == Event.BATCH_EVENTS) {
      stop = Layout.FULL
      break
    }
    const tag = <u32>load<u8>(p)
    const wide = (<usize>i) << 3
    if (tag <= Layout.TAG_FREE && quick) {
      const after = p + State.lengthOf(tag)
      if (after > end) break
      // Which of the two comes next is hard to predict, so both are read alike; the size of a free is 0.
      const kind = (<usize>tag) << 4
      const signs = v128.load(State.SIGNS)
      const stored = v128.swizzle(v128.load(p, 1), v128.load(State.READ_PAIR + kind))
      const values = i64x2.add(i64x2.add(bases, v128.load(State.STRIDES)), i64x2.sub(v128.xor(stored, signs), signs))
      bases = v128.bitselect(values, bases, v128.load(State.MOVES_PAIR + kind))
      v128.store_lane<u64>(SIZE + wide, values, 0)
      v128.store_lane<u64>(ADDRESS + wide, values, 1)
      if (optional == 0) {
        store<u64>(THREAD + wide, 0)
      } else {
        const before = v128.load(State.BASES, Layout.F_TIME << 3)
        const more = v128.load(State.SIGNS, Layout.F_TIME << 3)
        const bytes = v128.swizzle(
          v128.load(p + load<u32>(State.THREAD_AT + ((<usize>tag) << 2))),
          v128.load(State.READ_OPTIONAL),
        )
        const pair = i64x2.add(
          i64x2.add(before, v128.load(State.STRIDES, Layout.F_TIME << 3)),
          i64x2.sub(v128.xor(bytes, more), more),
        )
        v128.store(
          State.BASES,
          v128.bitselect(pair, before, v128.load(State.MOVES, Layout.F_TIME << 3)),
          Layout.F_TIME << 3,
        )
        v128.store_lane<u64>(TIME + wide, pair, 0)
        v128.store_lane<u64>(THREAD + wide, pair, 1)
      }
      store<u8>(KIND + i, <u8>tag)
      const set = optional | Event.HAS_ADDRESS | (Event.HAS_SIZE & (tag - 1))
      store<u32>(MASK + ((<usize>i) << 2), set)
      all |= set
      i++
      p = after
      continue
    }
    v128.store(State.BASES, bases)
    if (tag > Layout.TAG_DESTROY_THREAD) {
      if (tag > Layout.TAG_METADATA) {
        faultValue = tag
        stop = Layout.UNKNOWN_TAG
        break
      }
      if (end - p < HEAD) break
      if (tag == Layout.TAG_COMMENT) {
        const from = p + HEAD
        const to = from + (((<usize>load<u8>(p, 2)) << 8) | (<usize>load<u8>(p, 3)))
        if (to > end) break
        dataFrom = from
        dataTo = to
        store<u64>(THREAD + wide, 0)
        stop = Layout.COMMENT
        p = to
        break
      }
      const length = metadataLength(p)
      if (end - p < length) break
      stop = apply(p)
      if (stop != Layout.USED_UP) break
      p += length
      optional = load<u32>(State.OPTIONAL)
      quick = isQuick(optional)
      bases = v128.load(State.BASES)
      continue
    }

    // Nothing is read before the whole record is there, because reading advances delta and stride.
    let after = p + State.lengthOf(tag)
    if (after > end) break
    let attributes = <usize>State.widthOf(Layout.F_ATTRIBUTES)
    const lengthBytes = load<u32>(State.LENGTH_BYTES)
    if (lengthBytes != 0) {
      attributes = load<u8>(after - 1)
      if (lengthBytes == 2) attributes |= (<usize>load<u8>(after - 2)) << 8
      after += attributes
      if (after > end) break
    }
    let set = optional
    let at = p + 1
    if (tag <= Layout.TAG_REALLOC_FREED) {
      store<u8>(KIND + i, tag < Layout.TAG_REALLOC_NONE ? <u8>tag : Event.KIND_REALLOC)
      if (tag != Layout.TAG_FREE) {
        set |= Event.HAS_SIZE
        store<u64>(SIZE + wide, valueOf(Layout.F_SIZE, at))
        at += State.widthOf(Layout.F_SIZE)
        if (tag >= Layout.TAG_REALLOC_NONE) {
          set |= Event.HAS_OLD_ADDRESS | Event.HAS_OUTCOME
          store<u8>(OUTCOME + i, <u8>(tag - Layout.TAG_REALLOC_NONE))
          store<u64>(OLD_ADDRESS + wide, valueOf(Layout.F_ADDRESS, at))
          at += State.widthOf(Layout.F_ADDRESS)
        }
      }
      set |= Event.HAS_ADDRESS
      store<u64>(ADDRESS + wide, valueOf(Layout.F_ADDRESS, at))
      at += State.widthOf(Layout.F_ADDRESS)
    } else {
      store<u8>(KIND + i, <u8>(tag - Layout.TAG_CREATE_HEAP) + Event.KIND_HEAP_CREATE)
    }
    store<u64>(THREAD + wide, (optional & Event.HAS_THREAD) != 0 ? valueOf(Layout.F_THREAD, at) : 0)
    at += State.widthOf(Layout.F_THREAD)
    if (tag >= Layout.TAG_CREATE_THREAD) {
      set &= ~Event.HAS_HEAP
    } else if ((optional & Event.HAS_HEAP) != 0) {
      store<u64>(HEAP + wide, valueOf(Layout.F_HEAP, at))
      at += State.widthOf(Layout.F_HEAP)
    }
    if ((optional & Event.HAS_TIME) != 0) store<u64>(TIME + wide, valueOf(Layout.F_TIME, at))
    bases = v128.load(State.BASES)
    store<u32>(MASK + ((<usize>i) << 2), set)
    all |= set
    i++
    p = after
    if (attributes != 0) {
      dataFrom = after - attributes
      dataTo = after
      stop = Layout.HAS_DATA
      break
    }
    if (fold && tag > Layout.TAG_REALLOC_NONE && tag <= Layout.TAG_REALLOC_FREED) i = foldRealloc(i, all)
  }
  v128.store(State.BASES, bases)
  position = p
  events = i
  fields = all
  return stop
}

/** Whether alloc and free records contain only what is read as pairs. */
function isQuick(optional: u32): bool {
  return (optional & Event.HAS_HEAP) == 0 && State.widthOf(Layout.F_ATTRIBUTES) == 0
}

/** Folds the last of `count` events if it is a realloc. @returns the number of events that are left */
export function settle(count: u32, all: u32): u32 {
  return load<u8>(KIND + count - 1) == Event.KIND_REALLOC ? foldRealloc(count, all) : count
}

function metadataLength(p: usize): usize {
  const setting = <u32>load<u8>(p, 3)
  return load<u8>(p, 1) != Layout.FIELD_INTERPRETATION || setting == Layout.NONE || setting > Layout.STRIDE
    ? HEAD
    : setting == Layout.STRIDE
      ? HEAD + 16
      : HEAD + 8
}

/** Applies the metadata record at p if it is valid. @returns the fault, or `USED_UP` */
function apply(p: usize): u32 {
  const operation = <u32>load<u8>(p, 1)
  const field = <u32>load<u8>(p, 2)
  const setting = <u32>load<u8>(p, 3)
  faultField = field
  faultValue = setting
  if (operation != Layout.FIELD_SIZE && operation != Layout.FIELD_INTERPRETATION) {
    faultValue = operation
    return Layout.UNKNOWN_OPERATION
  }
  if (field >= Layout.FIELD_COUNT) return Layout.UNKNOWN_FIELD
  if (operation == Layout.FIELD_SIZE) {
    if (setting > Layout.V2 || (setting < Layout.V1 && popcnt(setting) > 1)) return Layout.UNKNOWN_WIDTH
    if (setting >= Layout.V1 && field != Layout.F_ATTRIBUTES) return Layout.WIDTH_OF_ATTRIBUTES
    State.setWidth(field, setting)
  } else {
    if (setting > Layout.STRIDE) return Layout.UNKNOWN_INTERPRETATION
    const base = setting == Layout.NONE ? 0 : number(p + HEAD)
    if (field == Layout.F_ATTRIBUTES && setting != Layout.NONE && (setting != Layout.DEFAULT || base != 0))
      return Layout.NUMERIC_ATTRIBUTES
    State.setInterpretation(field, setting, base, setting == Layout.STRIDE ? number(p + HEAD + 8) : 0)
  }
  State.measure()
  return Layout.USED_UP
}

// @ts-ignore: decorator
@inline
function number(p: usize): u64 {
  return bswap(load<u64>(p))
}
