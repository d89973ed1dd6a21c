import type { FieldStates } from '../fields.js'
import { metadataLength } from '../../../../lib/formats/hatf/layout.js'
import { Plan, type Planner } from '../plan.js'
import type { Records } from '../records.js'

/** Several planners for different fields as one. */
export class ComposedPlanner implements Planner {
  readonly window: number
  private readonly plans: Plan[]

  /** @param parts planners that share no field; metadata before the same record is written in their order */
  constructor(private readonly parts: readonly Planner[]) {
    this.plans = parts.map(() => new Plan())
    this.window = Math.max(0, ...parts.map((part) => part.window ?? 0))
  }

  plan(records: Records, fields: FieldStates, plan: Plan): void {
    const { parts, plans } = this
    for (let p = 0; p < parts.length; p++) {
      const own = plans[p]
      own.reset()
      parts[p].plan(records, fields, own)
    }
    merge(
      plans.filter(({ count }) => count > 0),
      plan,
    )
  }
}

/** Adds the metadata of all plans to one, by the records that it goes before. */
function merge(plans: readonly Plan[], to: Plan): void {
  const next = plans.map(() => 0)
  const at = plans.map(() => 0)
  for (;;) {
    let first = -1
    let before = Infinity
    for (let p = 0; p < plans.length; p++) {
      const { count, before: records } = plans[p]
      const i = next[p]
      if (i < count && records[i] < before) {
        first = p
        before = records[i]
      }
    }
    if (first < 0) return
    const { bytes } = plans[first].sink
    const start = at[first]
    const end = start + metadataLength(bytes, start)
    to.add(before, bytes.subarray(start, end))
    next[first] = next[first] + 1
    at[first] = end
  }
}
