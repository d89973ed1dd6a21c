/**
 * Fields that a format cannot represent, or cannot omit: counts the events of a batch that lose or gain such fields, by
 * kind and fields. See lib/kernel/losses.ts.
 */

import { LEFT_OUT, PLACES } from '../lib/kernel/layouts/losses'
import { KIND, MASK } from './shared/columns'

export { KIND, MASK }

/**
 * By kind, of which there are at most 16, the fields that an event must not have, and those that it must have;
 * `LEFT_OUT` alone if the format cannot represent the kind.
 */
export const WATCHED: usize = memory.data(64)
/** By kind, the watched fields that an event must have. */
export const NEEDED: usize = memory.data(64)

/**
 * The watched fields that an event had or lacked, its kind in the upper word, and the number of such events. A count of
 * 0 means that the place is free. The wrapper frees places.
 */
export const LOST: usize = memory.data(512)
export const EVENTS: usize = memory.data(256)

/** The number of places in use. */
export let taken: u32 = 0

/** Marks all places as free. */
export function empty(): void {
  memory.fill(EVENTS, 0, 4 * PLACES)
  taken = 0
}

/** By kind, the watched fields; with `LEFT_OUT` if one of `ANY_NEEDED` suffices, so that events must be examined. */
const QUICK: usize = memory.data(64)

/**
 * Counts the events from `i` to `rows` that have a watched field which is not needed, or lack one that is.
 * @param stops whether to stop before the first one
 * @returns the first event that was not examined; less than `rows` also if the place for its losses is in use
 */
export function count(i: u32, rows: u32, stops: bool): u32 {
  let anyNeeded: u32 = 0
  for (let kind: usize = 0; kind < 64; kind += 4) anyNeeded |= load<u32>(NEEDED + kind)
  for (let kind: usize = 0; kind < 64; kind += 4) {
    const watched = load<u32>(WATCHED + kind)
    const differs = (watched & (load<u32>(NEEDED + kind) ^ anyNeeded)) != 0
    store<u32>(QUICK + kind, differs ? watched | LEFT_OUT : watched)
  }
  const flipped = i32x4.splat(anyNeeded)
  // One table for each of a word's four bytes, to look up the words of 16 kinds at once.
  const a = v128.load(QUICK)
  const b = v128.load(QUICK + 16)
  const c = v128.load(QUICK + 32)
  const d = v128.load(QUICK + 48)
  const ab = v128.shuffle<u8>(a, b, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29)
  const cd = v128.shuffle<u8>(c, d, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29)
  const upperAb = v128.shuffle<u8>(a, b, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31)
  const upperCd = v128.shuffle<u8>(c, d, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31)
  const first = v128.shuffle<u64>(ab, cd, 0, 2)
  const second = v128.shuffle<u64>(ab, cd, 1, 3)
  const third = v128.shuffle<u64>(upperAb, upperCd, 0, 2)
  const fourth = v128.shuffle<u64>(upperAb, upperCd, 1, 3)
  const leftOut = i32x4.splat(LEFT_OUT)
  while (i < rows) {
    const to = min(i + 16, rows)
    if (to - i == 16) {
      const kinds = v128.load(KIND + i)
      const bytes0 = i8x16.swizzle(first, kinds)
      const bytes1 = i8x16.swizzle(second, kinds)
      const bytes2 = i8x16.swizzle(third, kinds)
      const bytes3 = i8x16.swizzle(fourth, kinds)
      const low = v128.shuffle<u8>(bytes0, bytes1, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
      const high = v128.shuffle<u8>(bytes2, bytes3, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
      const lower = v128.shuffle<u8>(bytes0, bytes1, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
      const higher = v128.shuffle<u8>(bytes2, bytes3, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
      const masks = MASK + ((<usize>i) << 2)
      const found = v128.or(
        v128.or(
          v128.and(
            v128.or(v128.xor(v128.load(masks), flipped), leftOut),
            v128.shuffle<u16>(low, high, 0, 8, 1, 9, 2, 10, 3, 11),
          ),
          v128.and(
            v128.or(v128.xor(v128.load(masks, 16), flipped), leftOut),
            v128.shuffle<u16>(low, high, 4, 12, 5, 13, 6, 14, 7, 15),
          ),
        ),
        v128.or(
          v128.and(
            v128.or(v128.xor(v128.load(masks, 32), flipped), leftOut),
            v128.shuffle<u16>(lower, higher, 0, 8, 1, 9, 2, 10, 3, 11),
          ),
          v128.and(
            v128.or(v128.xor(v128.load(masks, 48), flipped), leftOut),
            v128.shuffle<u16>(lower, higher, 4, 12, 5, 13, 6, 14, 7, 15),
          ),
        ),
      )
      if (!v128.any_true(found)) {
        i = to
        continue
      }
    }
    for (; i < to; i++) {
      const kind = <usize>load<u8>(KIND + i)
      const set = load<u32>(MASK + ((<usize>i) << 2)) ^ load<u32>(NEEDED + (kind << 2))
      const lost = (set | LEFT_OUT) & load<u32>(WATCHED + (kind << 2))
      if (lost == 0) continue
      if (stops) return i
      const what = ((<u64>kind) << 32) | (<u64>lost)
      const place = <usize>((what * 0x9e37_79b9_7f4a_7c15) >> 58)
      const events = load<u32>(EVENTS + (place << 2))
      if (events == 0) {
        store<u64>(LOST + (place << 3), what)
        taken++
      } else if (load<u64>(LOST + (place << 3)) != what) {
        return i
      }
      store<u32>(EVENTS + (place << 2), events + 1)
    }
  }
  return i
}
