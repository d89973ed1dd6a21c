import { TREE_METRICS } from '../lib/transforms/report/result.js'
import { GROUPS, type Target, type ViewName } from './target.js'
import type { Criterion } from './worker/messages.js'

/** The parts of an address that are text. */
const TEXTS = ['function', 'focus', 'hide', 'collapse'] as const
/** The maximum number of characters of such a text. */
const LONGEST = 2000
const LONGEST_FILTER = 20_000

/** The criteria of the filter, which every address has. */
let filter: readonly Criterion[] = []

/** Has all addresses from now on say how the trace is filtered. */
export function setFilter(criteria: readonly Criterion[]): void {
  filter = criteria
}

/** The filter that an address says; none if it is damaged. */
export function filterOf(hash: string): Criterion[] {
  const text = new URLSearchParams(hash.split('?').slice(1).join('?')).get('filter')
  if (text === null || text.length > LONGEST_FILTER) return []
  try {
    const found: unknown = JSON.parse(text)
    return Array.isArray(found) ? found.filter(isCriterion) : []
  } catch {
    return []
  }
}

function isCriterion(value: unknown): value is Criterion {
  return Array.isArray(value) && value.length > 0 && value.length < 3 && value.every((one) => typeof one === 'string')
}

/** The part of the page's address that names a view and a position in it. */
export function addressOf(view: ViewName, target: Target): string {
  const parts = new URLSearchParams()
  if (target.node !== undefined) parts.set('node', String(target.node))
  if (target.metric !== undefined) parts.set('metric', target.metric)
  if (target.inverted === true) parts.set('inverted', '1')
  if (target.by !== undefined && target.by !== 'function') parts.set('by', target.by)
  for (const name of TEXTS) {
    const text = target[name]
    if (text !== undefined && text !== '') parts.set(name, text.slice(0, LONGEST))
  }
  if (filter.length > 0) parts.set('filter', JSON.stringify(filter))
  return `#${view}${parts.size === 0 ? '' : `?${parts}`}`
}

/** What an address names; the overview, if that is no view. @param names of the views of the report */
export function parseAddress(hash: string, names: readonly ViewName[]): { view: ViewName; target: Target } {
  const [name = ''] = hash.slice(1).split('?')
  const parts = new URLSearchParams(hash.slice(name.length + 2))
  const node = Number(parts.get('node') ?? NaN)
  const metric = TREE_METRICS.find((one) => one === parts.get('metric'))
  const by = GROUPS.find((one) => one === parts.get('by'))
  const target: Target = {
    ...(Number.isInteger(node) && node >= 0 && { node }),
    ...(metric !== undefined && { metric }),
    ...(by !== undefined && { by }),
    ...(parts.get('inverted') === '1' && { inverted: true }),
  }
  for (const text of TEXTS) {
    const value = parts.get(text)
    if (value !== null && value !== '') target[text] = value.slice(0, LONGEST)
  }
  return { view: names.find((one) => one === name) ?? 'overview', target }
}
