/** The end of a line: the result and the duration of a call. */

import { decimal } from '../shared/numbers'
import { SPACE, CLOSE, DOT, LESS, GREATER, EQUALS, EPOCH, NANOS, NUMBER, fraction, value } from './scan'

/** The text after the arguments. */
export const NOWHERE: u32 = 0
export const RETURNED: u32 = 1
export const UNFINISHED: u32 = 2

/** The result of a call, and its duration in nanoseconds if the line has one. */
export const RESULT: usize = memory.data(8)
export const DURATION: usize = memory.data(8)
export let hasDuration: bool = false

/**
 * Searches backwards from the end of the line to `p` for `) = RESULT`, `<unfinished ...>` or `<no return ...>`, because
 * arguments may contain anything. Some builds write `)= RESULT` in lines that reach the column of results.
 */
export function readEnd(p: usize, end: usize): u32 {
  hasDuration = false
  let q = end
  if (load<u8>(q - 1) == GREATER) {
    let begin = q - 1
    while (begin > p && load<u8>(begin) != LESS) begin--
    const word = load<u64>(begin)
    // <unfinis, <no retu
    if (word == 0x7369_6e69_666e_753c || word == 0x7574_6572_206f_6e3c) return UNFINISHED
    if (load<u8>(begin + 1) - 0x30 <= 9) {
      const whole = decimal(begin + 1, NUMBER)
      const seconds = load<u64>(NUMBER)
      if (whole == 0 || load<u8>(whole) != DOT || seconds > EPOCH || fraction(whole + 1) != q - 1) return NOWHERE
      store<u64>(DURATION, seconds * NANOS + load<u64>(NUMBER))
      hasDuration = true
      q = begin
      while (q > p && load<u8>(q - 1) == SPACE) q--
    }
  }
  let begin = q
  while (begin > p && load<u8>(begin - 1) != SPACE) begin--
  if (begin < p + 3 || load<u8>(begin - 2) != EQUALS) return NOWHERE
  if (load<u8>(begin - 3) != SPACE && load<u8>(begin - 3) != CLOSE) return NOWHERE
  store<u64>(RESULT, 0)
  // <void> is the result of free.
  if (load<u8>(begin) == LESS) return RETURNED
  return value(begin, RESULT) == q ? RETURNED : NOWHERE
}
