/**
 * The recent history: the last events, each with the next event of the same thread, and earlier positions at which a
 * thread had the same last six symbols (matches). The event that followed then is expected again.
 */

import { mixed } from './coder'
import { BEST } from './level'
import { Thread } from './thread'

/** A kept event. */
@unmanaged
export class Past {
  symbol: u32
  /** The number of events since the birth of the block that it freed. */
  age: u32
  /** The thread's next event, or 0. */
  next: u32
  /** The hash of the thread's six last symbols before the next event. */
  hash: u32
  /** The descriptor of a free. */
  free: u32
  /** The block that it began, or 0. */
  born: u32
}

const BYTES: usize = 24
/** The number of events that are kept: a power of two. */
export const KEPT: u32 = BEST ? 131_072 : 65_536
const RING: usize = memory.data(BEST ? 3_145_728 : 1_572_864)
/** The last event by the upper bits of its hash, and the number of these bits. */
const SEEN: usize = memory.data(BEST ? 524_288 : 262_144)
const SEEN_SHIFT: u32 = BEST ? 15 : 16

/** Matches with at least this many symbols are not entered every time. */
const LONG: u32 = 32

/** The number of the event, from 1. A realloc takes two numbers. */
export let sequence: u32 = 0

/** Whether there was a reset. Before the first one the memory is zero, and much of it may never be used. */
let wasReset = false

export function resetHistory(): void {
  sequence = 0
  if (wasReset) {
    memory.fill(RING, 0, <usize>KEPT * BYTES)
    memory.fill(SEEN, 0, (<usize>KEPT) << 2)
  }
  wasReset = true
}

export function nextEvent(): void {
  sequence++
  pastAt(sequence).born = 0
}

// @ts-ignore: decorator
@inline
export function pastAt(n: u32): Past {
  return changetype<Past>(RING + <usize>(n & (KEPT - 1)) * BYTES)
}

/** Whether an event is still kept. */
// @ts-ignore: decorator
@inline
export function isKept(n: u32): bool {
  return n != 0 && sequence - n < KEPT - 8
}

/** Notes the birth of this event's block, before `remember`. */
export function noteBirth(block: u32): void {
  pastAt(sequence).born = block
}

/** Adds the event to the history of its thread. */
export function remember(t: Thread, symbol: u32, free: u32, age: u32): void {
  const past = pastAt(sequence)
  past.symbol = symbol
  past.free = free
  past.age = age
  past.next = 0
  if (t.last != 0 && sequence - t.last < KEPT) pastAt(t.last).next = sequence
  t.last = sequence
  const code = symbol + (free << 17)
  t.s6 = t.s5
  t.s5 = t.s4
  t.s4 = t.s3
  t.s3 = t.s2
  t.s2 = t.s1
  t.s1 = code
  t.h2 = mixed(code, t.s2)
  t.h3 = mixed(t.h2, t.s3)
  if (BEST) {
    t.frees = (symbol & 1) != 0 ? t.frees + 1 : 0
    t.h4 = mixed(t.h3, t.s4)
    t.h5 = mixed(t.h4, t.s5)
    t.h6 = mixed(t.h5, t.s6)
  } else t.h6 = mixed(mixed(t.h3, t.s4), t.s5 * 0x2f0b_4c47 + t.s6)
  const hash = t.h6
  if (t.match != 0) follow(t, symbol, free, age)
  past.hash = hash
  const seen = SEEN + ((<usize>(hash >> SEEN_SHIFT)) << 2)
  if (t.match == 0 || t.matched == 0) {
    const before = load<u32>(seen)
    if (before != 0 && sequence - before < KEPT - 64 && pastAt(before).hash == hash) {
      t.match = pastAt(before).next
      t.isSwitch = t.match != before + 1 ? 1 : 0
      t.matched = 1
    }
  }
  if (t.matched < LONG || (sequence & 3) == 0) store<u32>(seen, sequence)
}

/** Advances the match to the next event. */
function follow(t: Thread, symbol: u32, free: u32, age: u32): void {
  if (sequence - t.match >= KEPT - 8) {
    t.match = 0
    return
  }
  const expected = pastAt(t.match)
  const isSame = expected.symbol == symbol && expected.free == free
  const next = expected.next
  t.isSwitch = next != t.match + 1 ? 1 : 0
  const isRight: u32 = isSame && expected.age == age ? 1 : 0
  t.match = next
  t.misses = (t.misses << 1) | (isRight ^ 1)
  if (isSame) t.matched++
  else {
    t.matched = 0
    if ((t.misses & 0xff) == 0xff) t.match = 0
  }
}
