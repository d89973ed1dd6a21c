/** Codes the thread of the next event, for the best level. */

import { mixed } from '../coder'
import { Thread } from '../thread'
import { ask, context, mix } from './mixer'
import { THREAD_GUESSED, THREAD_SAME } from './selectors'

/**
 * The confidence in the match of the last event's thread, and whether the event after the match was of another thread.
 */
export function trustIn(t: Thread): u32 {
  const length: u32 = t.match == 0 ? 0 : t.matched < 4 ? 1 : t.matched < 16 ? 2 : 3
  return length * 2 + t.isSwitch
}

/**
 * Codes whether the event is of the same thread as the last one.
 * @param switches for each of the last events, a bit for whether it was
 */
export function codeSame(y: u32, t: Thread, current: u32, switches: u32): u32 {
  const trusted = trustIn(t)
  ask()
  context(mixed(1, switches & 255))
  context(mixed(mixed(2, current), t.s1))
  context(mixed(mixed(3, current), t.h2))
  context(mixed(mixed(4, current), switches & 0xffff))
  context(mixed(mixed(5, current), min<u32>(t.frees, 20)))
  context(mixed(mixed(6, trusted), switches & 15))
  context(mixed(mixed(7, current), t.h4))
  return mix(y, THREAD_SAME + trusted)
}

/**
 * Codes whether the event belongs to a thread.
 * @param which 0 for the one that followed last, 1 for the one before
 */
export function codeGuess(y: u32, t: Thread, current: u32, guess: u32, switches: u32, which: u32): u32 {
  ask()
  context(mixed(8, which))
  context(mixed(mixed(9, current), guess))
  context(mixed(mixed(10, t.s1), guess))
  context(mixed(11 + which, switches & 255))
  context(mixed(mixed(13, t.h2), guess))
  context(mixed(mixed(14 + which, trustIn(t)), switches & 7))
  return mix(y, THREAD_GUESSED + which)
}
