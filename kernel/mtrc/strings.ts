/** The strings of a batch that is written, and their names in the trace. */

import { areManyNames, intern, MOST_NAMES, nameLength, nameRoom, names, nameStart } from '../shared/names'
import { findEntries } from './caches'
import { INTERNAL } from './layout'
import { forget, nextBatch, now } from './state'

/** The id of the string that the next event needs, or -1. The wrapper calls `define` or `refuse`. */
export let wanted: i32 = -1
/** By hash of a string's id in the batch: the id (low half), the number of the batch (high half), and the name. */
const IDS: u32 = 8192
const STRINGS: usize = memory.data(65_536)
const NUMBERS: usize = memory.data(32_768)
let stringCount: u32 = 0
/** The name of a string that a trace cannot represent. */
export const UNFIT: u32 = 0xffff_ffff

/** The address for the bytes of the requested string, or 0 if memory is exhausted. */
export function room(length: u32): usize {
  if (names > MOST_NAMES - 4 || stringCount >= IDS / 2) forgetStrings()
  return nameRoom(length)
}

/** Adds the requested string, whose bytes are at the result of `room`. */
export function define(length: u32): void {
  setNumber(intern(nameRoom(length), length))
}

/** Notes that a trace cannot represent the requested string. */
export function refuse(): void {
  if (stringCount >= IDS / 2) forgetStrings()
  setNumber(UNFIT)
}

/**
 * The address for all strings of the batch, if they are not requested one by one: the start of each and the end of the
 * last one, then their bytes. 0 if memory is exhausted.
 */
export function roomForAll(count: u32, bytes: u32): usize {
  const at = nameRoom(2 * bytes + 4 * (count + 1))
  // Names that are interned take the place before it.
  return at == 0 ? 0 : at + bytes
}

/** The strings are at the result of `roomForAll`. Those that a trace cannot represent are empty. */
export function defineAll(at: usize, count: u32): void {
  const bytes = at + ((<usize>count + 1) << 2)
  for (let id: u32 = 0; id < count; id++) {
    const start = load<u32>(at + ((<usize>id) << 2))
    const length = load<u32>(at + ((<usize>id) << 2), 4) - start
    wanted = id
    setNumber(length == 0 ? UNFIT : intern(bytes + <usize>start, length))
  }
}

function setNumber(number: u32): void {
  const entry = ((<u64>now) << 32) | (<u64>(<u32>wanted))
  let slot = (<u32>wanted) & (IDS - 1)
  while (<u32>(load<u64>(STRINGS + ((<usize>slot) << 3)) >> 32) == now) slot = (slot + 1) & (IDS - 1)
  store<u64>(STRINGS + ((<usize>slot) << 3), entry)
  store<u32>(NUMBERS + ((<usize>slot) << 2), number)
  stringCount++
  wanted = -1
}

/** The slot of a string of the batch, or -1. */
// @ts-ignore: decorator
@inline
export function slotOf(id: u32): i32 {
  const entry = ((<u64>now) << 32) | (<u64>id)
  const slot = id & (IDS - 1)
  return load<u64>(STRINGS + ((<usize>slot) << 3)) == entry ? <i32>slot : otherSlotOf(id, entry)
}

function otherSlotOf(id: u32, entry: u64): i32 {
  let slot = id & (IDS - 1)
  while (true) {
    const here = load<u64>(STRINGS + ((<usize>slot) << 3))
    if (here == entry) return <i32>slot
    if (<u32>(here >> 32) != now) return -1
    slot = (slot + 1) & (IDS - 1)
  }
}

/** The name of the string in a slot. */
export function numberAt(slot: i32): u32 {
  return load<u32>(NUMBERS + ((<usize>slot) << 2))
}

/** Whether a name is `internal`. */
export function isInternal(name: u32): bool {
  return name != UNFIT && nameLength(name) == 8 && load<u64>(nameStart(name)) == load<u64>(INTERNAL)
}

/** Begins a batch, with its own strings. */
export function beginBatch(): void {
  if (areManyNames()) forgetStrings()
  nextBatch()
  stringCount = 0
}

/** The next event needs the string with this id. */
export function want(id: u32): void {
  wanted = id
}

/** Forgets the names that are in no cache, and the names of the batch's strings. */
function forgetStrings(): void {
  forget()
  stringCount = 0
  findEntries()
}
