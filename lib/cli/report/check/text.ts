import { comparedFrameText } from '../../../names/named-frame.js'
import { OwnFrames } from '../../../names/own-frames.js'
import { isUnnamed } from '../advice.js'
import { wrapped } from '../columns.js'
import { finding, siteLines, subject, summaryOf, type CheckOutput } from './words.js'

const NO_NAMES = 'Many of these sites have no names: hf-symbolize adds them, in the job that records.'

/** The result of a check as text: a line for each budget, and the sites of exceeded budgets. */
export function checkText({ result, names }: CheckOutput): string {
  const { columns } = names
  const lines = result.budgets.flatMap((row) =>
    wrapped(`${row.verdict.padEnd(7)}  ${subject(row, result.temporaryBy)}: ${finding(row)}`, columns, ' '.repeat(9)),
  )
  const tables = result.budgets
    .map((row) => siteLines(row, names, result.temporaryBy))
    .filter(({ length }) => length > 0)
  const end = [summaryOf(result), ...(isNameless(result) ? [NO_NAMES] : [])].flatMap((text) => wrapped(text, columns))
  return `${[lines, ...tables, end].map((part) => part.join('\n')).join('\n\n')}\n`
}

/** Whether half of the sites that are shown, or more, begin with code without a name. */
function isNameless({ budgets }: CheckOutput['result']): boolean {
  const own = new OwnFrames()
  const stacks = budgets.flatMap(({ sites = [] }) => sites.map(({ stack }) => stack.map(comparedFrameText)))
  return stacks.length > 0 && 2 * stacks.filter((stack) => isUnnamed({ stack }, own)).length >= stacks.length
}
