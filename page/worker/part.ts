import { filterOptions } from '../../lib/cli/filter-options.js'
import type { EventBatch } from '../../lib/event/batch.js'
import { recycle } from '../../lib/event/recycle.js'
import { FateSurvey } from '../../lib/transforms/fates/survey.js'
import { Filter, needsSurvey } from '../../lib/transforms/filter.js'
import { withStackDepth } from '../../lib/transforms/stack-depth.js'
import { EventNumberList } from './event-numbers.js'
import { fatesOf } from './fates.js'
import type { Criterion } from './messages.js'
import { parseWindow, windowOf } from './window.js'

/** The part of a trace that meets some criteria, as `hf-filter` finds it. */
export interface Part {
  /** The batches of the part, each of which is valid until the next is taken. */
  batches(): AsyncGenerator<EventBatch>
  /** The numbers that the events so far have in the trace. */
  readonly numbers: EventNumberList
}

/**
 * @param read reads the trace, which happens twice if criteria depend on later events
 * @param warn is called with warnings about the criteria
 * @throws Error for criteria that there cannot be
 */
export function partOf(
  criteria: readonly Criterion[],
  read: () => AsyncIterable<EventBatch>,
  warn: (text: string) => void,
): Part {
  const all = (name: string) => criteria.filter(([flag]) => flag === name).map(([, value]) => value ?? '')
  const has = (name: string) => all(name).length > 0
  const options = filterOptions({ all, has, value: (name) => all(name).at(-1) })
  const depth = has('depth') ? depthOf(all('depth').at(-1) as string) : undefined
  // Criteria that cannot be are found before anything is read.
  const survey = needsSurvey(options) ? new FateSurvey(options) : undefined
  let filter = new Filter(options, [])
  const numbers = new EventNumberList()
  const part = all('part').at(-1)
  const window = part === undefined ? undefined : parseWindow(part)
  /** The numbers in the trace of the events of the current batch, in a part of the run. */
  let origin: ArrayLike<number> | undefined
  const readPart = async function* (): AsyncGenerator<EventBatch> {
    if (window === undefined) {
      yield* read()
      return
    }
    for await (const { batch, numbers: next } of windowOf(window, read)) {
      origin = next
      yield batch
    }
  }
  return {
    numbers,
    async *batches() {
      if (survey !== undefined) filter = new Filter(options, await fatesOf(survey, readPart))
      let before = 0
      let isWhole = false
      try {
        for await (const batch of readPart()) {
          const { count } = batch
          filter.feed(batch)
          const result = filter.next()
          const { kept } = filter
          if (origin === undefined) numbers.add(before, kept)
          else
            numbers.add(
              -1,
              Array.from(kept, (row) => origin?.[row] as number),
            )
          before += count
          if (result !== null) yield depth === undefined ? result : withStackDepth(result, depth)
          if (result !== null && result !== batch) recycle(result)
          recycle(batch)
        }
        isWhole = true
      } finally {
        // What is known of the events before a fault is reported too.
        if (isWhole) filter.end()
        else filter.endTruncated()
        filter.warnings.forEach(warn)
      }
    },
  }
}

function depthOf(text: string): number {
  const depth = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (depth === 0) throw new RangeError(`the stack depth must be a number from 1, not ${JSON.stringify(text)}`)
  return depth
}
