import { wrongType } from '../../event/error.js'
import { showText, showValue } from '../../event/message-text.js'
import { didYouMean } from '../../event/suggest.js'
import { BUDGET_FIGURES, type BudgetFigure } from '../option-values.js'

/** The value that a figure may have, or the amount by which it may grow. */
export interface Limit {
  /** The text of the limit: `200M`, `5%`, `5%+64K`. */
  readonly text: string
  readonly amount: bigint
  /** Millionths of a percent of the figure's whole, or of its value in the baseline; added to the amount. */
  readonly percent: bigint
}

/** The limit of one figure. */
export interface Budget {
  readonly figure: BudgetFigure
  /** `max` limits the value, `grow` its growth since the baseline. */
  readonly rule: 'max' | 'grow'
  readonly limit: Limit
}

/** Budgets of the whole trace, or of some of its functions. */
export interface BudgetGroup {
  /** The functions that match, with what they call, are added up. `*` stands for any characters. */
  readonly at?: string
  /** Each function that matches has the budgets for itself, without what it calls. */
  readonly each?: string
  readonly budgets: readonly Budget[]
}

/** One percent in `Limit.percent`. */
export const PERCENT = 1_000_000n

const BYTES: Readonly<Record<string, bigint>> = { '': 1n, K: 1n << 10n, M: 1n << 20n, G: 1n << 30n }
const COUNTS: Readonly<Record<string, bigint>> = { '': 1n, K: 1000n, M: 1_000_000n, G: 1_000_000_000n }

/**
 * The budgets that a text gives to a figure: several for a `leaked` of 0, which forbids blocks of 0 bytes as well.
 * @throws RangeError for an unknown figure, and for a limit that it cannot have
 */
export function budgetsFor(name: string, rule: Budget['rule'], text: string, ofFunctions: boolean): Budget[] {
  if (!Object.hasOwn(BUDGET_FIGURES, name))
    throw new RangeError(`no figure is called ${showValue(name)}${didYouMean(name, Object.keys(BUDGET_FIGURES))}`)
  const figure = name as BudgetFigure
  if (ofFunctions && !BUDGET_FIGURES[figure].ofFunctions)
    throw new RangeError(`${figure} is a figure of the whole trace: functions have none`)
  const limit = limitOf(figure, rule, text)
  const budget = { figure, rule, limit }
  const isNone = figure === 'leaked' && limit.amount === 0n && limit.percent === 0n
  return isNone ? [budget, { ...budget, figure: 'leaked-blocks' }] : [budget]
}

/** @throws RangeError */
function limitOf(figure: BudgetFigure, rule: Budget['rule'], text: string): Limit {
  const about = BUDGET_FIGURES[figure]
  const [, whole, fraction = '', plus, digits, letter = ''] =
    /^(?:(\d{1,6})(?:\.(\d{1,6}))?%)?(?:(?:(?<=%)(\+)|^)(\d{1,15})([KMG]?))?$/i.exec(text) ?? []
  const hasPercent = whole !== undefined
  const mayHave = rule === 'grow' || ('whole' in about && plus === undefined)
  if ((!hasPercent && digits === undefined) || (hasPercent && !mayHave)) {
    const examples = rule === 'grow' ? '5%, 64K or 5%+64K' : 'whole' in about ? '20% or 1000' : '200M or 1000'
    throw new RangeError(`the limit of ${figure} is a number such as ${examples}, not ${showValue(text)}`)
  }
  const units = about.unit === 'bytes' ? BYTES : COUNTS
  return {
    text,
    amount: BigInt(digits ?? 0) * units[letter.toUpperCase()],
    percent: hasPercent ? BigInt(whole + fraction.padEnd(6, '0')) : 0n,
  }
}

const KEYS = ['at', 'each', 'max', 'grow']

/**
 * The budgets of a file, `{"budgets": [{"max": {"peak": "200M"}}, {"at": "parse*", "grow": {"peak": "5%"}}]}`: see
 * `check.schema.json`.
 * @param value the parsed JSON
 * @throws RangeError that names the place of what is wrong
 */
export function budgetsOf(value: unknown): BudgetGroup[] {
  const { budgets } = objectOf(value, 'the file', ['$schema', 'budgets'])
  if (!Array.isArray(budgets) || budgets.length === 0) throw new RangeError('budgets must be a list that is not empty')
  return budgets.map((one: unknown, i) => {
    const place = `budgets[${i}]`
    const group = objectOf(one, place, KEYS)
    const names = Object.fromEntries(
      (['at', 'each'] as const).flatMap((key) => {
        if (group[key] === undefined) return []
        if (typeof group[key] !== 'string' || group[key] === '') throw new RangeError(`${place}.${key} must be a name`)
        return [[key, group[key]]]
      }),
    )
    if (Object.keys(names).length > 1) throw new RangeError(`${place} has both at and each`)
    const limits = (['max', 'grow'] as const).flatMap((rule) =>
      Object.entries(group[rule] === undefined ? {} : objectOf(group[rule], `${place}.${rule}`)).flatMap(
        ([figure, limit]) => {
          try {
            if (typeof limit !== 'string' && typeof limit !== 'number')
              throw new RangeError(`the limit of ${showText(figure)} is a number or a text, not ${showValue(limit)}`)
            return budgetsFor(figure, rule, String(limit), Object.keys(names).length > 0)
          } catch (error) {
            throw new RangeError(`${place}.${rule}: ${(error as Error).message}`, { cause: error })
          }
        },
      ),
    )
    if (limits.length === 0) throw new RangeError(`${place} has no budget in max or grow`)
    return { ...names, budgets: limits }
  })
}

function objectOf(value: unknown, place: string, keys?: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError(`${place} must be an object, not ${showValue(value)}`)
  const unknown = keys === undefined ? undefined : Object.keys(value).find((key) => !keys.includes(key))
  if (unknown !== undefined)
    throw new RangeError(`${place} has an unknown key ${showValue(unknown)}${didYouMean(unknown, keys ?? [])}`)
  return value as Record<string, unknown>
}

/** @param of the function that has the budgets @throws TypeError (code ERR_INVALID_ARG_TYPE) when they are no array */
export function checkGroups(groups: readonly BudgetGroup[], of: string): void {
  const isGroup = (group: BudgetGroup | null) => Array.isArray(group?.budgets)
  if (Array.isArray(groups) && groups.every(isGroup)) return
  const what = Array.isArray(groups) ? 'an array of something else' : showValue(groups)
  throw wrongType(`${of}: the budgets must be an array as parseBudgets() returns it, not ${what}`)
}
