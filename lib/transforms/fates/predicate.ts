import { Lifetimes } from '../../blocks/lifetimes.js'
import type { EventBatch } from '../../event/batch.js'
import { Kind } from '../../event/fields.js'
import type { Predicate } from '../predicates/predicates.js'
import type { Fate } from './survey.js'

const { 'process-end': PROCESS_END } = Kind

/**
 * Selects the allocations that have all of some fates, and the reallocs of blocks whose first allocation has them. It
 * is for the second of two passes over the same trace, and must see every batch with all of its rows.
 * @param withEnds also selects the ends of processes in which blocks leak, whatever the other fates of these blocks
 */
export function hasFates(fates: readonly Fate[], withEnds: boolean): Predicate {
  const leaks = withEnds && fates.some(isLeak)
  const all = fates.map((fate) => ({
    ...fate,
    // Only blocks that leak end with their process; other fates do not decide about ends then.
    passes: leaks && !isLeak(fate),
    lifetimes: fate.until > 0 ? new Lifetimes(false, leaks && isLeak(fate) ? [] : undefined) : undefined,
  }))
  let labels = new Uint32Array(0)
  return (batch, rows, n, before) => {
    const { count } = batch
    if (labels.length < count) labels = new Uint32Array(count)
    let kept = n
    for (const { events, until, lifetimes, passes } of all) {
      labels.fill(0, 0, count)
      events.mark(labels, before + 1, count)
      if (lifetimes !== undefined && before < until) {
        lifetimes.follow(batch, labels)
        if (before + count > until) labels.fill(0, until - before, count)
      }
      if (passes) labelEnds(batch, labels)
      let m = 0
      for (let j = 0; j < kept; j++) {
        const i = rows[j]
        rows[m] = i
        m += labels[i]
      }
      kept = m
    }
    return kept
  }
}

/** Whether the fate is to be live when the process or the trace ends. */
function isLeak({ until }: Fate): boolean {
  return until === Infinity
}

/** Labels the ends of processes. */
function labelEnds({ kind, count }: EventBatch, labels: Uint32Array): void {
  for (let i = kind.indexOf(PROCESS_END); i >= 0 && i < count; i = kind.indexOf(PROCESS_END, i + 1)) labels[i] = 1
}
