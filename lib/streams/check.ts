import { wrongType } from '../event/error.js'
import { showValue } from '../event/message-text.js'
import { budgetsOf, checkGroups, type BudgetGroup } from '../transforms/check/budgets.js'
import { CheckCollector, type Measured } from '../transforms/check/measure.js'
import { CollectingSink, type ResultSink } from './result-sink.js'

/**
 * Budgets as in `heapflow.check.json`, for `measure` and `check`.
 * @throws RangeError that names the place of what is wrong
 *
 * @example
 * const groups = parseBudgets({ budgets: [{ max: { peak: '200M' } }, { at: 'parse*', grow: { peak: '5%' } }] })
 */
export function parseBudgets(value: unknown): BudgetGroup[] {
  return budgetsOf(value)
}

/** A sink that measures what budgets need. */
export type MeasureSink = ResultSink<Measured>

/**
 * A Writable that measures the figures that budgets need of the events written to it, for `check`. Put it at the end of
 * a pipeline. Memory grows with the number of live blocks, and of distinct stacks.
 *
 * @param groups the budgets: `check` takes the same @param name the name of the trace in messages
 *
 * @example
 * const sink = measure(groups, 'app.mtrc')
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), sink)
 * const { verdict } = check([await sink.result], [], groups)
 */
export function measure(groups: readonly BudgetGroup[], name: string): MeasureSink {
  checkGroups(groups, 'measure')
  if (typeof name !== 'string') throw wrongType(`measure: the name must be a text, not ${showValue(name)}`)
  return new CollectingSink('measure()', new CheckCollector(groups, name))
}
