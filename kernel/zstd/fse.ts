/** Tables of finite state entropy (RFC 8878, section 4.1.1). */

/** Per symbol, its probability; -1 is one that is less than 1. */
const PROBABILITIES: usize = memory.data(2 * 256, 16)
/** Per symbol, what its next state adds. */
const NEXT: usize = memory.data(2 * 256, 16)

/** The accuracy of the table that was read last: its number of states is 2 to the power of it. */
export let accuracy: u32 = 0

/** An entry of a table: the symbol of a state, and how many bits to add to which number for the next state. */
export function entryOf(table: usize, state: u32): u32 {
  return load<u32>(table + ((<usize>state) << 2))
}

export function symbolIn(entry: u32): u32 {
  return entry & 0xff
}

export function bitsIn(entry: u32): u32 {
  return (entry >> 8) & 0xff
}

export function baseIn(entry: u32): u32 {
  return entry >> 16
}

/** A table with one state, which needs no bits. */
export function makeConstant(symbol: u32, table: usize): void {
  accuracy = 0
  store<u32>(table, symbol)
}

/** A table of known probabilities, which are signed bytes. */
export function makeKnown(known: usize, symbols: u32, log: u32, table: usize): void {
  for (let s: u32 = 0; s < symbols; s++) setProbability(s, load<i8>(known + s))
  accuracy = log
  build(symbols, table)
}

/**
 * Reads a table.
 * @param most the largest accuracy
 * @param limit the largest number of symbols
 * @returns the address after its description; 0 if it is invalid
 */
export function readTable(p: usize, end: usize, most: u32, limit: u32, table: usize): usize {
  if (p >= end) return 0
  accuracy = (load<u8>(p) & 15) + 5
  if (accuracy > most) return 0
  const bitEnd = (<u32>(end - p)) << 3
  let at: u32 = 4
  let left: i32 = 1 << accuracy
  let symbols: u32 = 0
  while (left > 0) {
    if (symbols >= limit || at > bitEnd) return 0
    // A number from 0 to left + 1. Small ones take a bit less where there are more values than numbers.
    const wide = 32 - clz<u32>(left + 1)
    const word = load<u64>(p + (at >> 3)) >> (at & 7)
    const low = (<i32>word) & ((1 << (wide - 1)) - 1)
    const spare = (1 << wide) - 2 - left
    let value = (<i32>word) & ((1 << wide) - 1)
    if (low < spare) {
      value = low
      at += wide - 1
    } else {
      if (value >= 1 << (wide - 1)) value -= spare
      at += wide
    }
    const probability = value - 1
    left -= probability < 0 ? 1 : probability
    setProbability(symbols++, <i16>probability)
    if (probability != 0) continue
    for (let repeats: u32 = 3; repeats == 3;) {
      if (at > bitEnd) return 0
      repeats = (<u32>(load<u64>(p + (at >> 3)) >> (at & 7))) & 3
      at += 2
      if (symbols + repeats > limit) return 0
      for (let i: u32 = 0; i < repeats; i++) setProbability(symbols++, 0)
    }
  }
  if (left < 0 || at > bitEnd) return 0
  build(symbols, table)
  return p + ((at + 7) >> 3)
}

function setProbability(symbol: u32, probability: i16): void {
  store<i16>(PROBABILITIES + ((<usize>symbol) << 1), probability)
}

/** Makes the table of `accuracy` from the probabilities. */
function build(symbols: u32, table: usize): void {
  const size: u32 = 1 << accuracy
  let high = size
  for (let s: u32 = 0; s < symbols; s++) {
    const probability = load<i16>(PROBABILITIES + ((<usize>s) << 1))
    store<u16>(NEXT + ((<usize>s) << 1), probability < 0 ? 1 : <u16>probability)
    if (probability < 0) store<u32>(table + ((<usize>--high) << 2), s)
  }
  const step = (size >> 1) + (size >> 3) + 3
  let position: u32 = 0
  for (let s: u32 = 0; s < symbols; s++) {
    const probability = load<i16>(PROBABILITIES + ((<usize>s) << 1))
    for (let i: i32 = 0; i < <i32>probability; i++) {
      store<u32>(table + ((<usize>position) << 2), s)
      do {
        position = (position + step) & (size - 1)
      } while (position >= high)
    }
  }
  for (let state: u32 = 0; state < size; state++) {
    const at = table + ((<usize>state) << 2)
    const symbol = load<u32>(at)
    const next = NEXT + ((<usize>symbol) << 1)
    const value: u32 = load<u16>(next)
    store<u16>(next, <u16>(value + 1))
    const bits = accuracy - (31 - clz<u32>(value))
    store<u32>(at, symbol | (bits << 8) | (((value << bits) - size) << 16))
  }
}
