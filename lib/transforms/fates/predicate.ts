import { Lifetimes } from '../../blocks/lifetimes.js'
import type { Predicate } from '../predicates/predicates.js'
import type { Fate } from './survey.js'

/**
 * The event is an allocation that has all of some fates, or the realloc of a block whose first allocation has. It is
 * for the second of two passes over the same trace, and must see every batch, with all of its rows.
 */
export function hasFates(fates: readonly Fate[]): Predicate {
  const all = fates.map((fate) => ({ ...fate, lifetimes: fate.until > 0 ? new Lifetimes() : undefined }))
  let labels = new Uint32Array(0)
  return (batch, rows, n, before) => {
    const { count } = batch
    if (labels.length < count) labels = new Uint32Array(count)
    let kept = n
    for (const { events, until, lifetimes } of all) {
      labels.fill(0, 0, count)
      events.mark(labels, before + 1, count)
      if (lifetimes !== undefined && before < until) {
        lifetimes.follow(batch, labels)
        if (before + count > until) labels.fill(0, until - before, count)
      }
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
