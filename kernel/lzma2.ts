/**
 * Decodes the chunks of LZMA2. Their content goes to a dictionary, from which the caller copies it. The input contains
 * one chunk at a time. See lib/compression/unxz.ts.
 */

import { CHUNK } from '../lib/kernel/layouts/lzma2'

/** Room for what a damaged chunk reads beyond its end. */
const BEYOND: usize = 64
export const INPUT: usize = memory.data(CHUNK + 64, 16)

// Probabilities, of 16 bits each.
const STATES: usize = 12
const IS_MATCH: usize = memory.data(2 * 12 * 16)
const IS_REP: usize = memory.data(2 * 12)
const IS_REP_0: usize = memory.data(2 * 12)
const IS_REP_1: usize = memory.data(2 * 12)
const IS_REP_2: usize = memory.data(2 * 12)
const IS_REP_0_LONG: usize = memory.data(2 * 12 * 16)
const SLOTS: usize = memory.data(2 * 4 * 64)
const SPECIAL: usize = memory.data(2 * 128)
const ALIGN: usize = memory.data(2 * 16)
/** Two choices, and 16 trees for short lengths, 16 for medium ones and one for long ones. */
const LENGTHS: usize = memory.data(2 * (2 + 16 * 8 + 16 * 8 + 256))
const REP_LENGTHS: usize = memory.data(2 * (2 + 16 * 8 + 16 * 8 + 256))
const LITERALS: usize = memory.data(2 * 0x300 * 16)
const LENGTH_PROBABILITIES: usize = 2 + 16 * 8 + 16 * 8 + 256

const EVEN: u16 = 1024
const TOP: u32 = 1 << 24

// The range coder.
let range: u32
let code: u32
let at: usize
let end: usize

// The dictionary.
let dictionary: usize
let size: u32
/** The place of the next byte. */
let place: u32
/** The number of bytes written since the last reset. */
let total: u64

// The state of the decoder.
let state: u32
let rep0: u32
let rep1: u32
let rep2: u32
let rep3: u32
let lc: u32
let lpMask: u32
let pbMask: u32
/** The number of bytes of a match that have not been copied yet. */
let pending: u32

/** The fault that `decode` found. */
export let isCorrupt: bool = false

/**
 * Makes room for a dictionary of this many bytes.
 * @returns its address; 0 if there is not enough memory
 */
export function makeDictionary(bytes: u32): usize {
  if (dictionary == 0) dictionary = (<usize>memory.size()) << 16
  const pages = <i32>((dictionary + bytes + 0xffff) >> 16) - memory.size()
  if (pages > 0 && memory.grow(pages) < 0) return 0
  // checked: rooms.close(dictionary, size)
  // checked: rooms.open(dictionary, bytes)
  size = bytes
  resetDictionary()
  return dictionary
}

export function resetDictionary(): void {
  place = 0
  total = 0
  pending = 0
}

/** Sets the properties byte of a chunk. @returns false if it is invalid */
export function setProperties(byte: u32): bool {
  if (byte >= 225) return false
  const pb = byte / 45
  const lp = (byte / 9) % 5
  lc = byte % 9
  if (lc + lp > 4) return false
  lpMask = (1 << lp) - 1
  pbMask = (1 << pb) - 1
  return true
}

export function resetState(): void {
  state = 0
  rep0 = rep1 = rep2 = rep3 = 0
  evenOut(IS_MATCH, STATES * 16)
  evenOut(IS_REP, STATES)
  evenOut(IS_REP_0, STATES)
  evenOut(IS_REP_1, STATES)
  evenOut(IS_REP_2, STATES)
  evenOut(IS_REP_0_LONG, STATES * 16)
  evenOut(SLOTS, 4 * 64)
  evenOut(SPECIAL, 128)
  evenOut(ALIGN, 16)
  evenOut(LENGTHS, LENGTH_PROBABILITIES)
  evenOut(REP_LENGTHS, LENGTH_PROBABILITIES)
  evenOut(LITERALS, 0x300 * 16)
}

function evenOut(probabilities: usize, count: usize): void {
  for (let i: usize = 0; i < count; i++) store<u16>(probabilities + 2 * i, EVEN)
}

/** Begins a compressed chunk of this many bytes, at least five, in the input. */
export function begin(bytes: u32): void {
  memory.fill(INPUT + bytes, 0, min(BEYOND, CHUNK + BEYOND - bytes))
  end = INPUT + bytes
  range = 0xffffffff
  code = bswap<u32>(load<u32>(INPUT + 1))
  isCorrupt = load<u8>(INPUT) != 0
  at = INPUT + 5
}

/** The place in the dictionary where the next bytes go. */
export function nextPlace(): u32 {
  if (place == size) place = 0
  return place
}

/**
 * Copies bytes of a chunk that is not compressed, from the input on.
 * @returns the number of bytes, up to the dictionary's end
 */
export function copy(from: u32, bytes: u32): u32 {
  const n = min(bytes, size - nextPlace())
  memory.copy(dictionary + place, INPUT + from, n)
  place += n
  total += n
  return n
}

/**
 * Decodes up to this many bytes of the chunk, as far as the dictionary's end.
 * @returns their number; fewer than requested before that end only if the chunk is corrupt
 */
export function decode(wanted: u32): u32 {
  const from = nextPlace()
  const limit = from + min(wanted, size - from)
  if (isCorrupt) return 0
  repeat(limit)
  while (place < limit) {
    const position = (<u32>total) & pbMask
    if (bit(IS_MATCH + 2 * ((state << 4) + position)) == 0) {
      literal()
    } else {
      const length = bit(IS_REP + 2 * state) == 0 ? match(position) : repeated(position)
      if (rep0 >= total || rep0 >= size) isCorrupt = true
      else pending = length
    }
    if (at > end) isCorrupt = true
    if (isCorrupt) break
    repeat(limit)
  }
  return place - from
}

/** Whether the chunk and its contents end together. */
export function isFinished(): bool {
  normalize()
  return at == end && code == 0 && pending == 0 && !isCorrupt
}

/** Copies the pending rest of a match. */
function repeat(limit: u32): void {
  const n = min(pending, limit - place)
  if (n == 0) return
  pending -= n
  total += n
  const distance = rep0 + 1
  let from = place >= distance ? place - distance : place + size - distance
  for (const stop = place + n; place < stop; place++) {
    store<u8>(dictionary + place, load<u8>(dictionary + from))
    if (++from == size) from = 0
  }
}

function literal(): void {
  const last: u32 = total == 0 ? 0 : load<u8>(dictionary + (place == 0 ? size : place) - 1)
  const context = (((<u32>total) & lpMask) << lc) + (last >> (8 - lc))
  const tree = LITERALS + 2 * 0x300 * context
  let symbol: u32 = 1
  if (state >= 7) {
    const distance = rep0 + 1
    let matched = <u32>load<u8>(dictionary + (place >= distance ? place - distance : place + size - distance))
    let offset: u32 = 0x100
    while (symbol < 0x100) {
      matched <<= 1
      const expected = matched & offset
      const got = bit(tree + 2 * (offset + expected + symbol))
      symbol = (symbol << 1) | got
      offset &= got == 0 ? ~expected : expected
    }
  }
  while (symbol < 0x100) symbol = (symbol << 1) | bit(tree + 2 * symbol)
  store<u8>(dictionary + place++, symbol)
  total++
  state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6
}

/** A match at a new distance. @returns its length */
function match(position: u32): u32 {
  rep3 = rep2
  rep2 = rep1
  rep1 = rep0
  const length = matchLength(LENGTHS, position)
  state = state < 7 ? 7 : 10
  const slot = tree(SLOTS + 2 * 64 * min(length - 2, 3), 6)
  if (slot < 4) {
    rep0 = slot
    return length
  }
  const bits = (slot >> 1) - 1
  rep0 = (2 | (slot & 1)) << bits
  if (slot < 14) {
    rep0 += reverseTree(SPECIAL + 2 * (rep0 - slot), bits)
  } else {
    rep0 += direct(bits - 4) << 4
    rep0 += reverseTree(ALIGN, 4)
  }
  return length
}

/** A match at one of the last distances. @returns its length */
function repeated(position: u32): u32 {
  if (bit(IS_REP_0 + 2 * state) == 0) {
    if (bit(IS_REP_0_LONG + 2 * ((state << 4) + position)) == 0) {
      state = state < 7 ? 9 : 11
      return 1
    }
  } else {
    let distance = rep1
    if (bit(IS_REP_1 + 2 * state) != 0) {
      distance = rep2
      if (bit(IS_REP_2 + 2 * state) != 0) {
        distance = rep3
        rep3 = rep2
      }
      rep2 = rep1
    }
    rep1 = rep0
    rep0 = distance
  }
  state = state < 7 ? 8 : 11
  return matchLength(REP_LENGTHS, position)
}

function matchLength(lengths: usize, position: u32): u32 {
  const short = lengths + 2 * (2 + 8 * position)
  if (bit(lengths) == 0) return 2 + tree(short, 3)
  if (bit(lengths + 2) == 0) return 10 + tree(short + 2 * 128, 3)
  return 18 + tree(lengths + 2 * (2 + 256), 8)
}

function tree(probabilities: usize, bits: u32): u32 {
  let symbol: u32 = 1
  for (let i: u32 = 0; i < bits; i++) symbol = (symbol << 1) | bit(probabilities + 2 * symbol)
  return symbol - (1 << bits)
}

/** The same with the lowest bit first. */
function reverseTree(probabilities: usize, bits: u32): u32 {
  let symbol: u32 = 1
  let value: u32 = 0
  for (let i: u32 = 0; i < bits; i++) {
    const got = bit(probabilities + 2 * symbol)
    symbol = (symbol << 1) | got
    value |= got << i
  }
  return value
}

/** Bits that are as likely 0 as 1. */
function direct(bits: u32): u32 {
  let value: u32 = 0
  for (let i: u32 = 0; i < bits; i++) {
    normalize()
    range >>= 1
    const got: u32 = code >= range ? 1 : 0
    if (got != 0) code -= range
    value = (value << 1) | got
  }
  return value
}

function bit(probability: usize): u32 {
  normalize()
  const p = <u32>load<u16>(probability)
  const bound = (range >> 11) * p
  if (code < bound) {
    range = bound
    store<u16>(probability, p + ((2048 - p) >> 5))
    return 0
  }
  range -= bound
  code -= bound
  store<u16>(probability, p - (p >> 5))
  return 1
}

// @ts-ignore: decorator
@inline
function normalize(): void {
  if (range < TOP) {
    range <<= 8
    code = (code << 8) | load<u8>(at++)
  }
}

const CRC64_TABLE: usize = memory.data(8 * 256, 8)
const CRC64_POLYNOMIAL: u64 = 0xc96c5795d7870f42
export let crc64: u64 = 0

export function resetCrc64(): void {
  crc64 = 0
  if (load<u64>(CRC64_TABLE + 8) != 0) return
  for (let i: u64 = 0; i < 256; i++) {
    let word = i
    for (let k = 0; k < 8; k++) word = (word & 1) != 0 ? (word >> 1) ^ CRC64_POLYNOMIAL : word >> 1
    store<u64>(CRC64_TABLE + 8 * <usize>i, word)
  }
}

/** Adds bytes of the dictionary to the checksum. */
export function updateCrc64(from: usize, bytes: u32): void {
  let word = ~crc64
  for (const stop = from + bytes; from < stop; from++)
    word = load<u64>(CRC64_TABLE + 8 * <usize>((word ^ load<u8>(from)) & 0xff)) ^ (word >> 8)
  crc64 = ~word
}
