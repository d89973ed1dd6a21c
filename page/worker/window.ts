import type { EventBatch } from '../../lib/event/batch.js'
import { ALL_FIELDS } from '../../lib/event/fields.js'
import { recycle } from '../../lib/event/recycle.js'
import { selectRows } from '../../lib/kernel/select.js'
import { FateSurvey } from '../../lib/transforms/fates/survey.js'
import type { Moment } from '../../lib/transforms/fates/moment.js'
import { Filter } from '../../lib/transforms/filter.js'
import { parseRange, type Range } from '../../lib/transforms/predicates/ranges.js'
import { fatesOf } from './fates.js'

/** A part of the run: the live set when it begins, and all events in it. */
export interface Window {
  readonly range: Range
  readonly isTime: boolean
}

/** A batch of a window, and the numbers that its events have in the trace, from 1. */
export interface NumberedBatch {
  readonly batch: EventBatch
  readonly numbers: ArrayLike<number>
}

/** @param text a range of events, such as `100..200`, or after `time:` one of times. @throws RangeError */
export function parseWindow(text: string): Window {
  const isTime = text.startsWith('time:')
  try {
    return { range: parseRange(isTime ? text.slice(5) : text), isTime }
  } catch (error) {
    throw new RangeError(`the part of the run: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The last moment before a window; undefined if it begins with the trace. */
function momentBefore({ range, isTime }: Window): Moment | undefined {
  const from = range.from === undefined ? 0n : BigInt(range.from)
  if (isTime) return from > 0n ? { time: from - 1n } : undefined
  return from > 1n ? { event: Number(from - 1n) } : undefined
}

/**
 * The events of a part of the run, after those that allocated and resized the live set when it begins. So live bytes
 * are those of the whole run.
 * @param read reads the trace, which happens twice unless the part begins with it
 */
export async function* windowOf(window: Window, read: () => AsyncIterable<EventBatch>): AsyncGenerator<NumberedBatch> {
  const { range, isTime } = window
  const inside = new Filter(isTime ? { time: range } : { events: range })
  const liveAt = momentBefore(window)
  const living =
    liveAt === undefined ? undefined : new Filter({ liveAt }, await fatesOf(new FateSurvey({ liveAt }), read))
  let before = 0
  let isOver = false
  for await (const batch of read()) {
    const older = living === undefined ? NO_ROWS : keptBy(living, batch)
    const own = keptBy(inside, batch)
    const rows = joined(older, own)
    const numbers = rows.map((row) => before + row + 1)
    before += batch.count
    if (rows.length === batch.count && rows.length > 0) yield { batch, numbers }
    else if (rows.length > 0) {
      yield { batch: selectRows(batch, rows, rows.length, ALL_FIELDS, batch.header), numbers }
      recycle(batch)
    } else recycle(batch)
    // Nothing is kept after the last event of a range of numbers.
    isOver = !isTime && range.to !== undefined && BigInt(before) >= BigInt(range.to)
    if (isOver) return
  }
}

const NO_ROWS = new Int32Array(0)

function keptBy(filter: Filter, batch: EventBatch): Int32Array {
  filter.feed(batch)
  const result = filter.next()
  const rows = filter.kept.slice()
  if (result !== null && result !== batch) recycle(result)
  return rows
}

/** The rows of both lists, in order, each once. */
function joined(a: Int32Array, b: Int32Array): Int32Array {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const rows = new Int32Array(a.length + b.length)
  let [i, j, n] = [0, 0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i] ?? Infinity, b[j] ?? Infinity]
    rows[n++] = Math.min(left, right)
    if (left <= right) i++
    if (right <= left) j++
  }
  return rows.subarray(0, n)
}
