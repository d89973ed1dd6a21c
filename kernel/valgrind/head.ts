/** The start of a line: the process, and the time with --time-stamp=yes. */

import { decimal } from '../shared/numbers'
import { NUMBER, SPACE } from './call'

const DASHES: u32 = 0x2d2d

export const LINE_PROCESS: usize = memory.data(8)
export const LINE_TIME: usize = memory.data(8)
export let hasTime: bool = false

/** Skips `>`, `--`, a time, the process and `--`. @returns the position of the text, or 0 */
export function readHead(p: usize): usize {
  while (load<u8>(p) == 0x3e) p++
  if (<u32>load<u16>(p) != DASHES) return 0
  p = decimal(p + 2, NUMBER)
  if (p == 0) return 0
  hasTime = load<u8>(p) == 0x3a
  if (hasTime) {
    // DD:HH:MM:SS.mmm since the program began
    let seconds = load<u64>(NUMBER)
    for (let part = 0; part < 3; part++) {
      if (load<u8>(p) != 0x3a || seconds > 1_000_000_000) return 0
      p = decimal(p + 1, NUMBER)
      if (p == 0) return 0
      seconds = seconds * (part == 0 ? 24 : 60) + load<u64>(NUMBER)
    }
    if (load<u8>(p) != 0x2e || seconds > 10_000_000_000) return 0
    const after = decimal(p + 1, NUMBER)
    if (after != p + 4 || load<u8>(after) != SPACE) return 0
    store<u64>(LINE_TIME, seconds * 1_000_000_000 + load<u64>(NUMBER) * 1_000_000)
    p = decimal(after + 1, NUMBER)
    if (p == 0) return 0
  }
  store<u64>(LINE_PROCESS, load<u64>(NUMBER))
  return <u32>load<u16>(p) == DASHES && load<u8>(p + 2) == SPACE ? p + 3 : 0
}
