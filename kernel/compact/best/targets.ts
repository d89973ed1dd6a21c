/**
 * Codes which block ends, for the best level. Many rules propose a block each. The proposals are decided in turn,
 * beginning with the rules that were right most often after the rule that was right last. If all are wrong, the block's
 * class and its place there follow.
 */

import { bornAt } from '../blocks'
import { blockAt } from '../block'
import { isEncoding, mixed } from '../coder'
import { ALL, blockAtRank, classAt, neighbour, newestOfClass, ranksBetween } from '../classes'
import { sequence } from '../history'
import { Thread } from '../thread'
import { newestOfSite, oldestOfSite } from './sites'
import { ask, context, mix } from './mixer'
import { mixedNumber } from './numbers'
import { CLASS, DISTANCE, TARGET } from './selectors'
import { folded, unfolded } from '../numbers'

/** The rules. */
const MATCH: u32 = 0
const SITE_AFTER_FIVE: u32 = 2
const SITE_AFTER_ONE: u32 = 5
const CLASS_AFTER_TWO: u32 = 6
const OLDEST_AFTER_THREE: u32 = 8
const YOUNGER: u32 = 9
const OLDER: u32 = 10
const CLASS_YOUNGER: u32 = 11
const CLASS_OLDER: u32 = 12
const SITE_YOUNGER: u32 = 13
const NEWEST: u32 = 15
const NEWEST_BUT_ONE: u32 = 16
const CURSOR_AFTER_TWO: u32 = 20
const CURSOR_AFTER_ONE: u32 = 22
const STEP_AFTER_TWO: u32 = 24
const STEP_AFTER_STEPS: u32 = 25
const NONE: u32 = 31

/**
 * The class and the site of the block freed last after five, three, two and one symbols, for frees and for reallocs.
 */
const ORDERS: u32 = 4
const FREED: usize = memory.data(1_048_576)
const HERE: usize = memory.data(16)
/** The recent share of right proposals of each rule after each rule, in 1/65536. */
const RATES: usize = memory.data(4096)
/** The steps between births of blocks that were freed in succession, by the preceding symbols. */
const STEPS: usize = memory.data(131_072)
/** The length of the last distance in each class, and the one before. */
const LENGTHS: usize = memory.data(32_768)

/** At most 24 candidates: the blocks, the rules that proposed each, and its score by the best of these. */
const BLOCKS: usize = memory.data(96)
const MASKS: usize = memory.data(96)
const SCORES: usize = memory.data(96)
const RULES: usize = memory.data(96)
const TRIES: u32 = 8
/** The weight of two rules that agree. */
const AGREED: u32 = 3000
let candidates: u32 = 0

export function resetTargets(): void {
  memory.fill(FREED, 0, 1_048_576)
  memory.fill(STEPS, 0, 131_072)
  memory.fill(LENGTHS, 0, 32_768)
  for (let i: usize = 0; i < 4096; i += 4) store<u32>(RATES + i, 32_768)
}

function word(words: usize, i: u32): u32 {
  return load<u32>(words + ((<usize>i) << 2))
}

function setWord(words: usize, i: u32, value: u32): void {
  store<u32>(words + ((<usize>i) << 2), value)
}

function freedAt(i: u32): usize {
  return word(HERE, i)
}

function propose(block: u32, rule: u32, excluded: u32): void {
  if (block == 0 || block == excluded || blockAt(block).made == 0) return
  for (let i: u32 = 0; i < candidates; i++) {
    if (word(BLOCKS, i) != block) continue
    setWord(MASKS, i, word(MASKS, i) | (1 << rule))
    return
  }
  setWord(BLOCKS, candidates, block)
  setWord(MASKS, candidates, 1 << rule)
  candidates++
}

/** The block next to the one that was freed last in a class, or 0. */
function nearCursor(n: u32, isYounger: bool): u32 {
  return neighbour(n, classAt(n).cursor, isYounger)
}

function proposeStep(t: Thread, step: u32, rule: u32, excluded: u32): void {
  if (step != 0) propose(bornAt(t.freedMade + step), rule, excluded)
}

function collect(t: Thread, expected: u32, excluded: u32, afterTwo: u32, afterSteps: u32): void {
  candidates = 0
  propose(expected, MATCH, excluded)
  const five = freedAt(0)
  const three = freedAt(1)
  const two = freedAt(2)
  const one = freedAt(3)
  if (load<u32>(five) != 0) propose(newestOfSite(load<u16>(five, 2)), SITE_AFTER_FIVE, excluded)
  if (load<u32>(one) != 0) propose(newestOfSite(load<u16>(one, 2)), SITE_AFTER_ONE, excluded)
  propose(newestOfClass(load<u16>(two)), CLASS_AFTER_TWO, excluded)
  if (load<u32>(three) != 0) propose(oldestOfSite(load<u16>(three, 2)), OLDEST_AFTER_THREE, excluded)
  propose(t.freedYounger, YOUNGER, excluded)
  propose(t.freedOlder, OLDER, excluded)
  propose(nearCursor(t.freedClass, true), CLASS_YOUNGER, excluded)
  propose(nearCursor(t.freedClass, false), CLASS_OLDER, excluded)
  propose(t.freedSiteYounger, SITE_YOUNGER, excluded)
  const newest = newestOfClass(ALL)
  propose(newest, NEWEST, excluded)
  propose(neighbour(ALL, blockAt(newest).birth, false), NEWEST_BUT_ONE, excluded)
  propose(nearCursor(load<u16>(one), true), CURSOR_AFTER_ONE, excluded)
  propose(nearCursor(load<u16>(one), false), CURSOR_AFTER_ONE + 1, excluded)
  propose(nearCursor(load<u16>(two), true), CURSOR_AFTER_TWO, excluded)
  propose(nearCursor(load<u16>(two), false), CURSOR_AFTER_TWO + 1, excluded)
  proposeStep(t, word(STEPS, afterTwo), STEP_AFTER_TWO, excluded)
  proposeStep(t, word(STEPS, afterSteps), STEP_AFTER_STEPS, excluded)
}

/** Codes whether the match is right about the block, if it has been right for long. */
function codeExpected(y: u32, t: Thread, expected: u32, kind: u32): u32 {
  const block = blockAt(expected)
  ask()
  context(mixed(70, min<u32>(t.matched, 400)))
  context(mixed(mixed(71, block.class), t.h2))
  context(mixed(mixed(72, block.site), t.h4))
  context(mixed(mixed(73, t.misses & 0xffff), t.wrongBlocks & 0xfff))
  context(mixed(mixed(74, block.site), t.wrongBlocks & 15))
  y = mix(y, TARGET + kind)
  t.wrongBlocks = (t.wrongBlocks << 1) | (y ^ 1)
  return y
}

/**
 * Codes which block ends.
 * @param target the block, for the encoder
 * @param expected the block that the match expects, or 0
 * @param isExcluded whether the block is known not to be the expected one
 * @param isSure whether the match has been right for long
 * @param kind 0 for a free, 1 for a realloc
 * @returns the block; 0 if there is none
 */
export function codeTarget(t: Thread, target: u32, expected: u32, isExcluded: bool, isSure: bool, kind: u32): u32 {
  if (classAt(ALL).live == 0) return 0
  for (let i: u32 = 0; i < ORDERS; i++) {
    const hash = mixed(i == 0 ? t.h5 : i == 1 ? t.h3 : i == 2 ? t.h2 : t.s1, i + 80 + kind * 8)
    setWord(HERE, i, <u32>FREED + (i << 18) + ((hash >> 16) << 2))
  }
  const afterTwo = mixed(t.h2, 90) >> 17
  const afterSteps = mixed(mixed(t.step, t.stepBefore), t.s1) >> 17
  let found: u32 = 0
  if (isSure && expected != 0) {
    if (codeExpected(target == expected ? 1 : 0, t, expected, kind) != 0) found = expected
    else isExcluded = true
  }
  if (found != 0) t.winners <<= 5
  else {
    collect(t, expected, isExcluded ? expected : 0, afterTwo, afterSteps)
    found = codeCandidates(t, target, kind)
    if (found == 0) return 0
  }
  const block = blockAt(found)
  const freed = block.class | (block.site << 16)
  for (let i: u32 = 0; i < ORDERS; i++) store<u32>(freedAt(i), freed)
  const step = block.made - t.freedMade
  setWord(STEPS, afterTwo, step)
  setWord(STEPS, afterSteps, step)
  t.stepBefore = t.step
  t.step = step
  return found
}

/** Notes that a block is freed, before it is removed. */
export function noteFreed(t: Thread, n: u32): void {
  const block = blockAt(n)
  t.freedMade = block.made
  t.freedClass = block.class
  t.freedYounger = neighbour(ALL, block.birth + 1, true)
  t.freedOlder = neighbour(ALL, block.birth, false)
  t.freedSiteYounger = block.siteYounger
}

/** The length of an age and its two bits below the top one. */
function ageOf(made: u32): u32 {
  const age = sequence - made
  if (age < 4) return age
  const log = 31 - clz<u32>(age)
  return log * 4 + ((age >> (log - 2)) & 3)
}

function score(rates: usize): void {
  for (let i: u32 = 0; i < candidates; i++) {
    const mask = word(MASKS, i)
    let best: u32 = 0
    let rule: u32 = 0
    for (let left = mask; left != 0; left &= left - 1) {
      const rate = word(rates, <u32>ctz(left))
      if (rate > best) {
        best = rate
        rule = <u32>ctz(left)
      }
    }
    setWord(SCORES, i, best + ((mask & (mask - 1)) != 0 ? AGREED : 0))
    setWord(RULES, i, rule)
  }
}

function codeCandidates(t: Thread, target: u32, kind: u32): u32 {
  const last = t.winners & 31
  const rates = RATES + ((<usize>last) << 7)
  score(rates)
  let found: u32 = 0
  let winner = NONE
  let tried: u32 = 0
  const to = min<u32>(candidates, TRIES)
  for (let tries: u32 = 0; tries < to && found == 0; tries++) {
    let i: u32 = 0
    let best: i32 = -1
    for (let j: u32 = 0; j < candidates; j++) {
      if (((tried >> j) & 1) != 0 || <i32>word(SCORES, j) <= best) continue
      best = <i32>word(SCORES, j)
      i = j
    }
    tried |= 1 << i
    const n = word(BLOCKS, i)
    if (codeCandidate(n == target ? 1 : 0, t, n, word(MASKS, i), word(RULES, i), tries, last, kind) == 0) continue
    found = n
    winner = word(RULES, i)
  }
  if (found == 0) found = codeMissed(t, target)
  for (let i: u32 = 0; i < candidates; i++) {
    const goal: i32 = word(BLOCKS, i) == found ? 65_535 : 0
    for (let left = word(MASKS, i); left != 0; left &= left - 1) {
      const rule = <u32>ctz(left)
      const rate = <i32>word(rates, rule)
      setWord(rates, rule, rate + (goal - rate) / 16)
    }
  }
  t.winners = (t.winners << 5) | winner
  return found
}

function codeCandidate(y: u32, t: Thread, n: u32, mask: u32, rule: u32, tries: u32, last: u32, kind: u32): u32 {
  const block = blockAt(n)
  ask()
  context(mixed(mixed(100, mask), tries))
  context(mixed(mixed(101, mask), last * 8 + tries))
  context(mixed(mixed(102, t.s1), block.class * 4 + (mask & 1)))
  context(mixed(mixed(103, t.h3), block.site))
  context(mixed(mixed(104, block.site), ageOf(block.made)))
  context(mixed(mixed(105, t.winners & 0x7fff), rule * 8 + tries))
  context(mixed(mixed(106, t.h5), block.site + tries))
  context(mixed(mixed(107, t.s1), mixed(mask, tries)))
  return mix(y, TARGET + 64 + kind * 128 + rule * 4 + min<u32>(tries, 3))
}

/** Codes a block that nothing proposed. @returns 0 if there is no such block */
function codeMissed(t: Thread, target: u32): u32 {
  const wanted: u32 = isEncoding ? blockAt(target).class : 0
  let c: u32 = 0
  let before: u32 = 0
  for (let i: u32 = 1; i < ORDERS && c == 0; i++) {
    const guess: u32 = load<u16>(freedAt(i))
    if (guess == 0 || guess == before || classAt(guess).live == 0) continue
    ask()
    context(mixed(mixed(110, guess), i))
    context(mixed(mixed(111, guess), t.s1))
    context(mixed(mixed(112, guess), t.h2))
    context(mixed(113, i))
    if (mix(wanted == guess ? 1 : 0, CLASS + i) != 0) c = guess
    before = guess
  }
  if (c == 0) return codeDistance(t, ALL, originOf(t), isEncoding ? blockAt(target).birth : 0)
  if (classAt(c).live == 1) return newestOfClass(c)
  return codeDistance(t, c, classAt(c).cursor, isEncoding ? blockAt(target).position : 0)
}

/** The position, among all blocks, of the block that the thread freed last. */
function originOf(t: Thread): u32 {
  const younger = t.freedYounger
  return younger != 0 && blockAt(younger).made != 0 ? blockAt(younger).birth : classAt(ALL).cursor
}

/** Codes the distance in ranks from one position of a class to another. @returns the block there, or 0 */
function codeDistance(t: Thread, c: u32, from: u32, position: u32): u32 {
  const lengths = LENGTHS + c
  const length: u32 = load<u8>(lengths)
  const ranks = isEncoding ? <u64>ranksBetween(c, from, position) : 0
  const away = mixedNumber(folded(ranks), 115, mixed(c, length), t.s1, t.winners & 1023, DISTANCE + (c == ALL ? 2 : 0))
  store<u8>(lengths, <u8>((length << 4) | ((65 - <u32>clz<u64>(away)) >> 1)))
  return blockAtRank(c, from, <i64>unfolded(away))
}
