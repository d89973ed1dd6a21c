/** HATF records to columns. */

import {
  COMMENT,
  DEFAULT,
  FIELD_COUNT,
  FIELD_INTERPRETATION,
  FIELD_SIZE,
  FULL,
  F_ADDRESS,
  F_ATTRIBUTES,
  F_HEAP,
  F_SIZE,
  F_THREAD,
  F_TIME,
  HAS_DATA,
  NONE,
  NUMERIC_ATTRIBUTES,
  STRIDE,
  TAG_COMMENT,
  TAG_CREATE_HEAP,
  TAG_CREATE_THREAD,
  TAG_DESTROY_THREAD,
  TAG_FREE,
  TAG_METADATA,
  TAG_REALLOC_FREED,
  TAG_REALLOC_NONE,
  UNKNOWN_FIELD,
  UNKNOWN_INTERPRETATION,
  UNKNOWN_OPERATION,
  UNKNOWN_TAG,
  UNKNOWN_WIDTH,
  USED_UP,
  V1,
  V2,
  WIDTH_OF_ATTRIBUTES,
} from '../../lib/kernel/layouts/hatf'
import { ADDRESS, HEAP, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE, THREAD, TIME } from '../shared/columns'
import {
  BATCH_EVENTS,
  HAS_ADDRESS,
  HAS_HEAP,
  HAS_OLD_ADDRESS,
  HAS_OUTCOME,
  HAS_SIZE,
  HAS_THREAD,
  HAS_TIME,
  KIND_HEAP_CREATE,
  KIND_REALLOC,
} from '../shared/event'
import { foldRealloc } from './fold'
import {
  BASES,
  BYTES,
  LENGTH_BYTES,
  lengthOf,
  measure,
  MOVES,
  MOVES_PAIR,
  OPTIONAL,
  READ_OPTIONAL,
  READ_PAIR,
  setInterpretation,
  setWidth,
  SIGNS,
  STRIDES,
  THREAD_AT,
  widthOf,
} from './state'

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
// @ts-ignore: decorator
@inline
function valueOf(f: u32, p: usize): u64 {
  const wide = (<usize>f) << 3
  const stored = i64x2.extract_lane(v128.swizzle(v128.load_zero<u64>(p), v128.load_zero<u64>(BYTES + wide)), 0)
  const sign = load<u64>(SIGNS + wide)
  const base = load<u64>(BASES + wide)
  const value = base + load<u64>(STRIDES + wide) + ((stored ^ sign) - sign)
  store<u64>(BASES + wide, base ^ ((base ^ value) & load<u64>(MOVES + wide)))
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
  let stop = USED_UP
  let optional = load<u32>(OPTIONAL)
  let quick = isQuick(optional)
  let bases = v128.load(BASES)
  while (p < end) {
    if (i == BATCH_EVENTS) {
      stop = FULL
      break
    }
    const tag = <u32>load<u8>(p)
    const wide = (<usize>i) << 3
    if (tag <= TAG_FREE && quick) {
      const after = p + lengthOf(tag)
      if (after > end) break
      // Which of the two comes next is hard to predict, so both are read alike; the size of a free is 0.
      const kind = (<usize>tag) << 4
      const signs = v128.load(SIGNS)
      const stored = v128.swizzle(v128.load(p, 1), v128.load(READ_PAIR + kind))
      const values = i64x2.add(i64x2.add(bases, v128.load(STRIDES)), i64x2.sub(v128.xor(stored, signs), signs))
      bases = v128.bitselect(values, bases, v128.load(MOVES_PAIR + kind))
      v128.store_lane<u64>(SIZE + wide, values, 0)
      v128.store_lane<u64>(ADDRESS + wide, values, 1)
      if (optional == 0) {
        store<u64>(THREAD + wide, 0)
      } else {
        const before = v128.load(BASES, F_TIME << 3)
        const more = v128.load(SIGNS, F_TIME << 3)
        const bytes = v128.swizzle(v128.load(p + load<u32>(THREAD_AT + ((<usize>tag) << 2))), v128.load(READ_OPTIONAL))
        const pair = i64x2.add(
          i64x2.add(before, v128.load(STRIDES, F_TIME << 3)),
          i64x2.sub(v128.xor(bytes, more), more),
        )
        v128.store(BASES, v128.bitselect(pair, before, v128.load(MOVES, F_TIME << 3)), F_TIME << 3)
        v128.store_lane<u64>(TIME + wide, pair, 0)
        v128.store_lane<u64>(THREAD + wide, pair, 1)
      }
      store<u8>(KIND + i, <u8>tag)
      const set = optional | HAS_ADDRESS | (HAS_SIZE & (tag - 1))
      store<u32>(MASK + ((<usize>i) << 2), set)
      all |= set
      i++
      p = after
      continue
    }
    v128.store(BASES, bases)
    if (tag > TAG_DESTROY_THREAD) {
      if (tag > TAG_METADATA) {
        faultValue = tag
        stop = UNKNOWN_TAG
        break
      }
      if (end - p < HEAD) break
      if (tag == TAG_COMMENT) {
        const from = p + HEAD
        const to = from + (((<usize>load<u8>(p, 2)) << 8) | (<usize>load<u8>(p, 3)))
        if (to > end) break
        dataFrom = from
        dataTo = to
        store<u64>(THREAD + wide, 0)
        stop = COMMENT
        p = to
        break
      }
      const length = metadataLength(p)
      if (end - p < length) break
      stop = apply(p)
      if (stop != USED_UP) break
      p += length
      optional = load<u32>(OPTIONAL)
      quick = isQuick(optional)
      bases = v128.load(BASES)
      continue
    }

    // Nothing is read before the whole record is there, because reading advances delta and stride.
    let after = p + lengthOf(tag)
    if (after > end) break
    let attributes = <usize>widthOf(F_ATTRIBUTES)
    const lengthBytes = load<u32>(LENGTH_BYTES)
    if (lengthBytes != 0) {
      attributes = load<u8>(after - 1)
      if (lengthBytes == 2) attributes |= (<usize>load<u8>(after - 2)) << 8
      after += attributes
      if (after > end) break
    }
    let set = optional
    let at = p + 1
    if (tag <= TAG_REALLOC_FREED) {
      store<u8>(KIND + i, tag < TAG_REALLOC_NONE ? <u8>tag : KIND_REALLOC)
      if (tag != TAG_FREE) {
        set |= HAS_SIZE
        store<u64>(SIZE + wide, valueOf(F_SIZE, at))
        at += widthOf(F_SIZE)
        if (tag >= TAG_REALLOC_NONE) {
          set |= HAS_OLD_ADDRESS | HAS_OUTCOME
          store<u8>(OUTCOME + i, <u8>(tag - TAG_REALLOC_NONE))
          store<u64>(OLD_ADDRESS + wide, valueOf(F_ADDRESS, at))
          at += widthOf(F_ADDRESS)
        }
      }
      set |= HAS_ADDRESS
      store<u64>(ADDRESS + wide, valueOf(F_ADDRESS, at))
      at += widthOf(F_ADDRESS)
    } else {
      store<u8>(KIND + i, <u8>(tag - TAG_CREATE_HEAP) + KIND_HEAP_CREATE)
    }
    store<u64>(THREAD + wide, (optional & HAS_THREAD) != 0 ? valueOf(F_THREAD, at) : 0)
    at += widthOf(F_THREAD)
    if (tag >= TAG_CREATE_THREAD) {
      set &= ~HAS_HEAP
    } else if ((optional & HAS_HEAP) != 0) {
      store<u64>(HEAP + wide, valueOf(F_HEAP, at))
      at += widthOf(F_HEAP)
    }
    if ((optional & HAS_TIME) != 0) store<u64>(TIME + wide, valueOf(F_TIME, at))
    bases = v128.load(BASES)
    store<u32>(MASK + ((<usize>i) << 2), set)
    all |= set
    i++
    p = after
    if (attributes != 0) {
      dataFrom = after - attributes
      dataTo = after
      stop = HAS_DATA
      break
    }
    if (fold && tag > TAG_REALLOC_NONE && tag <= TAG_REALLOC_FREED) i = foldRealloc(i, all)
  }
  v128.store(BASES, bases)
  position = p
  events = i
  fields = all
  return stop
}

/** Whether alloc and free records contain only what is read as pairs. */
// @ts-ignore: decorator
@inline
function isQuick(optional: u32): bool {
  return (optional & HAS_HEAP) == 0 && widthOf(F_ATTRIBUTES) == 0
}

/** Folds the last of `count` events if it is a realloc. @returns the number of events that are left */
export function settle(count: u32, all: u32): u32 {
  return load<u8>(KIND + count - 1) == KIND_REALLOC ? foldRealloc(count, all) : count
}

function metadataLength(p: usize): usize {
  const setting = <u32>load<u8>(p, 3)
  return load<u8>(p, 1) != FIELD_INTERPRETATION || setting == NONE || setting > STRIDE
    ? HEAD
    : setting == STRIDE
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
  if (operation != FIELD_SIZE && operation != FIELD_INTERPRETATION) {
    faultValue = operation
    return UNKNOWN_OPERATION
  }
  if (field >= FIELD_COUNT) return UNKNOWN_FIELD
  if (operation == FIELD_SIZE) {
    if (setting > V2 || (setting < V1 && popcnt(setting) > 1)) return UNKNOWN_WIDTH
    if (setting >= V1 && field != F_ATTRIBUTES) return WIDTH_OF_ATTRIBUTES
    setWidth(field, setting)
  } else {
    if (setting > STRIDE) return UNKNOWN_INTERPRETATION
    const base = setting == NONE ? 0 : number(p + HEAD)
    if (field == F_ATTRIBUTES && setting != NONE && (setting != DEFAULT || base != 0)) return NUMERIC_ATTRIBUTES
    setInterpretation(field, setting, base, setting == STRIDE ? number(p + HEAD + 8) : 0)
  }
  measure()
  return USED_UP
}

// @ts-ignore: decorator
@inline
function number(p: usize): u64 {
  return bswap(load<u64>(p))
}
