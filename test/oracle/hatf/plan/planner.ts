import { FIELD_NAMES } from '../../../../lib/formats/hatf/layout.js'
import { plain, plainPlanner, type Planner } from '../plan.js'
import { ComposedPlanner } from './compose.js'
import { FieldPlanner } from './field-planner.js'
import { SinglePlanner } from './single.js'
import { PLAIN, SINGLE, strategyOf, type Strategies } from '../../../../lib/formats/hatf/plan/strategies.js'

/**
 * A planner of its own for each encoder.
 * @param window how many records to look at in one go
 * @throws RangeError when there is no strategy of such a name
 */
export function plannerFor(strategies: Strategies, window?: number): Planner {
  const fields = FIELD_NAMES.map((name, field) => ({ field, strategy: strategyOf(name, strategies[name]) }))
  const parts: Planner[] = []
  const simple = fields.filter(({ strategy }) => strategy === PLAIN).map(({ field }) => field)
  if (simple.length === FIELD_NAMES.length) return plainPlanner
  if (simple.length > 0) parts.push(plain(simple))
  for (const { field, strategy } of fields) {
    if (strategy === SINGLE) parts.push(new SinglePlanner(field))
    else if (strategy !== PLAIN) parts.push(new FieldPlanner(field, strategy, window))
  }
  return new ComposedPlanner(parts)
}
