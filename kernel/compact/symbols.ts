/**
 * Prediction of the next event. An event's symbol identifies its descriptor or, for a free, the class of its block:
 * twice the number of the descriptor, plus 1 for a free. A realloc has two symbols. Symbol 0 announces a new
 * descriptor, and symbol 2 an address that the simulated allocator did not expect.
 */

import { bornAt, newestBlock, older, younger } from './blocks'
import { blockAt } from './block'
import { CANDIDATES, candidates, clearCandidates, propose, SOURCES, TRUST } from './candidates'
import { bit, entryAt, freshen, mixed, pairBit } from './coder'
import { classAt, codeTarget, noteExpected } from './classes'
import { descriptorCount } from './descriptors'
import { codeFree, resetFrees } from './frees'
import { isKept, Past, pastAt, sequence } from './history'
import { BEST } from './level'
import { learn, Slot, slotAt } from './slots'
import { codeBest, ended, endedBy, isImpossible } from './best/symbols'
import { Thread } from './thread'

/** The address is not the expected one. */
export const SURPRISE: u32 = 2

/** Two likely symbols after the last one, two or four. */
const AFTER_ONE: usize = memory.data(524_288)
const AFTER_TWO: usize = memory.data(131_072)
const AFTER_FOUR: usize = memory.data(131_072)
const SLOT_SHIFT: u32 = 18

const FIRST: usize = memory.data(65_536)
const SECOND: usize = memory.data(65_536)
const WHOLE_FIRST: usize = memory.data(16_384)
const WHOLE_SECOND: usize = memory.data(65_536)
const TREES: usize = memory.data(524_288)
const IS_FREE: usize = memory.data(8)

const TRIES: u32 = 4

/**
 * The numbers of matched symbols from which one decision covers the whole event, and from which the tables are not
 * updated.
 */
const SURE: u32 = 8
const CERTAIN: u32 = 24

/** The block that the coded free ends, and the descriptor of the free. */
export let target: u32 = 0
export let free: u32 = 0
/** Whether what was read is impossible. */
export let isWrong: bool = false

export function resetSymbols(): void {
  resetFrees()
  if (BEST) return
  memory.fill(AFTER_ONE, 0, 524_288)
  memory.fill(AFTER_TWO, 0, 131_072)
  memory.fill(AFTER_FOUR, 0, 131_072)
  freshen(FIRST, 16_384)
  freshen(SECOND, 16_384)
  freshen(WHOLE_FIRST, 4096)
  freshen(WHOLE_SECOND, 16_384)
  freshen(TREES, 131_072)
  freshen(IS_FREE, 2)
}

/**
 * Codes a symbol and, for a free, the block that it ends (`target`) and its descriptor (`free`).
 * @param symbol the symbol, for the encoder; so are `block` and `freeing`
 * @param freeing the descriptor of a free; 0 if it is the second symbol of a realloc
 * @param known the descriptor of a free that is known to be next, because it is new; otherwise 0
 * @param isSecond whether it is the second symbol of a realloc
 * @returns the symbol
 */
export function codeSymbol(t: Thread, symbol: u32, block: u32, freeing: u32, known: u32, isSecond: bool): u32 {
  isWrong = false
  if (BEST) {
    const s = codeBest(t, symbol, block, freeing, known, isSecond)
    target = ended
    free = endedBy
    if (isImpossible) isWrong = true
    return s
  }
  const past = isKept(t.match) ? pastAt(t.match) : changetype<Past>(0)
  const hasPast = changetype<usize>(past) != 0
  // The block that the match expects to end.
  let expected: u32 = hasPast && (past.symbol & 1) != 0 ? bornAt(sequence - past.age) : 0
  let tried: u32 = 0
  if (hasPast && t.matched >= SURE && known == 0) {
    const s = past.symbol
    let guess: u32 = 0
    let isUsable = true
    if ((s & 1) != 0) {
      const c = s >> 1
      if (expected != 0 && blockAt(expected).class == c) guess = expected
      else if (classAt(c).live == 1) guess = load<u32>(classAt(c).blocks + ((<usize>(classAt(c).end - 1)) << 2))
      else isUsable = false
      if (isUsable && (past.free != 0) == isSecond) isUsable = false
    }
    if (isUsable) {
      tried = 1
      const length: u32 = t.matched < 16 ? 0 : t.matched < 32 ? 1 : t.matched < 400 ? 2 : 3
      const first = (((length << 6) | (t.misses & 63)) << 2) | ((s & 1) << 1) | (guess != expected ? 1 : 0)
      const isRight = symbol == s && ((s & 1) == 0 || (block == guess && freeing == past.free)) ? 1 : 0
      const second = entryAt(WHOLE_SECOND, t.h2, s)
      if (pairBit(isRight, WHOLE_FIRST + ((<usize>first) << 2), second, 14 + (s & 1)) != 0) {
        if (guess != 0) noteExpected(s >> 1, guess)
        if (t.matched < CERTAIN) learnAll(t, s)
        target = guess
        free = past.free
        return s
      }
    }
  }
  const s = codeCandidates(t, symbol, hasPast ? past.symbol : 0, hasPast, tried)
  target = 0
  free = 0
  if ((s & 1) == 0) return s
  const c = s >> 1
  if (classAt(c).live == 0) {
    isWrong = true
    return s
  }
  if (expected != 0 && blockAt(expected).class != c) expected = 0
  const neighbour = t.freed != 0 ? younger(t.freed) : 0
  target = codeTarget(t, c, block, expected, neighbour)
  if (target == 0) isWrong = true
  else if (!isSecond) {
    free = known != 0 ? known : codeFree(t, c, freeing)
    if (free == 0) isWrong = true
  }
  return s
}

function learnAll(t: Thread, symbol: u32): void {
  learn(slotAt(AFTER_FOUR, mixed(t.h3, t.s4), SLOT_SHIFT), <u16>symbol)
  learn(slotAt(AFTER_TWO, t.h2, SLOT_SHIFT), <u16>symbol)
  learn(changetype<Slot>(AFTER_ONE + ((<usize>(t.s1 & 0xffff)) << 3)), <u16>symbol)
}

function codeCandidates(t: Thread, symbol: u32, matched: u32, hasMatch: bool, tried: u32): u32 {
  const four = slotAt(AFTER_FOUR, mixed(t.h3, t.s4), SLOT_SHIFT)
  const two = slotAt(AFTER_TWO, t.h2, SLOT_SHIFT)
  const one = changetype<Slot>(AFTER_ONE + ((<usize>(t.s1 & 0xffff)) << 3))
  clearCandidates()
  if (hasMatch && matched > 2) propose(matched, 0, min<u32>(t.matched, 15))
  if (four.firstCount != 0) propose(four.first, 1, four.firstCount)
  if (two.firstCount != 0) propose(two.first, 2, two.firstCount)
  if (one.firstCount != 0) propose(one.first, 3, one.firstCount)
  if (four.secondCount != 0) propose(four.second, 4, four.secondCount)
  if (two.secondCount != 0) propose(two.second, 4, two.secondCount)
  if (one.secondCount != 0) propose(one.second, 5, one.secondCount)
  const trust = 12 + (t.s1 & 1)
  const next = t.freed != 0 ? younger(t.freed) : 0
  const newest = newestBlock()
  const before = t.freed != 0 ? older(t.freed) : 0
  if (next != 0) propose(blockAt(next).class * 2 + 1, 6, trust)
  if (newest != 0 && newest != next) propose(blockAt(newest).class * 2 + 1, 7, trust)
  if (before != 0) propose(blockAt(before).class * 2 + 1, 8, trust)
  const tries = min<u32>(candidates, TRIES)
  let found = u32.MAX_VALUE
  for (let i: u32 = 0; i < tries; i++) {
    const candidate = load<u32>(CANDIDATES + ((<usize>i) << 2))
    const proof = (load<u32>(SOURCES + ((<usize>i) << 2)) << 4) | load<u32>(TRUST + ((<usize>i) << 2))
    const first = entryAt(FIRST, proof, i * 8 + tried * 2 + (candidate & 1))
    const second = entryAt(SECOND, t.s1, candidate * 4 + (i > 0 ? 1 : 0))
    if (pairBit(candidate == symbol ? 1 : 0, first, second, 2 + i * 2 + (candidate & 1)) == 0) continue
    found = candidate
    break
  }
  if (found == u32.MAX_VALUE) found = codeRare(symbol)
  if (found > SURPRISE) {
    learn(four, <u16>found)
    learn(two, <u16>found)
    learn(one, <u16>found)
  }
  return found
}

/** Codes a symbol that no source proposed. */
function codeRare(symbol: u32): u32 {
  const isFree = bit(symbol & 1, IS_FREE)
  const bits = 32 - clz<u32>(descriptorCount)
  const tree = TREES + ((<usize>isFree) << 18)
  const n = symbol >> 1
  let node: u32 = 1
  for (let i = <i32>bits - 1; i >= 0; i--)
    node = (node << 1) | bit((n >> i) & 1, tree + ((<usize>(node & 0xffff)) << 2))
  const read = (node & ((1 << bits) - 1)) * 2 + isFree
  if (read >> 1 >= max<u32>(2, descriptorCount) || (isFree != 0 && read < 4)) {
    isWrong = true
    return isFree
  }
  return read
}
