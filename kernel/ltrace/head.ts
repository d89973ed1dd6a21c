/** The start of a line: thread, time and return address. */

import { HAS_CALL_SITE, HAS_THREAD, HAS_TIME } from '../shared/event'
import { decimal, hex } from '../shared/numbers'
import { SPACE, COLON, DOT, EPOCH, NANOS, NUMBER, skipSpaces, fraction } from './scan'

export const LINE_THREAD: usize = memory.data(8)
export const LINE_TIME: usize = memory.data(8)
export const LINE_SITE: usize = memory.data(8)
/** The fields that the line has. */
export let head: u32 = 0
/** `[(nil)] `, where the address is not known or null. */
const NO_SITE: u64 = 0x205d_296c_696e_285b
/** The time of the previous line, where times are relative to it. */
let clock: u64 = 0

export function resetClock(): void {
  clock = 0
}

/**
 * Reads a time: `23:28:28`, `23:28:28.699114`, `1795303708.464982` or `0.000371`.
 * @returns the position after it, or 0
 */
function readTime(p: usize): usize {
  p = decimal(p, NUMBER)
  if (p == 0) return 0
  let time = load<u64>(NUMBER)
  if (load<u8>(p) == COLON) {
    for (let part = 0; part < 2; part++) {
      if (load<u8>(p) != COLON || time > 10_000) return 0
      p = decimal(p + 1, NUMBER)
      if (p == 0) return 0
      time = time * 60 + load<u64>(NUMBER)
    }
    time *= NANOS
    if (load<u8>(p) == DOT) {
      p = fraction(p + 1)
      if (p == 0) return 0
      time += load<u64>(NUMBER)
    }
  } else {
    if (load<u8>(p) != DOT || time > 18_446_744_072) return 0
    p = fraction(p + 1)
    if (p == 0) return 0
    const isRelative = time < EPOCH
    time = time * NANOS + load<u64>(NUMBER)
    if (isRelative) {
      clock += time
      time = clock
    }
  }
  if (load<u8>(p) != SPACE) return 0
  store<u64>(LINE_TIME, time)
  head |= HAS_TIME
  return p + 1
}

/** Reads what comes before a call: thread, time and return address. @returns the position after it, or 0 */
export function readHead(p: usize): usize {
  head = 0
  store<u64>(LINE_THREAD, 0)
  p = skipSpaces(p)
  if (load<u32>(p) == 0x6469_705b) {
    // [pid 123]
    p = decimal(skipSpaces(p + 4), LINE_THREAD)
    if (p == 0 || load<u8>(p) != 0x5d) return 0
    head |= HAS_THREAD
    p = skipSpaces(p + 1)
  } else if (load<u8>(p) - 0x30 <= 9) {
    const end = decimal(p, LINE_THREAD)
    if (end != 0 && load<u8>(end) == SPACE) {
      head |= HAS_THREAD
      p = skipSpaces(end)
    } else {
      store<u64>(LINE_THREAD, 0)
    }
  }
  if (load<u8>(p) - 0x30 <= 9) {
    p = readTime(p)
    if (p == 0) return 0
    p = skipSpaces(p)
  }
  if (load<u32>(p) << 8 == 0x78305b << 8) {
    p = hex(p + 3, LINE_SITE)
    if (p == 0 || load<u8>(p) != 0x5d) return 0
    head |= HAS_CALL_SITE
    p++
  } else if (load<u64>(p) == NO_SITE) p += 7
  return skipSpaces(p)
}
