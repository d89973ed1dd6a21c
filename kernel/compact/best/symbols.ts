/**
 * Codes the next event's symbol, for the best level: whether the match is right about the whole event; whether the
 * event is a free; then the block that it ends, or its descriptor. A realloc has the symbol of its descriptor, and a
 * block.
 */

import { bornAt } from '../blocks'
import { blockAt } from '../block'
import { ALL, classAt, newestOfClass } from '../classes'
import { mixed } from '../coder'
import { descriptorCount, freeCount } from '../descriptors'
import { isKept, Past, pastAt, sequence } from '../history'
import { learn, Slot, slotAt } from '../slots'
import { codeFree } from '../frees'
import { CANDIDATES, candidates, clearCandidates, NEW_DESCRIPTOR, propose, SOURCES } from '../candidates'
import { Thread } from '../thread'
import { ask, context, mix } from './mixer'
import { mixedTree } from './numbers'
import { CANDIDATE, IS_FREE, IS_KNOWN, RARE, WHOLE } from './selectors'
import { codeTarget } from './targets'

/** The number of matched symbols from which on one decision covers the whole event. */
const SURE: u32 = 8

/** The likely descriptors after the last five, three, two and one symbols. */
const ORDERS: u32 = 4
const SLOTS: usize = memory.data(2_097_152)
const SLOT_BYTES: u32 = 524_288
const SLOT_SHIFT: u32 = 16
/** The slots of the event. */
const HERE: usize = memory.data(16)

/** The maximum number of candidates that are decided. */
const TRIES: u32 = 6

/** For a free: the block that the symbol ends, and its descriptor. `isImpossible`: no encoder writes what was read. */
export let ended: u32 = 0
export let endedBy: u32 = 0
export let isImpossible: bool = false

export function resetBestSymbols(): void {
  memory.fill(SLOTS, 0, ORDERS * SLOT_BYTES)
}

/** The confidence in a match, 1 to 12. */
function trustOf(matched: u32): u32 {
  if (matched < 8) return max<u32>(matched, 1)
  // 8 from 8 on, and 1 more from 16, 32, 64 and 256 on.
  return matched < 256 ? min<u32>(36 - clz<u32>(matched), 11) : 12
}

/** The same as `codeSymbol` of ../symbols.ts. */
export function codeBest(t: Thread, symbol: u32, block: u32, freeing: u32, known: u32, isSecond: bool): u32 {
  isImpossible = false
  ended = 0
  endedBy = 0
  const past = isKept(t.match) ? pastAt(t.match) : changetype<Past>(0)
  const hasPast = changetype<usize>(past) != 0
  // The block that the match expects to end.
  const expected: u32 = hasPast && past.age != 0 ? bornAt(sequence - past.age) : 0
  const trust = hasPast ? trustOf(t.matched) : 0
  const isSure = hasPast && t.matched >= SURE
  if (known != 0 || isSecond) return codeBlock(t, block, freeing, known, isSecond, expected, false, isSure)
  let failed: u32 = 0
  if (isSure) {
    const s = past.symbol
    if ((s & 1) == 0 || (expected != 0 && blockAt(expected).class == s >> 1 && past.free != 0)) {
      const isRight: u32 = symbol == s && ((s & 1) == 0 || (block == expected && freeing == past.free)) ? 1 : 0
      if (codeWhole(isRight, t, s, expected) != 0) {
        if ((s & 1) != 0) {
          ended = expected
          endedBy = past.free
        } else learnDescriptor(t, s)
        return s
      }
      failed = 1
    }
  }
  const matched: u32 = hasPast ? (past.symbol & 1) + 1 + failed * 2 : 0
  if (classAt(ALL).live != 0 && codeIsFree(symbol & 1, t, matched, trust) != 0) {
    const isExcluded = failed != 0 && (past.symbol & 1) != 0 && freeCount == 1
    return codeBlock(t, block, freeing, 0, false, expected, isExcluded, false)
  }
  return codeDescribed(t, symbol, hasPast ? past.symbol : 1, trust, failed)
}

function codeWhole(y: u32, t: Thread, s: u32, expected: u32): u32 {
  const length = min<u32>(t.matched, 400)
  const isFree = s & 1
  const site = isFree != 0 ? blockAt(expected).site : 0
  ask()
  context(mixed(20 + isFree, length))
  context(mixed(mixed(22, s), t.h2))
  context(mixed(24 + isFree, t.misses & 0xffff))
  context(mixed(mixed(26, s), t.h5))
  context(mixed(mixed(27, site + s), t.h4))
  context(mixed(mixed(28, site + s), t.misses & 15))
  return mix(y, WHOLE + isFree * 4 + (length < 16 ? 0 : length < 32 ? 1 : length < 400 ? 2 : 3))
}

function codeIsFree(y: u32, t: Thread, matched: u32, trust: u32): u32 {
  ask()
  context(mixed(30, t.s1))
  context(mixed(31, t.h2))
  context(mixed(32, t.h3))
  context(mixed(33, t.h4))
  context(mixed(34, t.h6))
  context(mixed(mixed(35, matched * 16 + trust), t.winners & 31))
  context(mixed(mixed(36, blockAt(newestOfClass(ALL)).site), t.s1))
  context(mixed(mixed(37, min<u32>(t.frees, 40)), t.winners & 1023))
  return mix(y, IS_FREE + matched * 4 + (trust >= 8 ? 2 : trust >= 3 ? 1 : 0))
}

/** Codes which block ends, and by which descriptor if it is a free. @returns the symbol */
function codeBlock(
  t: Thread,
  block: u32,
  freeing: u32,
  known: u32,
  isSecond: bool,
  expected: u32,
  isExcluded: bool,
  isSure: bool,
): u32 {
  const n = codeTarget(t, block, expected, isExcluded, isSure, isSecond ? 1 : 0)
  if (n == 0) {
    isImpossible = true
    return 1
  }
  ended = n
  const c = blockAt(n).class
  if (!isSecond) {
    endedBy = known != 0 ? known : codeFree(t, c, freeing)
    if (endedBy == 0) isImpossible = true
  }
  return c * 2 + 1
}

function slotOf(i: u32): Slot {
  return changetype<Slot>(<usize>load<u32>(HERE + ((<usize>i) << 2)))
}

function findSlots(t: Thread): void {
  for (let i: u32 = 0; i < ORDERS; i++) {
    const hash = mixed(i == 0 ? t.h5 : i == 1 ? t.h3 : i == 2 ? t.h2 : t.s1, i + 40)
    store<u32>(HERE + ((<usize>i) << 2), <u32>changetype<usize>(slotAt(SLOTS + i * SLOT_BYTES, hash, SLOT_SHIFT)))
  }
}

/** Notes the actual descriptor. */
export function learnDescriptor(t: Thread, symbol: u32): void {
  findSlots(t)
  learnAll(symbol)
}

/** Notes the actual symbol in the slots of the event. */
function learnAll(symbol: u32): void {
  for (let i: u32 = 0; i < ORDERS; i++) learn(slotOf(i), <u16>symbol)
}

function codeDescribed(t: Thread, symbol: u32, matched: u32, trust: u32, failed: u32): u32 {
  findSlots(t)
  clearCandidates()
  const hasMatch = (matched & 1) == 0
  if (hasMatch) propose(matched, 0, 0)
  for (let i: u32 = 0; i < ORDERS; i++) {
    const slot = slotOf(i)
    if (slot.firstCount != 0) propose(slot.first, 1 + i * 2, 0)
    if (slot.secondCount != 0) propose(slot.second, 2 + i * 2, 0)
  }
  const counts: u32 = <u32>slotOf(0).firstCount * 16 + slotOf(1).firstCount
  const to = min<u32>(candidates, TRIES)
  for (let i: u32 = hasMatch && failed != 0 ? 1 : 0; i < to; i++) {
    const s = load<u32>(CANDIDATES + ((<usize>i) << 2))
    const sources = load<u32>(SOURCES + ((<usize>i) << 2))
    const step = min<u32>(i, 3)
    ask()
    context(mixed(mixed(50, sources), i))
    context(mixed(mixed(51, t.s1), s))
    context(mixed(mixed(52, t.h2), s))
    context(mixed(mixed(53, t.h4), s))
    context(mixed(mixed(54, t.h6), s))
    context(mixed(mixed(55, s), step))
    context(mixed(mixed(56, trust * 8 + i), (sources & 1) | (counts << 1)))
    if (mix(symbol == s ? 1 : 0, CANDIDATE + step * 4 + (i == 0 ? min<u32>(trust, 3) : 0)) == 0) continue
    learnAll(s)
    return s
  }
  return codeRare(t, symbol)
}

/** Codes a descriptor that nothing proposed. */
function codeRare(t: Thread, symbol: u32): u32 {
  ask()
  context(60)
  context(mixed(61, t.s1))
  context(mixed(62, t.h2))
  context(mixed(63, 32 - clz<u32>(descriptorCount)))
  if (mix(symbol != NEW_DESCRIPTOR ? 1 : 0, IS_KNOWN) == 0) return NEW_DESCRIPTOR
  const bits = <i32>(32 - clz<u32>(descriptorCount))
  const n = mixedTree(symbol >> 1, bits, 64, t.s1, t.h2, t.s2, RARE)
  if (n < 2 || n >= descriptorCount) {
    isImpossible = true
    return NEW_DESCRIPTOR
  }
  learnAll(n * 2)
  return n * 2
}
