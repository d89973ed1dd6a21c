import { HI, LO, WORD } from '../bytes/u64.js'
import { reviseBatch, type EventBatch } from '../event/batch.js'
import { fieldSet, FieldBit } from '../event/fields.js'

const TIMES = fieldSet('time', 'endTime')
const NS_PER_US = 1000

/**
 * A batch with converted times, and the number of times that did not fit 64 bits and are now the largest value that
 * does.
 */
export interface Converted {
  batch: EventBatch
  overflows: number
}

/** Converts `time` and `endTime` from microseconds to nanoseconds; the header stays. */
export function microsToNanos(source: EventBatch): Converted {
  const fields = source.columns & TIMES
  if (fields === 0) return { batch: source, overflows: 0 }
  const batch = reviseBatch(source, fields)
  let overflows = 0
  for (const field of ['time', 'endTime'] as const)
    if ((fields & FieldBit[field]) !== 0)
      overflows += scale(source[field].words, batch[field].words, source, FieldBit[field])
  return { batch, overflows }
}

function scale(from: Uint32Array, to: Uint32Array, { mask, count }: EventBatch, has: number): number {
  let overflows = 0
  for (let i = 0; i < count; i++) {
    if ((mask[i] & has) === 0) continue
    // Both products stay far below 2^53.
    let lo = from[2 * i + LO] * NS_PER_US
    let hi = from[2 * i + HI] * NS_PER_US + Math.floor(lo / WORD)
    if (hi >= WORD) {
      lo = hi = WORD - 1
      overflows++
    }
    to[2 * i + LO] = lo
    to[2 * i + HI] = hi
  }
  return overflows
}
