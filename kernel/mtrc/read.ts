/** The numbers and names in records that are read. */

import * as Layout from '../../lib/kernel/layouts/mtrc'
import { gather, lebEnds, lebLength, lebValue, OF_1, OF_3, OF_7 } from '../shared/leb128'
import { intern, nameLength, nameRoom, nameStart } from '../shared/names'
import { NAME_DEFINES, NOWHERE } from './layout'
import { IN_BATCH, now } from './state'

/** The fault of the record at `position`. */
export let fault: i32 = 0
/** The number of names in the batch. Their ids are below it. */
export let nameCount: u32 = 0
/** Per id, the number of a name in the batch. */
const BATCH_NAMES: usize = memory.data(16_384)
/** The bytes of those names. */
export let nameBytes: u32 = 0

/** Per entry, the id of its name in the batch, or `UNKNOWN`. */
export const FUNCTION_IDS: usize = memory.data(264)
export const FILE_IDS: usize = FUNCTION_IDS + 132
const UNKNOWN: u32 = 0xffff_ffff

/**
 * Writes the names of the batch in the order of their ids: first the start of each and the end of the last one, then
 * their bytes.
 * @returns the address of the first start, until more names are read; 0 if memory is exhausted
 */
export function layOutNames(): usize {
  const head = (<usize>nameCount + 1) << 2
  const room = nameRoom(head + <usize>nameBytes + 16)
  if (room == 0) return 0
  const bytes = room + head
  let p = bytes
  for (let id: usize = 0; id < <usize>nameCount; id++) {
    const name = load<u32>(BATCH_NAMES + (id << 2))
    const from = nameStart(name)
    const length = <usize>nameLength(name)
    store<u32>(room + (id << 2), <u32>(p - bytes))
    // Names are short, and there is room after the last one.
    for (let at: usize = 0; at < length; at += 16) v128.store(p + at, v128.load(from + at))
    p += length
  }
  store<u32>(bytes - 4, <u32>(p - bytes))
  return room
}

/**
 * Reads a number. If it is malformed, `fault` says why, and the result is `NOWHERE`.
 * @param usual the usual lengths of numbers of its kind: some of `OF_1`, `OF_3` and `OF_7`, or 0 if there are none. The
 *   processor can read on after a number of usual length before it knows the length, because it predicts branches. It
 *   would wait for a computed length.
 */
// @ts-ignore: decorator
@inline
export function leb(p: usize, to: usize, usual: u32): usize {
  const word = load<u64>(p)
  if ((usual & OF_1) != 0 && (word & 0x80) == 0) {
    store<u64>(to, word & 0x7f)
    return p + 1
  }
  if ((usual & OF_3) != 0 && (word & 0x80_8080) == 0x8080) {
    store<u64>(to, (word & 0x7f) | ((word >> 1) & 0x3f80) | ((word >> 2) & 0x1f_c000))
    return p + 3
  }
  if ((usual & OF_7) != 0 && (word & 0x80_8080_8080_8080) == 0x8080_8080_8080) {
    store<u64>(to, gather(word & 0x7f_7f7f_7f7f_7f7f))
    return p + 7
  }
  const ends = lebEnds(word)
  if (ends == 0) return longLeb(p, to)
  store<u64>(to, lebValue(word, ends))
  return p + lebLength(ends)
}

/** Reads a number of nine bytes or more. */
function longLeb(start: usize, to: usize): usize {
  let value = gather(load<u64>(start) & 0x7f7f_7f7f_7f7f_7f7f)
  let p = start + 8
  const ninth = <u64>load<u8>(p++)
  value |= (ninth & 0x7f) << 56
  if (ninth >= 0x80) {
    const tenth = <u64>load<u8>(p++)
    if ((tenth & 0x7f) > 1) return nowhere(Layout.NUMBER_TOO_WIDE)
    value |= tenth << 63
    // Only padding may follow.
    for (let last = tenth; last >= 0x80;) {
      if (p == start + Layout.MAX_LEB) return nowhere(Layout.NUMBER_TOO_LONG)
      last = <u64>load<u8>(p++)
      if ((last & 0x7f) != 0) return nowhere(Layout.NUMBER_TOO_WIDE)
    }
  }
  store<u64>(to, value)
  return p
}

/** Notes a fault. Returns the place to read on. */
export function nowhere(reason: i32): usize {
  fault = reason
  return NOWHERE
}

/** Reads an entry other than 0, and stores the id of its name in a column. */
// @ts-ignore: decorator
@inline
export function name(p: usize, end: usize, entry: u32, ids: usize, entries: usize, to: usize): usize {
  const id = entry <= Layout.NAME_ENTRIES ? load<u32>(ids + ((<usize>entry) << 2)) : UNKNOWN
  if (id == UNKNOWN) return newName(p, end, ids, entries, to)
  store<u32>(to, id)
  return p + 1
}

/** Reads the entry of a name that is defined here, or new in the batch. */
function newName(p: usize, end: usize, ids: usize, entries: usize, to: usize): usize {
  const byte = load<u8>(p)
  const entry = (<usize>(byte & ~NAME_DEFINES)) << 2
  if (entry < 4 || entry > Layout.NAME_ENTRIES << 2) return nowhere(Layout.NO_SUCH_ENTRY)
  let reference = load<u32>(entries + entry)
  p++
  if (byte >= NAME_DEFINES) {
    const most = min<usize>(end, p + Layout.MAX_NAME + 1)
    const nul = findNul(p, most)
    if (nul == most) return nul - p > Layout.MAX_NAME ? nowhere(Layout.NAME_TOO_LONG) : NOWHERE
    if (nameRoom(nul - p) == 0) return nowhere(Layout.NO_MEMORY)
    reference = intern(p, nul - p) + 1
    store<u32>(entries + entry, reference)
    p = nul + 1
  }
  if (reference == 0) return nowhere(Layout.ENTRY_UNDEFINED)
  const id = idOf(reference - 1)
  store<u32>(ids + entry, id)
  store<u32>(to, id)
  return p
}

/** The first zero byte from p on, or `end`. */
function findNul(p: usize, end: usize): usize {
  for (; p < end; p += 8) {
    const word = load<u64>(p)
    const zeros = (word - 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    if (zeros != 0) return min<usize>(end, p + <usize>(ctz(zeros) >> 3))
  }
  return end
}

/** The id of a name in the batch; a new one if it has none. */
export function idOf(name: u32): u32 {
  const at = IN_BATCH + ((<usize>name) << 3)
  if (load<u32>(at, 4) == now) return load<u32>(at)
  const id = nameCount++
  store<u32>(at, id)
  store<u32>(at, now, 4)
  store<u32>(BATCH_NAMES + ((<usize>id) << 2), name)
  nameBytes += nameLength(name)
  return id
}

/** Begins a batch without names. */
export function beginNames(): void {
  memory.fill(FUNCTION_IDS, 0xff, 264)
  nameCount = 0
  nameBytes = 0
  fault = 0
}

export function setFault(reason: i32): void {
  fault = reason
}
