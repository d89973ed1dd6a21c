import type { View, ViewName } from '../app.js'
import { addresses } from './addresses.js'
import { allocators } from './allocators.js'
import { churn } from './churn.js'
import { comparison } from './comparison.js'
import { flame } from './flame.js'
import { functions } from './functions.js'
import { leaks } from './leaks.js'
import { overview } from './overview.js'
import { peak } from './peak.js'
import { problems } from './problems.js'
import { sites } from './sites.js'
import { threads } from './threads.js'
import { timeline } from './timeline.js'

/** Every view by its name. */
export const ALL_VIEWS: Readonly<Record<ViewName, View>> = {
  overview,
  timeline,
  sites,
  flame,
  functions,
  leaks,
  peak,
  churn,
  threads,
  addresses,
  problems,
  comparison,
  allocators,
}
