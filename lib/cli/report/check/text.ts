import { finding, siteLines, subject, summaryOf, type CheckOutput } from './words.js'

/** The result of a check as text: a line for each budget, and the sites of exceeded budgets. */
export function checkText({ result, names }: CheckOutput): string {
  const lines = result.budgets.map(
    (row) => `${row.verdict.padEnd(7)}  ${subject(row, result.temporaryBy)}: ${finding(row)}`,
  )
  const tables = result.budgets
    .map((row) => siteLines(row, names, result.temporaryBy))
    .filter(({ length }) => length > 0)
  return `${[lines, ...tables, [summaryOf(result)]].map((part) => part.join('\n')).join('\n\n')}\n`
}
