/**
 * Descriptors: the recurring parts of events, each numbered: the kind, the form, the set of fields, and the values of
 * the fields that describe the request and its origin.
 */

import { HAS_ADDRESS, HAS_OLD_ADDRESS, HAS_PROCESS, HAS_SIZE, HAS_THREAD } from '../shared/event'
import { isEncoding } from './coder'
import { sortOf, LIST, NAME, valueOf } from '../shared/fields'
import { numberOfList, numberOfName } from './names'

/** The fields whose values are in the descriptor: api, node, heap, sizes and counts, and the origin of the call. */
const DESCRIBED: u32 = 0x53fd_f111
/** The fields that identify the thread. */
export const THREAD_FIELDS: u32 = HAS_PROCESS | HAS_THREAD

/** The relation of an event to blocks. Every address is a block's, or is coded directly. */
/** No block that is known. */
export const PLAIN: u8 = 0
/** A new block. */
export const MAKES: u8 = 1
/** A live block ends. */
export const ENDS: u8 = 2
/** A live block ends, and a new one begins. */
export const MOVES: u8 = 3
/** A realloc of a live block that ends, without a new one. */
export const DROPS: u8 = 4
/** A realloc of a live block that stays, without a new one. */
export const KEEPS: u8 = 5
export const FORMS: u32 = 6

/** Flags: the size equals the size of the block that ends; the address, or the old address, is zero. */
export const SAME_SIZE: u32 = 1
export const NULL_ADDRESS: u32 = 2
export const NULL_OLD: u32 = 4

/** A descriptor; the values of its fields follow it, in the order of their bits. */
@unmanaged
export class Descriptor {
  kind: u8
  form: u8
  flags: u8
  /** The number of values. */
  count: u8
  /** The event's fields, without thread and process. */
  mask: u32
}

/** The size of a descriptor: one value for each field that it can have. */
const BYTES: usize = 152
const VALUES: usize = 8
/** The maximum number of descriptors; then the oldest ones are replaced. */
const MOST: u32 = 32_768
const DESCRIPTORS: usize = memory.data(4_980_736)
/** The draft: the descriptor of the event to encode, or the new descriptor being decoded. */
const DRAFT: usize = memory.data(152)

/** The number of the next descriptor, and the number of descriptors. Numbers 0 and 1 have other meanings. */
let next: u32 = 2
export let descriptorCount: u32 = 2
/** The number of descriptors of frees so far, and the first of these. */
export let freeCount: u32 = 0
export let onlyFree: u32 = 0

/** For the encoder: numbers by a hash. */
const INDEX: usize = memory.data(262_144)
const SLOTS: u32 = 131_072
const PROBES: u32 = 8

export function resetDescriptors(): void {
  next = 2
  descriptorCount = 2
  freeCount = 0
  onlyFree = 0
  memory.fill(INDEX, 0, 262_144)
}

/** Begins with new descriptors. The classes of live blocks keep their numbers. */
export function forgetDescriptors(): void {
  next = 2
  // Other entries may follow in the chain.
  freeCount = 2
  memory.fill(INDEX, 0, 262_144)
}

// @ts-ignore: decorator
@inline
export function descriptorAt(n: u32): Descriptor {
  return changetype<Descriptor>(DESCRIPTORS + <usize>n * BYTES)
}

// @ts-ignore: decorator
@inline
export function draft(): Descriptor {
  return changetype<Descriptor>(DRAFT)
}

export function valueAt(d: Descriptor, i: u32): u64 {
  return load<u64>(changetype<usize>(d) + ((<usize>i) << 3), VALUES)
}

export function setValueAt(d: Descriptor, i: u32, value: u64): void {
  store<u64>(changetype<usize>(d) + ((<usize>i) << 3), value, VALUES)
}

/** The fields whose values a descriptor has. */
// @ts-ignore: decorator
@inline
export function fieldsOf(d: Descriptor): u32 {
  return d.mask & ((d.flags & SAME_SIZE) != 0 ? DESCRIBED & ~HAS_SIZE : DESCRIBED)
}

/** The value of a field of a descriptor, or 0. */
export function described(d: Descriptor, field: u32): u64 {
  const fields = fieldsOf(d)
  if (((fields >> field) & 1) == 0) return 0
  return valueAt(d, popcnt(fields & ((1 << field) - 1)))
}

/** Whether the form fits the fields: the fields that it mentions must be present. */
export function isSound(d: Descriptor): bool {
  const hasAddress = (d.mask & HAS_ADDRESS) != 0
  const hasOld = (d.mask & HAS_OLD_ADDRESS) != 0
  if ((d.flags & NULL_ADDRESS) != 0 && !hasAddress) return false
  if ((d.flags & NULL_OLD) != 0 && !hasOld) return false
  if ((d.flags & SAME_SIZE) != 0 && (d.form != ENDS || (d.mask & HAS_SIZE) == 0)) return false
  switch (d.form) {
    case PLAIN:
      return true
    case MAKES:
    case ENDS:
      return hasAddress && (d.flags & NULL_ADDRESS) == 0
    case MOVES:
      return hasAddress && hasOld && (d.flags & (NULL_ADDRESS | NULL_OLD)) == 0
    default:
      return hasOld && (d.flags & NULL_OLD) == 0 && (!hasAddress || (d.flags & NULL_ADDRESS) != 0)
  }
}

/** Creates the draft for an event to encode; form and flags are known. */
export function draftEvent(row: u32, kind: u8, form: u8, flags: u32, mask: u32): void {
  const d = draft()
  d.kind = kind
  d.form = form
  d.flags = <u8>flags
  d.mask = mask & ~THREAD_FIELDS
  let count: u32 = 0
  for (let left = fieldsOf(d); left != 0; left &= left - 1) {
    const field = <u32>ctz(left)
    let value = valueOf(field, row)
    const sort = sortOf(field)
    if (sort == NAME) value = numberOfName(<u32>value)
    else if (sort == LIST) value = numberOfList(<u32>value)
    setValueAt(d, count++, value)
  }
  d.count = <u8>count
}

function hash(d: Descriptor): u32 {
  let h: u64 = load<u64>(changetype<usize>(d)) * 0x9e37_79b9_7f4a_7c15
  const to = changetype<usize>(d) + VALUES + ((<usize>d.count) << 3)
  for (let at = changetype<usize>(d) + VALUES; at < to; at += 8) {
    h = (h ^ load<u64>(at)) * 0xff51_afd7_ed55_8ccd
    h ^= h >> 31
  }
  return <u32>(h >> 32)
}

function isSame(a: Descriptor, b: Descriptor): bool {
  const from = changetype<usize>(a)
  const other = changetype<usize>(b)
  const to = VALUES + ((<usize>a.count) << 3)
  for (let at: usize = 0; at < to; at += 8) if (load<u64>(from + at) != load<u64>(other + at)) return false
  return true
}

/** The number of the descriptor that equals the draft, or 0. */
export function findDraft(): u32 {
  const h = hash(draft())
  for (let i: u32 = 0; i < PROBES; i++) {
    const n: u32 = load<u16>(INDEX + ((<usize>((h + i) & (SLOTS - 1))) << 1))
    if (n == 0) return 0
    if (isSame(draft(), descriptorAt(n))) return n
  }
  return 0
}

/** Adds the draft. @returns its number */
export function addDraft(): u32 {
  const n = next++
  if (next == MOST) next = 2
  if (descriptorCount < MOST) descriptorCount = max<u32>(descriptorCount, n + 1)
  memory.copy(changetype<usize>(descriptorAt(n)), DRAFT, BYTES)
  if (draft().form == ENDS) {
    if (freeCount++ == 0) onlyFree = n
  }
  if (!isEncoding) return n
  const h = hash(draft())
  let slot = h
  for (let i: u32 = 0; i < PROBES; i++) {
    if (load<u16>(INDEX + ((<usize>((h + i) & (SLOTS - 1))) << 1)) != 0) continue
    slot = h + i
    break
  }
  store<u16>(INDEX + ((<usize>(slot & (SLOTS - 1))) << 1), <u16>n)
  return n
}
