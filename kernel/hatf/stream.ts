/**
 * Events to bytes where no field's layouts need lookahead: most events are written directly, without stored records.
 */

import { F_TIME } from '../../lib/kernel/layouts/hatf'
import { ADDRESS, KIND, MASK, SIZE, THREAD, TIME } from '../shared/columns'
import { HAS_ADDRESS, HAS_ATTRIBUTES, HAS_HEAP, HAS_SIZE, HAS_THREAD, HAS_TIME, KIND_FREE } from '../shared/event'
import { toRecords, records, todo } from './to-records'
import { clearPlan } from './plan'
import * as State from './state'
import { isQuick, OUTPUT, OUTPUT_BYTES, setWritten, writeAt, written } from './write'

/** The fields that HATF represents in alloc and free records, as bits of an event's mask. */
const OWN: u32 = HAS_SIZE | HAS_ADDRESS | HAS_THREAD | HAS_HEAP | HAS_TIME | HAS_ATTRIBUTES

/** For alloc and free, which of size and address the record has. */
const HAS_PAIR = memory.data<u64>([-1, -1, 0, -1])

/** Whether the wrapper has something to do for the first event that was not written. */
export let blocked: bool = false

/**
 * Writes the records of the events from `i` to `to`, until there is enough output or the wrapper has something to do.
 * @param keep whether to keep what the record cannot represent in attributes and comments
 * @returns the first event that was not written
 */
export function stream(i: u32, to: u32, keep: bool): u32 {
  blocked = false
  let out = OUTPUT
  // All records of an event, with their metadata, must fit after this position.
  const full = OUTPUT + OUTPUT_BYTES - 1024
  clearPlan(3)
  let optional = load<u32>(State.OPTIONAL)
  let quick = isQuick(optional)
  let bases = v128.load(State.BASES)
  let more = v128.load(State.BASES, F_TIME << 3)
  for (; i < to && out < full; i++) {
    const kind = <u32>load<u8>(KIND + i)
    const set = load<u32>(MASK + ((<usize>i) << 2))
    const own = kind == KIND_FREE ? OWN & ~HAS_SIZE : OWN
    const usual = optional | (own & (HAS_SIZE | HAS_ADDRESS))
    if (kind <= KIND_FREE && quick && (keep ? set : set & own) == usual) {
      const wide = (<usize>i) << 3
      const tag = (<usize>kind) << 4
      const pair = v128.load_lane<u64>(ADDRESS + wide, v128.load_zero<u64>(SIZE + wide), 1)
      let misfits = v128.and(
        v128.and(v128.xor(pair, v128.load(State.EXPECTED)), v128.load(State.COUNTING)),
        v128.load(HAS_PAIR + tag),
      )
      let times = i64x2.splat(0)
      if (optional != 0) {
        if ((optional & HAS_TIME) != 0) times = v128.load_zero<u64>(TIME + wide)
        if ((optional & HAS_THREAD) != 0) times = v128.load_lane<u64>(THREAD + wide, times, 1)
        misfits = v128.or(
          misfits,
          v128.and(v128.xor(times, v128.load(State.EXPECTED, 16)), v128.load(State.COUNTING, 16)),
        )
      }
      if (!v128.any_true(misfits)) {
        // Which of the two comes next is hard to predict, so both are written alike and only the length differs.
        store<u8>(out, <u8>kind)
        v128.store(out, v128.swizzle(i64x2.sub(pair, bases), v128.load(State.WRITE_PAIR + tag)), 1)
        bases = v128.bitselect(pair, bases, v128.load(State.MOVES_PAIR + tag))
        if (optional != 0) {
          v128.store(
            out + load<u32>(State.THREAD_AT + ((<usize>kind) << 2)),
            v128.swizzle(i64x2.sub(times, more), v128.load(State.WRITE_OPTIONAL)),
          )
          more = v128.bitselect(times, more, v128.load(State.MOVES, F_TIME << 3))
        }
        out += State.lengthOf(kind)
        continue
      }
    }
    v128.store(State.BASES, bases)
    v128.store(State.BASES, more, F_TIME << 3)
    toRecords(i, i + 1, 0, 1, 0, keep)
    if (todo != 0) {
      blocked = true
      break
    }
    writeAt(out, 0, records, 0, 0)
    out = OUTPUT + written
    optional = load<u32>(State.OPTIONAL)
    quick = isQuick(optional)
    bases = v128.load(State.BASES)
    more = v128.load(State.BASES, F_TIME << 3)
  }
  v128.store(State.BASES, bases)
  v128.store(State.BASES, more, F_TIME << 3)
  setWritten(out)
  return i
}
