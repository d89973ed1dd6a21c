/** Codes a new descriptor: each of its values either as the value that last followed the one before it, or directly. */

import { bit, codeTree, entryAt, freshen, isEncoding, mixed, pairBit } from './coder'
import { addDraft, draft, fieldsOf, FORMS, isSound, setValueAt, THREAD_FIELDS, valueAt } from './descriptors'
import { BYTE, F_API, F_CALL_SITE, F_HEAP, F_LINE, LIST, NAME, sortOf, WORD } from '../shared/fields'
import { codeList, codeName } from './name-codes'
import { folded, pairNumber, unfolded } from './numbers'

const KINDS: u32 = 13
const APIS: u32 = 12
const OUTCOMES: u32 = 4

/** The order in which values are coded: first the origin of an event, then its request. */
const ORDER: StaticArray<u8> = [20, 28, 0, 30, 25, 19, 21, 22, 23, 24, 8, 4, 18, 15, 13, 14, 12, 16]

/** Trees of kinds, forms and flags. */
const KIND: usize = memory.data(64)
const FORM: usize = memory.data(1024)
const FLAGS: usize = memory.data(512)
/** By kind and form: the fields of the last descriptor, and counters for whether they are the same and for each bit. */
const LAST_MASK: usize = memory.data(512)
const SAME_MASK: usize = memory.data(512)
const MASK_BITS: usize = memory.data(16_384)
/** The value that followed another one last, and the last value of each field. */
const FOLLOWING: usize = memory.data(131_072)
const LAST: usize = memory.data(256)
const FIRST: usize = memory.data(65_536)
const SECOND: usize = memory.data(65_536)

export function resetDescriptorCodes(): void {
  freshen(KIND, 16)
  freshen(FORM, 256)
  freshen(FLAGS, 128)
  memory.fill(LAST_MASK, 0, 512)
  freshen(SAME_MASK, 128)
  freshen(MASK_BITS, 4096)
  memory.fill(FOLLOWING, 0, 131_072)
  memory.fill(LAST, 0, 256)
  freshen(FIRST, 16_384)
  freshen(SECOND, 16_384)
}

/** Codes the draft, and adds it. @returns its number; 0 if the decoded descriptor is invalid */
export function codeDescriptor(): u32 {
  const d = draft()
  const kind = codeTree(d.kind, 4, KIND)
  const form = codeTree(d.form, 3, FORM + ((<usize>kind) << 6))
  if (kind >= KINDS || form >= FORMS) return 0
  const flags = codeTree(d.flags, 3, FLAGS + ((<usize>form) << 6))
  const place = (kind << 3) | form
  const lastMask = LAST_MASK + ((<usize>place) << 2)
  let mask = load<u32>(lastMask)
  if (bit(d.mask == mask ? 1 : 0, SAME_MASK + ((<usize>place) << 2)) == 0) {
    const wanted = d.mask
    mask = 0
    for (let f: u32 = 0; f < 31; f++) {
      const counter = MASK_BITS + ((<usize>(((kind << 5) | f) & 0x3ff)) << 2)
      mask |= bit((wanted >> f) & 1, counter) << f
    }
    store<u32>(lastMask, mask)
  }
  d.kind = <u8>kind
  d.form = <u8>form
  d.flags = <u8>flags
  d.mask = mask
  if ((mask & THREAD_FIELDS) != 0 || !isSound(d)) return 0
  const fields = fieldsOf(d)
  d.count = <u8>popcnt(fields)
  let context = mixed(place, 77)
  for (let i = 0; i < ORDER.length; i++) {
    const field = <u32>unchecked(ORDER[i])
    if (((fields >> field) & 1) == 0) continue
    const at = popcnt(fields & ((1 << field) - 1))
    const value = codeValue(field, isEncoding ? valueAt(d, at) : 0, context, place)
    if (isWrong) return 0
    setValueAt(d, at, value)
    context = mixed((<u32>value) ^ (<u32>(value >> 32)), field + (context & 0xffff))
  }
  return addDraft()
}

/** A value was out of bounds. */
let isWrong: bool = false

function codeValue(field: u32, value: u64, context: u32, shape: u32): u64 {
  const sort = sortOf(field)
  isWrong = false
  if (sort == NAME) return codeName(value, field, context)
  if (sort == LIST) return codeList(value, context)
  const following = FOLLOWING + ((<usize>(mixed(context, field) >> 18)) << 3)
  const guess = load<u64>(following)
  const isRight = pairBit(value == guess ? 1 : 0, entryAt(FIRST, context, field), entryAt(SECOND, shape, field), 27)
  if (isRight != 0) value = guess
  else if (sort == BYTE) {
    value = codeTree(<u32>value, 4, SECOND + ((<usize>(field & 1)) << 6))
    isWrong = value >= <u64>(field == F_API ? APIS : OUTCOMES)
  } else if (field == F_LINE || field == F_CALL_SITE || field == F_HEAP) {
    const last = load<u64>(LAST + ((<usize>field) << 3))
    value = last + unfolded(pairNumber(folded(value - last), field, mixed(context, 5), 28))
  } else value = pairNumber(value, field, mixed(context, 6), 30)
  if (sort == WORD && value > 0xffff_ffff) isWrong = true
  store<u64>(following, value)
  store<u64>(LAST + ((<usize>field) << 3), value)
  return value
}
