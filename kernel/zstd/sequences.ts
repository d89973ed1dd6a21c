/** The sequences of a block (RFC 8878, sections 3.1.1.3.2 and 3.1.1.4). */

import { bitsAt, countBits } from './bits'
import {
  LITERALS_BASE,
  LITERALS_BITS,
  LITERALS_KNOWN,
  MATCH_BASE,
  MATCH_BITS,
  MATCHES_KNOWN,
  OFFSETS_KNOWN,
} from './codes'
import { accuracy, baseIn, bitsIn, entryOf, makeConstant, makeKnown, readTable, symbolIn } from './fse'
import { copyFrom, copyMatch, MAX_BLOCK, place, reach } from './history'
import { literalCount, literals } from './literals'

const LITERALS_TABLE: usize = memory.data(4 * 512, 16)
const OFFSETS_TABLE: usize = memory.data(4 * 256, 16)
const MATCHES_TABLE: usize = memory.data(4 * 512, 16)
/** The accuracies of the tables; `NO_TABLE` before there is one. */
const NO_TABLE: u32 = 255
let literalsLog: u32 = NO_TABLE
let offsetsLog: u32 = NO_TABLE
let matchesLog: u32 = NO_TABLE

// How a table is given.
const KNOWN: u32 = 0
const CONSTANT: u32 = 1
const DESCRIBED: u32 = 2

/** The last three offsets. */
let offset0: u32 = 1
let offset1: u32 = 4
let offset2: u32 = 8

/** What `execute` returns where the block is invalid. */
export const INVALID: u32 = u32.MAX_VALUE

export function forgetSequences(): void {
  literalsLog = offsetsLog = matchesLog = NO_TABLE
  offset0 = 1
  offset1 = 4
  offset2 = 8
}

/** Reads a table. @returns the address after it; 0 if it is invalid */
function readOne(p: usize, end: usize, mode: u32, most: u32, limit: u32, table: usize, known: usize): usize {
  if (mode == KNOWN) {
    const isOfOffsets = table == OFFSETS_TABLE
    makeKnown(known, isOfOffsets ? 29 : limit, isOfOffsets ? 5 : 6, table)
    return p
  }
  if (mode == DESCRIBED) return readTable(p, end, most, limit, table)
  if (p >= end || load<u8>(p) >= limit) return 0
  makeConstant(load<u8>(p), table)
  return p + 1
}

/**
 * Reads the sequences, and puts together the content of the block, at the place of the next byte.
 * @returns its length, or `INVALID`
 */
export function execute(p: usize, end: usize): u32 {
  if (p >= end) return INVALID
  let count: u32 = load<u8>(p++)
  if (count == 0) {
    if (p != end) return INVALID
    copyFrom(literals, place, literalCount)
    return literalCount
  }
  if (count == 255) {
    count = load<u16>(p) + 0x7f00
    p += 2
  } else if (count > 127) count = ((count - 128) << 8) | load<u8>(p++)
  if (p >= end) return INVALID
  const modes = load<u8>(p++)
  if ((modes & 3) != 0) return INVALID
  p = readTables(p, end, modes)
  return p == 0 ? INVALID : putTogether(p, end, count)
}

function readTables(p: usize, end: usize, modes: u32): usize {
  const ofLiterals = modes >> 6
  const ofOffsets = (modes >> 4) & 3
  const ofMatches = (modes >> 2) & 3
  if (ofLiterals <= DESCRIBED) {
    p = readOne(p, end, ofLiterals, 9, 36, LITERALS_TABLE, LITERALS_KNOWN)
    if (p == 0) return 0
    literalsLog = accuracy
  } else if (literalsLog == NO_TABLE) return 0
  if (ofOffsets <= DESCRIBED) {
    p = readOne(p, end, ofOffsets, 8, 32, OFFSETS_TABLE, OFFSETS_KNOWN)
    if (p == 0) return 0
    offsetsLog = accuracy
  } else if (offsetsLog == NO_TABLE) return 0
  if (ofMatches <= DESCRIBED) {
    p = readOne(p, end, ofMatches, 9, 53, MATCHES_TABLE, MATCHES_KNOWN)
    if (p == 0) return 0
    matchesLog = accuracy
  } else if (matchesLog == NO_TABLE) return 0
  return p
}

function putTogether(start: usize, end: usize, count: u32): u32 {
  let at = countBits(start, end)
  if (at < <i32>(literalsLog + offsetsLog + matchesLog)) return INVALID
  at -= literalsLog
  let lengths = entryOf(LITERALS_TABLE, bitsAt(start, at, literalsLog))
  at -= offsetsLog
  let offsets = entryOf(OFFSETS_TABLE, bitsAt(start, at, offsetsLog))
  at -= matchesLog
  let matches = entryOf(MATCHES_TABLE, bitsAt(start, at, matchesLog))
  let from = literals
  let left = literalCount
  let to = place
  let room = MAX_BLOCK
  let back = <u32>reach
  for (let last = count - 1, n: u32 = 0; n < count; n++) {
    const offsetBits = symbolIn(offsets)
    const matchCode = symbolIn(matches)
    const literalsCode = symbolIn(lengths)
    at -= offsetBits
    const value = ((<u32>1) << offsetBits) + bitsAt(start, at, offsetBits)
    const matchBits: u32 = load<u8>(MATCH_BITS + matchCode)
    at -= matchBits
    const match = load<u32>(MATCH_BASE + ((<usize>matchCode) << 2)) + bitsAt(start, at, matchBits)
    const literalsBits: u32 = load<u8>(LITERALS_BITS + literalsCode)
    at -= literalsBits
    const length = load<u32>(LITERALS_BASE + ((<usize>literalsCode) << 2)) + bitsAt(start, at, literalsBits)
    if (n != last) {
      let bits = bitsIn(lengths)
      at -= bits
      lengths = entryOf(LITERALS_TABLE, baseIn(lengths) + bitsAt(start, at, bits))
      bits = bitsIn(matches)
      at -= bits
      matches = entryOf(MATCHES_TABLE, baseIn(matches) + bitsAt(start, at, bits))
      bits = bitsIn(offsets)
      at -= bits
      offsets = entryOf(OFFSETS_TABLE, baseIn(offsets) + bitsAt(start, at, bits))
    }
    const offset = distance(value, length == 0)
    if (at < 0 || length > left || length + match > room || offset == 0 || offset > back + length) return INVALID
    copyFrom(from, to, length)
    from += length
    left -= length
    to += length
    copyMatch(offset, to, match)
    to += match
    room -= length + match
    back += length + match
  }
  if (at != 0 || left > room) return INVALID
  copyFrom(from, to, left)
  return MAX_BLOCK - room + left
}

/** The offset that a value means: itself, or one of the last three. 0 is invalid. */
// @ts-ignore: decorator
@inline
function distance(value: u32, isAfterMatch: bool): u32 {
  if (value > 3) {
    offset2 = offset1
    offset1 = offset0
    offset0 = value - 3
    return offset0
  }
  const which = value - 1 + u32(isAfterMatch)
  if (which == 0) return offset0
  const offset = which == 1 ? offset1 : which == 2 ? offset2 : offset0 - 1
  if (which != 1) offset2 = offset1
  offset1 = offset0
  offset0 = offset
  return offset
}
