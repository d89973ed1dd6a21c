import { TREE_METRICS } from '../lib/transforms/report/result.js'
import { groupsOf } from './flame/groups.js'
import type { Model } from './model.js'
import { later } from './parts/later.js'
import { siteRows } from './sites/rows.js'

/** Makes what views need of a report while the browser has nothing else to do, so that they open at once. */
export function prepareViews(model: Model): void {
  const pieces: (() => void)[] = [
    () => void siteRows(model),
    ...TREE_METRICS.filter((metric) => model.isKnown(metric)).map((metric) => () => void model.tree(metric)),
    () => void groupsOf(model, 'function'),
  ]
  const work = later((isAll) => {
    // Paper has the views, which make what they need.
    if (isAll === true) return
    pieces.shift()?.()
    if (pieces.length > 0) work.ask()
  })
  work.ask()
}
