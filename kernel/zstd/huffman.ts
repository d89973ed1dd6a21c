/** Huffman codes of literals (RFC 8878, section 4.2). */

import { bitsAt, countBits } from './bits'
import { accuracy, baseIn, bitsIn, entryOf, readTable, symbolIn } from './fse'

/** The longest code, and the largest accuracy of the table of compressed weights. */
const LONGEST: u32 = 12
const WEIGHTS_ACCURACY: u32 = 6
const SYMBOLS: u32 = 256

const WEIGHTS: usize = memory.data(256, 16)
const WEIGHT_TABLE: usize = memory.data(4 * 64, 16)
/** Per weight, how many symbols have it, and then where the codes of the next one begin. */
const COUNTS: usize = memory.data(4 * 16, 16)
/** By the next `longest` bits, a symbol and the length of its code. */
const CODES: usize = memory.data(2 * 4096, 16)

/** The length of the longest code; 0 if there is no tree. */
let longest: u32 = 0

export function hasTree(): bool {
  return longest != 0
}

export function forgetTree(): void {
  longest = 0
}

/** Reads the description of a tree. @returns the address after it; 0 if it is invalid */
export function readTree(p: usize, end: usize): usize {
  longest = 0
  if (p >= end) return 0
  const header: u32 = load<u8>(p++)
  let count: u32 = 0
  if (header < 128) {
    end = p + header <= end ? p + header : 0
    if (end == 0) return 0
    count = readWeights(p, end)
    p = end
  } else {
    count = header - 127
    const bytes = (count + 1) >> 1
    if (p + bytes > end) return 0
    for (let i: u32 = 0; i < count; i++) {
      const pair = load<u8>(p + (i >> 1))
      store<u8>(WEIGHTS + i, i & 1 ? pair & 15 : pair >> 4)
    }
    p += bytes
  }
  return count != 0 && makeCodes(count) ? p : 0
}

/** Reads compressed weights. @returns their number; 0 if they are invalid */
function readWeights(p: usize, end: usize): u32 {
  const start = readTable(p, end, WEIGHTS_ACCURACY, SYMBOLS, WEIGHT_TABLE)
  if (start == 0) return 0
  const log = accuracy
  let at = countBits(start, end) - <i32>(2 * log)
  if (at < 0) return 0
  let one = entryOf(WEIGHT_TABLE, bitsAt(start, at + log, log))
  let other = entryOf(WEIGHT_TABLE, bitsAt(start, at, log))
  let n: u32 = 0
  // Two states take turns. Where no bits are left for the next state of one, the other one gives the last symbol. The
  // weight of the last symbol of a tree is not written.
  for (;;) {
    if (n + 2 >= SYMBOLS) return 0
    store<u8>(WEIGHTS + n++, <u8>symbolIn(one))
    const bits = bitsIn(one)
    if (at < <i32>bits) break
    at -= bits
    const next = entryOf(WEIGHT_TABLE, baseIn(one) + bitsAt(start, at, bits))
    one = other
    other = next
  }
  store<u8>(WEIGHTS + n++, <u8>symbolIn(other))
  return n
}

/** Makes the codes from `count` weights, and from the weight of the last symbol, which follows from the others. */
function makeCodes(count: u32): bool {
  memory.fill(COUNTS, 0, 4 * 16)
  let sum: u32 = 0
  for (let i: u32 = 0; i < count; i++) {
    const weight: u32 = load<u8>(WEIGHTS + i)
    if (weight > LONGEST) return false
    if (weight == 0) continue
    sum += 1 << (weight - 1)
    countWeight(weight)
  }
  if (sum == 0) return false
  const log: u32 = 32 - clz<u32>(sum)
  const left: u32 = (1 << log) - sum
  if (log > LONGEST || (left & (left - 1)) != 0) return false
  const last: u32 = 32 - clz<u32>(left)
  store<u8>(WEIGHTS + count, <u8>last)
  countWeight(last)
  // The two longest codes differ in their last bit alone.
  if (load<u32>(COUNTS, 4) < 2) return false
  let begin: u32 = 0
  for (let weight: u32 = 1; weight <= log; weight++) {
    const at = COUNTS + ((<usize>weight) << 2)
    const codes = load<u32>(at) << (weight - 1)
    store<u32>(at, begin)
    begin += codes
  }
  for (let symbol: u32 = 0; symbol <= count; symbol++) {
    const weight: u32 = load<u8>(WEIGHTS + symbol)
    if (weight == 0) continue
    const at = COUNTS + ((<usize>weight) << 2)
    const from = load<u32>(at)
    const to = from + (1 << (weight - 1))
    const code = <u16>(symbol | ((log + 1 - weight) << 8))
    for (let i = from; i < to; i++) store<u16>(CODES + ((<usize>i) << 1), code)
    store<u32>(at, to)
  }
  longest = log
  return true
}

function countWeight(weight: u32): void {
  const at = COUNTS + ((<usize>weight) << 2)
  store<u32>(at, load<u32>(at) + 1)
}

/** Decodes the `length` symbols of a stream, which must be all that it has. @returns whether they are */
export function decodeStream(start: usize, end: usize, to: usize, length: u32): bool {
  let at = countBits(start, end)
  if (at < 0) return false
  const log = <i32>longest
  const mask = <u64>((1 << log) - 1)
  const stop = to + length
  // Four codes have at most 48 of the 56 bits that are read at a time.
  while (at >= 56 && to + 4 <= stop) {
    const from = at - 56
    const word = load<u64>(start + <usize>(from >> 3)) >> (<u64>(from & 7))
    let bit = 56 - log
    for (let i = 0; i < 4; i++) {
      const code = codeAt((word >> (<u64>bit)) & mask)
      store<u8>(to++, <u8>code)
      bit -= <i32>(code >> 8)
    }
    at = from + bit + log
  }
  while (to < stop) {
    // Before the start there are zeros.
    const bits = at >= log ? bitsAt(start, at - log, log) : at <= 0 ? 0 : bitsAt(start, 0, at) << (log - at)
    const code = codeAt(bits)
    store<u8>(to++, <u8>code)
    at -= <i32>(code >> 8)
    if (at < 0) return false
  }
  return at == 0
}

function codeAt(bits: u64): u32 {
  return load<u16>(CODES + ((<usize>bits) << 1))
}
