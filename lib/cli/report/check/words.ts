import { plural } from '../../../event/message-text.js'
import type { ChangedSite } from '../../../transforms/check/sites.js'
import type { CheckedBudget, CheckResult } from '../../../transforms/check/check.js'
import { BUDGET_FIGURES, titleBy, type TemporaryDefinition } from '../../../transforms/option-values.js'
import { comparedFrameText } from '../../../names/named-frame.js'
import { bytes, counted, grouped, signed, visible } from '../columns.js'
import { UNKNOWN_FIGURE } from '../identity.js'
import { amount, labelledSites, type SiteNames } from '../names.js'

/** The input of the writers of results. */
export interface CheckOutput {
  readonly result: CheckResult
  /** The options for names of sites in text. */
  readonly names: SiteNames
  /** The exit status of the command. */
  readonly status: number
  /** The version of the package. */
  readonly version: string
  /** The folder in which the command runs. */
  readonly folder: string
}

/** A budget as it was given: `max peak 200M`, `grow peak 5% at parse*`. */
export function budgetName({ rule, figure, limit, at, each, function: name }: CheckedBudget): string {
  const where = at !== undefined ? ` at ${at}` : each !== undefined ? ` each ${each}` : ''
  return visible(`${rule} ${figure} ${limit.text}${where}${name === undefined ? '' : `: ${name}`}`)
}

/** The figure of a budget: `peak memory of parse`. @param by the definition of temporary allocations */
export function subject(
  { figure, at, each, function: name, functions }: CheckedBudget,
  by: TemporaryDefinition,
): string {
  const of =
    name !== undefined
      ? ` of ${name}`
      : at !== undefined
        ? ` of ${at}, with what it calls`
        : each === undefined
          ? ''
          : ` of each ${each}${functions === undefined ? '' : ` (${counted(functions, 'function')})`}`
  return visible(titleBy(BUDGET_FIGURES[figure].title, figure, by) + of)
}

/** The measured and the allowed value, as a sentence without its subject and its end. */
export function finding(row: CheckedBudget): string {
  const { value, old, most, whole, limit, rule, reason, values = [], baseline = [], figure } = row
  if (row.verdict === 'unknown') return `${UNKNOWN_FIGURE} (not known: ${visible(reason ?? '')})`
  if (value === undefined || most === undefined) return `at most ${limit.text}${rule === 'grow' ? ' more' : ''}`
  const about = BUDGET_FIGURES[figure]
  const text = (one: bigint) => (about.unit === 'bytes' ? bytes(one) : grouped(one))
  const part =
    whole === undefined || !('whole' in about)
      ? ''
      : ` (${limit.text} of ${text(whole)} ${whole === 1n ? about.whole.replace(/s$/, '') : about.whole})`
  if (rule === 'max') {
    const runs = values.length > 1 ? ` in the worst of ${values.length} runs` : ''
    return `${text(value)}${runs}, at most ${text(most)}${part}`
  }
  const range = (all: readonly bigint[]) => {
    const [least, largest] = [all, all].map((some, i) => some.reduce((a, b) => ((i === 0 ? b < a : b > a) ? b : a)))
    return `${grouped(least)} to ${grouped(largest)}`
  }
  const isMany = values.length > 1 || baseline.length > 1
  const runs = isMany ? `; medians of ${baseline.length} and ${values.length} runs` : ''
  const noise = row.isNoise ? `; beyond it, but the runs overlap: ${range(baseline)}, now ${range(values)}` : ''
  const change = `${text(old ?? 0n)}, now ${text(value)}${growth(old ?? 0n, value)}`
  return `${change}, at most ${text(most)} (${limit.text} more)${runs}${noise}`
}

function growth(old: bigint, value: bigint): string {
  if (old === 0n || old === value) return ''
  const percent = (100 * Number(value - old)) / Number(old)
  return ` (${percent > 0 ? '+' : ''}${percent.toFixed(1)} %)`
}

/** The names of the amounts of sites. */
const AMOUNTS: Readonly<Record<string, string>> = {
  peak: 'live at the peak',
  blocks: 'live at the peak',
  allocated: 'allocated',
  allocations: 'allocated',
  leaked: 'leaked',
  'leaked-blocks': 'leaked',
  temporary: 'temporary',
  wasted: 'wasted',
}

/** The key by which the sites of a budget are sorted: `change in bytes live at the peak`. @param by as of `subject` */
export function siteOrder({ figure, at, each, sites = [] }: CheckedBudget, by: TemporaryDefinition): string {
  const { unit } = BUDGET_FIGURES[figure]
  const own =
    figure === 'peak' && (at ?? each) !== undefined ? 'live at a time' : titleBy(AMOUNTS[figure] ?? '', figure, by)
  return `${sites[0]?.old === undefined ? '' : 'change in '}${unit} ${own}`
}

/** The headers of figures of sites, and the figures of each. */
export function siteCells({ sites = [] }: CheckedBudget): { heads: string[]; rows: string[][] } {
  const isCompared = sites[0]?.old !== undefined
  const cells = ({ old, new: { bytes: size, blocks } }: ChangedSite) =>
    old === undefined
      ? [grouped(size), grouped(blocks)]
      : [grouped(old.bytes), grouped(size), signed(size - old.bytes), signed(BigInt(blocks - old.blocks))]
  return {
    heads: isCompared ? ['old bytes', 'new bytes', 'difference', 'blocks'] : ['bytes', 'blocks'],
    rows: sites.map(cells),
  }
}

/** The sites of a budget as a text table. @param by as of `subject` */
export function siteLines(row: CheckedBudget, names: SiteNames, by: TemporaryDefinition): string[] {
  const { sites = [] } = row
  if (sites.length === 0) return []
  const title = `Sites of ${subject(row, by)}, by ${siteOrder(row, by)}`
  const stacks = sites.map(({ stack }) => ({ stack: stack.map(comparedFrameText) }))
  return labelledSites({ title, ...siteCells(row) }, stacks, names)
}

/** `1 of 3 budgets is exceeded`. */
export function summaryOf({ budgets, runs, baseline, suppressed = [] }: CheckResult): string {
  const count = (verdict: string) => budgets.filter((one) => one.verdict === verdict).length
  const [beyond, unknown, all] = [count('beyond'), count('unknown'), budgets.length]
  const parts = [
    ...(beyond > 0 ? [`${beyond} of ${all} budgets ${beyond === 1 ? 'is' : 'are'} exceeded`] : []),
    ...(unknown > 0 ? [`${unknown} of ${all} cannot be checked`] : []),
    ...(beyond + unknown === 0 ? [all === 1 ? 'The budget holds' : `All ${all} budgets hold`] : []),
  ]
  const compared = baseline.length > 0 ? `, compared with ${plural(baseline.length, 'run')} of the baseline` : ''
  const leaks = suppressed.length === 0 ? '' : ` Suppressed leaks: ${suppressed.map((one) => amount(one)).join('; ')}.`
  return `${parts.join('; ')} (${plural(runs.length, 'run')}${compared}).${leaks}`
}
