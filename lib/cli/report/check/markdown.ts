import type { CheckedBudget } from '../../../transforms/check/check.js'
import type { TemporaryDefinition } from '../../../transforms/option-values.js'
import { siteLabels, type SiteNames } from '../names.js'
import { finding, siteCells, siteOrder, subject, summaryOf, type CheckOutput } from './words.js'

/** The result of a check as Markdown with tables, for comments on changes and summaries of jobs. */
export function checkMarkdown({ result, names }: CheckOutput): string {
  const by = result.temporaryBy
  const rows = result.budgets.map((row) => [row.verdict, code(subject(row, by)), code(finding(row))])
  const parts = [
    `**hf-check: ${summaryOf(result)}**`,
    table(['', 'budget', 'finding'], rows),
    ...result.budgets.flatMap((row) => sites(row, names, by)),
  ]
  return `${parts.join('\n\n')}\n`
}

function sites(row: CheckedBudget, names: SiteNames, by: TemporaryDefinition): string[] {
  const { sites: all = [] } = row
  if (all.length === 0) return []
  const labels = siteLabels(
    all.map(({ stack }) => ({ stack: [...stack] })),
    names,
    names.columns,
  )
  const { heads, rows } = siteCells(row)
  return [
    `Sites of ${code(subject(row, by))}, by ${siteOrder(row, by)}:`,
    table(
      [...heads, 'site'],
      rows.map((cells, i) => [...cells, code(labels[i])]),
    ),
  ]
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Text as a code span, in which names of functions are neither markup nor mentions of people. */
function code(text: string): string {
  const fence = '`'.repeat(Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1)
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${fence}${space}${text.replaceAll('|', '\\|')}${space}${fence}`
}
