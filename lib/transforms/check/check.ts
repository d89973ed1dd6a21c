import { wrongType } from '../../event/error.js'
import { showValue } from '../../event/message-text.js'
import { checkOptions, needResult, wholeNumber } from '../../event/options.js'
import { OwnFrames } from '../../names/own-frames.js'
import { TEMPORARY_BY, type BudgetFigure, type TemporaryDefinition } from '../option-values.js'
import { checkGroups, PERCENT, type Budget, type BudgetGroup } from './budgets.js'
import { TOGETHER } from './functions.js'
import { descending } from '../statistics/site-table.js'
import { nothing, type Measure, type Measured, type Measures } from './measure.js'
import { changedSites, type ChangedSite } from './sites.js'
import type { Amount } from '../statistics/result.js'

/** Whether a budget holds; `unknown` if its figure cannot be known. */
export type Verdict = 'within' | 'beyond' | 'unknown'

/** One budget, and what was measured. */
export interface CheckedBudget extends Budget, Pick<BudgetGroup, 'at' | 'each'> {
  readonly verdict: Verdict
  /** For `each`, the function of this row; absent if one row is about all functions that are within. */
  readonly function?: string
  /** The number of functions that it is about. */
  readonly functions?: number
  /** The value in each run, and in each run of the baseline. */
  readonly values?: readonly bigint[]
  readonly baseline?: readonly bigint[]
  /**
   * The value that counts: for `max`, the value of the run that is closest to its limit or farthest beyond it; for
   * `grow`, the median.
   */
  readonly value?: bigint
  /** The median of the baseline. */
  readonly old?: bigint
  /** The whole of which the value is a part. */
  readonly whole?: bigint
  /** The largest value that is within. */
  readonly most?: bigint
  /** The median is beyond the limit, but not all runs are above all runs of the baseline, so it may be chance. */
  readonly isNoise?: true
  /** The reason why the value is unknown. */
  readonly reason?: string
  /**
   * The causes, if the value is beyond: the sites with the largest change or, without a baseline, the largest sites.
   */
  readonly sites?: readonly ChangedSite[]
}

export interface CheckResult {
  /** `beyond` if any budget is beyond; otherwise `unknown` if any is unknown. */
  readonly verdict: Verdict
  readonly runs: readonly string[]
  readonly baseline: readonly string[]
  /** The definition of temporary allocations. */
  readonly temporaryBy: TemporaryDefinition
  /** For each run, the leaks that do not count, if any may be suppressed. */
  readonly suppressed?: readonly Amount[]
  readonly budgets: readonly CheckedBudget[]
}

export interface CheckOptions {
  /** The number of sites that are named for each budget. Default: 5. */
  readonly sites?: number
  /** The frames that are skipped to find a function of `each`: the same as for the collectors. */
  readonly own?: OwnFrames
}

/** The number of sites that are named for an exceeded budget. */
const SITES = 5

/**
 * Compares measurements with budgets. docs/ci.md has the rules, also for several runs.
 * @param runs the measurements of the runs of the program, by a collector for the same groups
 * @param baseline the measurements of runs of an earlier version; may be empty if no budget is about growth
 * @throws RangeError without runs, and for a budget of growth without a baseline
 */
export function check(
  runs: readonly Measured[],
  baseline: readonly Measured[],
  groups: readonly BudgetGroup[],
  options: CheckOptions = {},
): CheckResult {
  checkGroups(groups, 'check')
  checkOptions(options, { sites: wholeNumber(), own: true }, 'check')
  for (const list of [runs, baseline]) {
    if (!Array.isArray(list)) throw wrongType(`check: an array of results is needed, not ${showValue(list)}`)
    for (const one of list) needResult(one, 'measure', 'whole', 'check')
  }
  if (runs.length === 0) throw new RangeError('check: there are no runs')
  const growing = groups.flatMap((group) => group.budgets).find(({ rule }) => rule === 'grow')
  if (growing !== undefined && baseline.length === 0)
    throw new RangeError(`a budget for the growth of ${growing.figure} needs a baseline`)
  const { sites: top = SITES, own = new OwnFrames() } = options
  const found = new Map<string, ReadonlyMap<string, readonly ChangedSite[]>>()
  const sitesOf = (figure: BudgetFigure, index: number, run: number, oldRun: number | undefined, name: string) => {
    const key = [figure, index, run, oldRun].join()
    const known =
      found.get(key) ??
      changedSites({
        old: oldRun === undefined ? undefined : baseline[oldRun].profile,
        next: runs[run].profile,
        figure,
        group: groups[index],
        own,
        top,
      })
    found.set(key, known)
    return known.get(name) ?? []
  }
  const checkOne = (budget: Budget, { budgets: _all, ...group }: BudgetGroup, index: number): CheckedBudget[] => {
    const rowOf = (measures: (one: Measured) => Measures, name = ''): CheckedBudget => {
      const { run = 0, oldRun, ...judged } = judge(budget, runs.map(measures), baseline.map(measures))
      if (judged.verdict !== 'beyond') return { ...budget, ...group, ...judged }
      const before = oldRun ?? middleOf(baseline.map(measures), budget.figure)
      return { ...budget, ...group, ...judged, sites: sitesOf(budget.figure, index, run, before, name) }
    }
    if (group.at === undefined && group.each === undefined) return [rowOf(({ whole }) => whole)]
    const functions = new Set([...runs, ...baseline].flatMap((one) => [...(one.groups[index]?.keys() ?? [])]))
    if (functions.size === 0)
      return [{ ...budget, ...group, verdict: 'unknown', reason: noFunction([...runs, ...baseline], group) }]
    const ofFunction = (name: string) => (one: Measured) => one.groups[index]?.get(name) ?? nothing(one.whole)
    if (group.at !== undefined) return [rowOf(ofFunction(TOGETHER), TOGETHER)]
    const rows = [...functions].map((name) => ({ ...rowOf(ofFunction(name), name), function: name }))
    const unknown = rows.find(({ verdict }) => verdict === 'unknown')
    if (unknown !== undefined)
      return [{ ...budget, ...group, verdict: 'unknown', reason: unknown.reason as string, functions: functions.size }]
    const beyond = rows.filter(({ verdict }) => verdict === 'beyond')
    if (beyond.length === 0) return [{ ...budget, ...group, verdict: 'within', functions: functions.size }]
    return beyond.toSorted((a, b) => descending(excessOf(a), excessOf(b)))
  }
  const budgets = groups.flatMap((group, index) =>
    different(group.budgets).flatMap((budget) => checkOne(budget, group, index)),
  )
  const is = (verdict: Verdict) => budgets.some((one) => one.verdict === verdict)
  const suppressed = runs.flatMap((run) => run.suppressed ?? [])
  return {
    verdict: is('beyond') ? 'beyond' : is('unknown') ? 'unknown' : 'within',
    runs: runs.map(({ name }) => name),
    baseline: baseline.map(({ name }) => name),
    temporaryBy: runs[0]?.profile.temporaryBy ?? TEMPORARY_BY,
    ...(suppressed.length > 0 && { suppressed }),
    budgets,
  }
}

type Known = Exclude<Measure, { unknown: string }>
/** A verdict with its values, and the numbers of the runs that count. */
type Judged = Pick<
  CheckedBudget,
  'verdict' | 'values' | 'baseline' | 'value' | 'old' | 'whole' | 'most' | 'isNoise' | 'reason'
> & {
  readonly run?: number
  readonly oldRun?: number
}

function judge({ figure, rule, limit }: Budget, runs: readonly Measures[], baseline: readonly Measures[]): Judged {
  const compared = rule === 'grow' ? baseline : []
  const all = [...runs, ...compared].map((one) => one[figure] ?? { unknown: 'the trace does not have it' })
  const unknown = all.find((one) => 'unknown' in one)
  if (unknown !== undefined) return { verdict: 'unknown', reason: unknown.unknown }
  const values = (all.slice(0, runs.length) as Known[]).map(({ value }) => value)
  const part = (whole: bigint) => (whole * limit.percent) / (100n * PERCENT)
  if (rule === 'max') {
    const wholes = (all as Known[]).map(({ whole = 0n }) => whole)
    const limits = wholes.map((whole) => limit.amount + part(whole))
    const excess = values.map((value, i) => value - limits[i])
    const run = excess.indexOf(excess.reduce((most, one) => (one > most ? one : most)))
    return {
      verdict: excess[run] > 0n ? 'beyond' : 'within',
      run,
      values,
      value: values[run],
      most: limits[run],
      ...(limit.percent > 0n && { whole: wholes[run] }),
    }
  }
  const olds = (all.slice(runs.length) as Known[]).map(({ value }) => value)
  const [run, oldRun] = [median(values), median(olds)]
  const [value, before] = [values[run], olds[oldRun]]
  const most = before + limit.amount + part(before)
  const isAbove = values.every((one) => olds.every((other) => one > other))
  return {
    verdict: value > most && isAbove ? 'beyond' : 'within',
    run,
    oldRun,
    values,
    baseline: olds,
    value,
    old: before,
    most,
    ...(value > most && !isAbove && { isNoise: true }),
  }
}

/** The index of the median; for an even number of values, the index of the lower middle one. */
function median(values: readonly bigint[]): number {
  const order = [...values.keys()].toSorted((a, b) =>
    values[a]! < values[b]! ? -1 : values[a]! > values[b]! ? 1 : a - b,
  )
  return order[(order.length - 1) >> 1]
}

/** The run of the baseline with which sites are compared, if the baseline does not decide. */
function middleOf(measures: readonly Measures[], figure: BudgetFigure): number | undefined {
  const values = measures
    .map((one) => one[figure])
    .map((one) => (one === undefined || 'unknown' in one ? 0n : one.value))
  return values.length === 0 ? undefined : median(values)
}

/** The budgets without duplicates, such as a limit of 0 for `leaked` beside one for `leaked-blocks`. */
function different(budgets: readonly Budget[]): Budget[] {
  const isSame = (a: Budget, b: Budget) =>
    a.figure === b.figure &&
    a.rule === b.rule &&
    a.limit.amount === b.limit.amount &&
    a.limit.percent === b.limit.percent
  return budgets.filter((one, i) => budgets.findIndex((other) => isSame(one, other)) === i)
}

function excessOf({ value = 0n, most = 0n }: CheckedBudget): bigint {
  return value - most
}

function noFunction(measured: readonly Measured[], { at, each }: Pick<BudgetGroup, 'at' | 'each'>): string {
  const events = measured.find(({ profile }) => profile.statistics.events === 0)
  if (events !== undefined) return 'the trace has no events'
  return `no function of the trace matches ${JSON.stringify(at ?? each)}`
}
