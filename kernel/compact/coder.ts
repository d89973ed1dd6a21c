/**
 * The range coder: binary decisions with a probability, to bytes and from bytes. The model runs the same code in both
 * directions; `bit` returns the decision that was passed, or the decision that was read.
 *
 * A counter is a word: the probability of a 1 in 22 bits, then the number of decisions seen in 10 bits.
 */

import { GROWING, GrowingTable } from '../shared/grow'

/** The initial value of a counter. */
export const FRESH: u32 = 0x8000_0000
/**
 * The numbers of decisions after which the adaptation rate of a counter remains constant: for counters of pairs, and
 * for others.
 */
const PAIR_LIMIT: u32 = 250
const LIMIT: u32 = 60

/** 32768 / (n + 1.6): the adaptation rate of a counter after n decisions. */
const RATES: usize = memory.data(1024)
/** The level of each of 4096 probabilities. */
const LEVELS: usize = memory.data(4096)
/** A counter for each pair of levels, by kind of decision. */
const SORTS: u32 = 64
const PAIRS: usize = memory.data(65_536)

/** The least probability, in 1/4096, of levels 1 to 15: the logistic function at (level - 8) * 1.15625. */
const LEVEL_FROM: StaticArray<u16> = [1, 4, 13, 40, 124, 369, 980, 2048, 3116, 3727, 3972, 4056, 4083, 4092, 4095]
/**
 * The initial probability of a pair of levels, by their sum: the logistic function at (sum - 15) * 0.69375, in
 * 1/4194304.
 */
const PAIR_START: StaticArray<u32> = [
  126, 253, 507, 1016, 2033, 4067, 8131, 16242, 32378, 64298, 126729, 246164, 465285, 838051, 1397539, 2097151, 2796763,
  3356251, 3729017, 3948138, 4067573, 4130004, 4161924, 4178060, 4186171, 4190235, 4192269, 4193286, 4193795, 4194049,
  4194176,
]

/** Whether decisions are written. */
export let isEncoding: bool = false
/** The number of bytes read beyond the payload. More than a few mean that the payload is damaged. */
export let overrun: u32 = 0
/** Memory for the payload was exhausted. */
export let isOutOfRoom: bool = false

let low: u64 = 0
let range: u32 = 0
let code: u32 = 0
/** The last byte that a carry may still change, and the number of bytes from it through the 0xff bytes after it. */
let cache: u32 = 0
let pending: u32 = 0

/** The payload that is written, and the least room for one. */
const written = changetype<GrowingTable>(memory.data(GROWING))
const LEAST_ROOM: u64 = 65_536
/** The next byte of the payload that is written or read, and its end. */
let at: usize = 0
let end: usize = 0

/** Resets all probabilities to their initial values. */
export function resetCoder(): void {
  isOutOfRoom = false
  for (let n: u32 = 0; n < 256; n++) store<u32>(RATES + ((<usize>n) << 2), 327_680 / (10 * n + 16))
  let level: u8 = 0
  for (let p: u32 = 0; p < 4096; p++) {
    while (level < 15 && p >= <u32>unchecked(LEVEL_FROM[level])) level++
    store<u8>(LEVELS + p, level)
  }
  for (let sort: u32 = 0; sort < SORTS; sort++) {
    for (let pair: u32 = 0; pair < 256; pair++)
      store<u32>(PAIRS + ((<usize>((sort << 8) | pair)) << 2), unchecked(PAIR_START[(pair >> 4) + (pair & 15)]) << 10)
  }
}

/** Begins to write a payload. */
export function beginWriting(): void {
  if (!written.extend(LEAST_ROOM)) {
    isOutOfRoom = true
    return
  }
  isEncoding = true
  overrun = 0
  at = written.at
  end = at + ((<usize>1) << written.log)
  low = 0
  range = 0xffff_ffff
  cache = 0
  pending = 1
}

/** Begins to read the payload of `length` bytes at an address. */
export function beginReading(payload: usize, length: u32): void {
  isEncoding = false
  at = payload
  end = payload + length
  overrun = 0
  range = 0xffff_ffff
  code = 0
  for (let i = 0; i < 4; i++) code = (code << 8) | nextByte()
}

/** The address of the payload that was written. Its first byte is always zero and not part of it. */
export function payloadStart(): usize {
  return written.at + 1
}

/** The number of bytes written so far. */
export function payloadLength(): u32 {
  return <u32>(at - written.at) + pending
}

/** Completes the payload. @returns its length; readers must continue it with zeros */
export function endWriting(): u32 {
  // The interval contains a multiple of 2^24, whose lower bytes need not be written.
  low = (low + 0xff_ffff) & ~0xff_ffff
  shift()
  shift()
  return <u32>(at - written.at) - 1
}

/** Whether the reader is so far beyond the payload that it must be damaged, so that it is useless to go on. */
export function isOver(): bool {
  return overrun > 16
}

function nextByte(): u32 {
  if (at < end) return load<u8>(at++)
  overrun++
  return 0
}

function put(byte: u32): void {
  if (at == end) {
    const length = at - written.at
    if (written.extend((<u64>length) << 1)) {
      at = written.at + length
      end = at + length
    } else {
      isOutOfRoom = true
      at = written.at
    }
  }
  store<u8>(at++, byte)
}

function shift(): void {
  if (<u32>low < 0xff00_0000 || low >> 32 != 0) {
    const carry = <u32>(low >> 32)
    put(cache + carry)
    for (; pending > 1; pending--) put(0xff + carry)
    pending = 0
    cache = (<u32>low) >> 24
  }
  pending++
  low = (low & 0xff_ffff) << 8
}

/** Codes a decision whose probability to be 1 is p / 65536. */
// @ts-ignore: decorator
@inline
export function decide(y: u32, p: u32): u32 {
  const bound = <u32>((<u64>range * <u64>p) >> 16)
  if (isEncoding) {
    if (y != 0) range = bound
    else {
      low += bound
      range -= bound
    }
    while (range < 1 << 24) {
      range <<= 8
      shift()
    }
    return y
  }
  if (code < bound) {
    range = bound
    y = 1
  } else {
    code -= bound
    range -= bound
    y = 0
  }
  while (range < 1 << 24) {
    range <<= 8
    code = (code << 8) | nextByte()
  }
  return y
}

function bounded(p: u32): u32 {
  return min<u32>(max<u32>(p, 6), 65_530)
}

/** The new value of a counter after another decision. */
function adapted(counter: u32, y: u32, most: u32): u32 {
  const n = counter & 1023
  const p = <i32>(counter >> 10)
  const goal = y != 0 ? 0x3f_ffff : 0
  const moved = p + ((((goal - p) >> 6) * <i32>load<u32>(RATES + ((<usize>n) << 2))) >> 9)
  return ((<u32>max<i32>(moved, 0)) << 10) | (n < most ? n + 1 : n)
}

/** Codes a decision without a model. */
export function plainBit(y: u32): u32 {
  return decide(y, 32_768)
}

/** Codes a decision by one counter. */
export function bit(y: u32, counter: usize): u32 {
  const seen = load<u32>(counter)
  y = decide(y, bounded(seen >> 16))
  store<u32>(counter, adapted(seen, y, LIMIT))
  return y
}

/** Codes a decision by two counters of different contexts, whose pair selects a third counter with the probability. */
export function pairBit(y: u32, first: usize, second: usize, sort: u32): u32 {
  const a = load<u32>(first)
  const b = load<u32>(second)
  const level = ((<u32>load<u8>(LEVELS + (a >> 20))) << 4) | load<u8>(LEVELS + (b >> 20))
  const pair = PAIRS + ((<usize>((sort << 8) | level)) << 2)
  const seen = load<u32>(pair)
  y = decide(y, bounded(seen >> 16))
  store<u32>(pair, adapted(seen, y, PAIR_LIMIT))
  store<u32>(first, adapted(a, y, PAIR_LIMIT))
  store<u32>(second, adapted(b, y, LIMIT))
  return y
}

/** Resets counters to their initial value. */
export function freshen(counters: usize, n: u32): void {
  const to = counters + ((<usize>n) << 2)
  for (; counters < to; counters += 8) store<u64>(counters, 0x8000_0000_8000_0000)
}

/** A hash of two words. */
export function mixed(a: u32, b: u32): u32 {
  const x = (a ^ (b * 0x9e37_79b1)) * 0x85eb_ca6b
  return x ^ (x >> 15)
}

/** The entry at the hash of two words, in a table of 2^14 words. */
// @ts-ignore: decorator
@inline
export function entryAt(table: usize, a: u32, b: u32): usize {
  return table + ((<usize>(mixed(a, b) >> 18)) << 2)
}

/** Codes a number of a few bits by a tree of counters. */
export function codeTree(value: u32, bits: i32, counters: usize): u32 {
  let node: u32 = 1
  for (let i = bits - 1; i >= 0; i--) node = (node << 1) | bit((value >> i) & 1, counters + ((<usize>node) << 2))
  return node & ((1 << bits) - 1)
}
