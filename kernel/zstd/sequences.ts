/** The sequences of a block (RFC 8878, sections 3.1.1.3.2 and 3.1.1.4). */

import { bitsAt, countBits } from './bits'
import * as Codes from './codes'
import { accuracy, baseIn, bitsIn, entryOf, makeConstant, makeKnown, readTable, symbolIn } from './fse'
import { copyFrom, copyMatch, most, place, reach } from './history'
import { literalCount, literals } from './literals'

const LITERALS_TABLE: usize = memory.data(4 * 512, 16)
const OFFSETS_TABLE: usize = memory.data(4 * 256, 16)
const MATCHES_TABLE: usize = memory.data(4 * 512, 16)
/** The accuracies of the tables; `NO_TABLE` before there is one. */
const NO_TABLE: u32 = 255
let literalsLog: u32 = NO_TABLE
let offsetsLog: u32 = NO_TABLE
let matchesLog: u32 = NO_TABLE

// The ways to give a table; otherwise it is described.
const KNOWN: u32 = 0
const CONSTANT: u32 = 1
const REPEATED: u32 = 3

/** The last three offsets. */
let offset0: u32 = 1
let offset1: u32 = 4
let offset2: u32 = 8

/** The result of `execute` if the block is invalid. */
export const INVALID: u32 = u32.MAX_VALUE

export function forgetSequences(): void {
  literalsLog = offsetsLog = matchesLog = NO_TABLE
  offset0 = 1
  offset1 = 4
  offset2 = 8
}

/**
 * Reads the sequences, and puts together the content of the block, at the place of the next byte.
 * @returns its length, or `INVALID`
 */
export function execute(p: usize, end: usize): u32 {
  if (p >= end) return INVALID
  let count: u32 = load<u8>(p++)
  if (count == 255) {
    count = load<u16>(p) + 0x7f00
    p += 2
  } else if (count > 127) count = ((count - 128) << 8) | load<u8>(p++)
  if (count == 0) {
    if (p != end || literalCount > most) return INVALID
    copyFrom(literals, place, literalCount)
    return literalCount
  }
  if (p >= end) return INVALID
  const modes = load<u8>(p++)
  if ((modes & 3) != 0) return INVALID
  p = readTables(p, end, modes)
  return p == 0 ? INVALID : putTogether(p, end, count)
}

/** Reads the three tables. @returns the address after them; 0 if one is invalid */
function readTables(p: usize, end: usize, modes: u32): usize {
  const ofLiterals = modes >> 6
  const ofOffsets = (modes >> 4) & 3
  const ofMatches = (modes >> 2) & 3
  if (ofLiterals != REPEATED) {
    if (ofLiterals == KNOWN) makeKnown(Codes.LITERALS_KNOWN, 36, 6, LITERALS_TABLE)
    else p = readGiven(p, end, ofLiterals, 9, 36, LITERALS_TABLE)
    literalsLog = accuracy
  }
  if (p != 0 && ofOffsets != REPEATED) {
    if (ofOffsets == KNOWN) makeKnown(Codes.OFFSETS_KNOWN, 29, 5, OFFSETS_TABLE)
    else p = readGiven(p, end, ofOffsets, 8, 32, OFFSETS_TABLE)
    offsetsLog = accuracy
  }
  if (p != 0 && ofMatches != REPEATED) {
    if (ofMatches == KNOWN) makeKnown(Codes.MATCHES_KNOWN, 53, 6, MATCHES_TABLE)
    else p = readGiven(p, end, ofMatches, 9, 53, MATCHES_TABLE)
    matchesLog = accuracy
  }
  const isMissing = literalsLog == NO_TABLE || offsetsLog == NO_TABLE || matchesLog == NO_TABLE
  return isMissing ? 0 : p
}

/**
 * Reads a table of one symbol, or one that is described.
 * @param most the largest accuracy
 * @param limit the number of symbols
 * @returns the address after it; 0 if it is invalid
 */
function readGiven(p: usize, end: usize, mode: u32, most: u32, limit: u32, table: usize): usize {
  if (mode != CONSTANT) return readTable(p, end, most, limit, table)
  if (p >= end || load<u8>(p) >= limit) return 0
  makeConstant(load<u8>(p), table)
  return p + 1
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
  let room = most
  let back = <u32>reach
  for (let last = count - 1, n: u32 = 0; n < count; n++) {
    const offsetBits = symbolIn(offsets)
    const matchCode = symbolIn(matches)
    const literalsCode = symbolIn(lengths)
    at -= offsetBits
    const value = ((<u32>1) << offsetBits) + bitsAt(start, at, offsetBits)
    const matchBits: u32 = load<u8>(Codes.MATCH_BITS + matchCode)
    at -= matchBits
    const match = load<u32>(Codes.MATCH_BASE + ((<usize>matchCode) << 2)) + bitsAt(start, at, matchBits)
    const literalsBits: u32 = load<u8>(Codes.LITERALS_BITS + literalsCode)
    at -= literalsBits
    const length = load<u32>(Codes.LITERALS_BASE + ((<usize>literalsCode) << 2)) + bitsAt(start, at, literalsBits)
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
  return most - room + left
}

/** The offset that a value means: itself, or one of the last three. 0 is invalid. */
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
