/**
 * The live blocks of each class, in the order of their births, in an array with holes for freed blocks; and the coding
 * of the block that the next free of the class ends.
 */

import { giveBack, take } from './room'
import { blockAt } from './block'
import { clearRank, countBetween, fillRanks, findDown, findUp, giveRanks, setRank, takeRanks } from './best/ranks'
import { BEST } from './level'
import { bit, entryAt, freshen, isEncoding, mixed, pairBit } from './coder'
import { number } from './numbers'
import { Thread } from './thread'

/** A class. */
@unmanaged
class Class {
  /** Its array: the block at each position, or 0. */
  blocks: usize
  /** Its capacity, the position after its last block, and the position of its first block. */
  room: u32
  end: u32
  begin: u32
  live: u32
  /** The position of the block that was freed last. */
  cursor: u32
  /** The candidates that were recently right, three bits each, and the last step of the cursor. */
  winners: u32
  step: i32
  /** The length and direction of the last coded distance. */
  distance: u32
  /** The descriptor of the last free of the class. */
  free: u32
  /** For the best level: which positions have a block. */
  bits: usize
}

const BYTES: usize = BEST ? 44 : 40
const MOST: u32 = 32_768
/** At the fast level, objects have no `bits`; the last one has room for them. */
const CLASSES: usize = memory.data(BEST ? 1_441_792 : 1_310_736)
/** At the best level, a class of all blocks. */
export const ALL: u32 = 0
/** An array of at most this many positions never shrinks. */
const SMALL: u32 = 64

const FIRST: usize = memory.data(65_536)
const SECOND: usize = memory.data(65_536)
const DIRECTIONS: usize = memory.data(16)
/** For the last two symbols and the class, the candidate that was right the last time. */
const WINNERS: usize = memory.data(65_536)

const CANDIDATES: usize = memory.data(32)
/**
 * Candidates: the match's, the newest, the neighbours of the last one, the oldest, the last step again, a neighbour.
 */
const ORDER: StaticArray<u8> = [1, 2, 3, 5, 6, 4, 0]
const CANDIDATE_COUNT: u32 = 7
const TRIES: u32 = 4
/** The maximum number of holes to skip in the search for a neighbour. */
const NEAR: u32 = 16

/** Whether there was a reset. The memory is zeros before the first one, and little of it may be used. */
let wasReset = false

export function resetClasses(): void {
  if (wasReset) forgetClasses()
  wasReset = true
  freshen(FIRST, 16_384)
  freshen(SECOND, 16_384)
  freshen(DIRECTIONS, 4)
  memory.fill(WINNERS, 1, 65_536)
}

function forgetClasses(): void {
  for (let n: u32 = 0; n < MOST; n++) {
    const c = classAt(n)
    if (c.room != 0) giveBack(c.blocks, c.room << 2)
    if (BEST && c.room != 0) giveRanks(c.bits, c.room)
  }
  memory.fill(CLASSES, 0, <usize>MOST * BYTES)
}

export function classAt(n: u32): Class {
  return changetype<Class>(CLASSES + <usize>n * BYTES)
}

function at(c: Class, position: u32): u32 {
  return load<u32>(c.blocks + ((<usize>position) << 2))
}

// @ts-ignore: decorator
@inline
function setPosition(c: Class, block: u32, position: u32): void {
  if (BEST && c == classAt(ALL)) blockAt(block).birth = position
  else blockAt(block).position = position
}

/** Adds a block at the end. @returns false if memory is exhausted */
export function addToClass(n: u32, block: u32): bool {
  const c = classAt(n)
  if (c.end == c.room && !makeRoom(c)) return false
  setPosition(c, block, c.end)
  store<u32>(c.blocks + ((<usize>c.end) << 2), block)
  if (BEST) setRank(c.bits, c.room, c.end)
  c.end++
  c.live++
  return true
}

/** Removes the block at a position. */
export function takeFromClass(n: u32, block: u32, position: u32): void {
  const c = classAt(n)
  store<u32>(c.blocks + ((<usize>position) << 2), 0)
  if (BEST) clearRank(c.bits, c.room, position)
  c.live--
  c.cursor = position
  if (c.live == 0) {
    c.end = c.begin = c.cursor = 0
    if (c.room > SMALL) resize(c, 0)
    return
  }
  if (position == c.end - 1) while (at(c, c.end - 1) == 0) c.end--
  // The next block comes after the place.
  if (BEST && c.cursor > c.end) c.cursor = c.end
  if (position == c.begin) while (at(c, c.begin) == 0) c.begin++
  if (c.room > SMALL && c.live * 8 < c.room) {
    squeeze(c)
    resize(c, c.room >> 2)
  }
}

function makeRoom(c: Class): bool {
  if (c.live * 4 < c.end * 3) {
    squeeze(c)
    if (c.end * 4 < c.room * 3) return true
  }
  return resize(c, max<u32>(16, c.room << 1))
}

/** Removes the holes. */
function squeeze(c: Class): void {
  let to: u32 = 0
  let cursor = u32.MAX_VALUE
  for (let from: u32 = 0; from < c.end; from++) {
    if (from == c.cursor) cursor = to
    const block = at(c, from)
    if (block == 0) continue
    setPosition(c, block, to)
    store<u32>(c.blocks + ((<usize>to) << 2), block)
    to++
  }
  c.cursor = min<u32>(cursor, to)
  c.begin = 0
  c.end = to
  if (BEST) fillRanks(c.bits, c.room, to)
}

function resize(c: Class, room: u32): bool {
  let larger: usize = 0
  let bits: usize = 0
  if (room != 0) {
    larger = take(room << 2)
    if (BEST) bits = takeRanks(room)
    if (larger == 0 || (BEST && bits == 0)) return false
    memory.copy(larger, c.blocks, (<usize>c.end) << 2)
  }
  if (c.room != 0) giveBack(c.blocks, c.room << 2)
  if (BEST) {
    for (let position = c.begin; position < c.end && room != 0; position++)
      if (load<u32>(larger + ((<usize>position) << 2)) != 0) setRank(bits, room, position)
    if (c.room != 0) giveRanks(c.bits, c.room)
    c.bits = bits
  }
  c.blocks = larger
  c.room = room
  return true
}

function propose(candidate: u32, block: u32): void {
  store<u32>(CANDIDATES + ((<usize>candidate) << 2), block)
}

function proposal(candidate: u32): u32 {
  return load<u32>(CANDIDATES + ((<usize>candidate) << 2))
}

/**
 * Codes which block of a class is freed.
 * @param target the block, for the encoder
 * @param expected the block that the match expects, or 0
 * @param neighbour the block born after the one that the thread freed last, or 0
 * @returns the block
 */
export function codeTarget(t: Thread, n: u32, target: u32, expected: u32, neighbour: u32): u32 {
  const c = classAt(n)
  if (c.live == 1) return at(c, c.end - 1)
  collect(c, n, expected, neighbour)
  const winner = WINNERS + <usize>(mixed(t.h2, n) >> 16)
  const order = mixed(t.h3, n << 3)
  const last = c.winners & 7
  let tried: u32 = 0
  let tries: u32 = 0
  for (let i: u32 = 0; i < CANDIDATE_COUNT + 3 && tries < TRIES; i++) {
    const x: u32 = i == 0 ? load<u8>(winner) & 7 : i == 1 ? 0 : i == 2 ? last : unchecked(ORDER[i - 3])
    if (x >= CANDIDATE_COUNT || ((tried >> x) & 1) != 0 || proposal(x) == 0) continue
    const block = proposal(x)
    let same: u32 = 0
    for (let other: u32 = 0; other < CANDIDATE_COUNT; other++) same |= proposal(other) == block ? 1 << other : 0
    tried |= same
    const first = entryAt(FIRST, (same * 8 + x) * 8 + last, ((c.winners >> 3) & 7) * 4 + tries)
    const second = entryAt(SECOND, order, x)
    if (pairBit(block == target ? 1 : 0, first, second, 10 + tries) != 0) return settle(c, winner, x, block)
    tries++
  }
  return settle(c, winner, 7, codeDistance(c, target))
}

function collect(c: Class, n: u32, expected: u32, neighbour: u32): void {
  propose(0, expected)
  propose(1, at(c, c.end - 1))
  let found: u32 = 0
  const to = min<u32>(c.cursor + NEAR, c.end)
  for (let i = c.cursor; i < to && found == 0; i++) found = at(c, i)
  propose(2, found)
  found = 0
  const from = c.cursor > c.begin + NEAR ? c.cursor - NEAR : c.begin
  for (let i = c.cursor; i > from && found == 0;) found = at(c, --i)
  propose(3, found)
  propose(4, at(c, c.begin))
  const next = c.cursor + c.step
  propose(5, next >= c.begin && next < c.end ? at(c, next) : 0)
  propose(6, neighbour != 0 && blockAt(neighbour).class == n ? neighbour : 0)
}

function settle(c: Class, winner: usize, x: u32, block: u32): u32 {
  store<u8>(winner, <u8>x)
  c.winners = (c.winners << 3) | x
  c.step = block == 0 ? 0 : <i32>(blockAt(block).position - c.cursor)
  return block
}

/** For the best level: the newest block of a class, or 0. */
export function newestOfClass(n: u32): u32 {
  const c = classAt(n)
  return c.live == 0 ? 0 : at(c, c.end - 1)
}

/** For the best level: the next block of a class after a position, or before it; 0 if there is none. */
export function neighbour(n: u32, position: u32, isYounger: bool): u32 {
  const c = classAt(n)
  if (c.live == 0) return 0
  const next = isYounger
    ? findUp(c.bits, c.room, position, c.end, 0)
    : findDown(c.bits, c.room, min<u32>(position, c.end), 0)
  return next < c.end ? at(c, next) : 0
}

/** For the best level: how many blocks a position is after another one, holes not counted; negative if it is before. */
export function ranksBetween(n: u32, from: u32, to: u32): i64 {
  const c = classAt(n)
  return from <= to ? <i64>countBetween(c.bits, c.room, from, to) : -(<i64>countBetween(c.bits, c.room, to, from))
}

/** For the best level: the block that is a number of ranks after a position, or 0. */
export function blockAtRank(n: u32, from: u32, ranks: i64): u32 {
  const c = classAt(n)
  const most = <i64>c.live
  if (ranks >= most || ranks < -most) return 0
  const position =
    ranks >= 0
      ? findUp(c.bits, c.room, from, c.end, <u32>ranks)
      : findDown(c.bits, c.room, min<u32>(from, c.end), <u32>(-ranks - 1))
  return position < c.end ? at(c, position) : 0
}

/** Notes that the match was right about the block. */
export function noteExpected(n: u32, block: u32): void {
  const c = classAt(n)
  if (c.live < 2) return
  c.winners <<= 3
  c.step = <i32>(blockAt(block).position - c.cursor)
}

/** The signed distance from the cursor, holes included. @returns 0 if there is no block */
function codeDistance(c: Class, target: u32): u32 {
  const position: u32 = isEncoding ? blockAt(target).position : 0
  let up: u32 = 0
  if (c.cursor <= c.begin) up = 1
  else if (c.cursor < c.end) up = bit(position >= c.cursor ? 1 : 0, DIRECTIONS + ((<usize>(c.distance & 1)) << 2))
  const away = number(up != 0 ? position - c.cursor : c.cursor - 1 - position, 2 + up, (c.distance >> 1) & 31)
  const there = up != 0 ? <u64>c.cursor + away : <u64>c.cursor - 1 - away
  if (there >= <u64>c.end) return 0
  c.distance = ((32 - clz<u32>((<u32>away) | 1)) << 1) | up
  return at(c, <u32>there)
}
