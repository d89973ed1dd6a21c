import type { CheckedBudget } from '../../../transforms/check/check.js'
import { budgetName, finding, siteLines, subject, type CheckOutput } from './words.js'
import { wellFormed } from '../../../event/message-text.js'

/** The result of a check as JUnit's XML: a test for each budget. A figure that is not known is an error. */
export function checkJunit({ result: { budgets, temporaryBy }, names }: CheckOutput): string {
  const count = (verdict: string) => budgets.filter((row) => row.verdict === verdict).length
  const counts = `tests="${budgets.length}" failures="${count('beyond')}" errors="${count('unknown')}" time="0"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="hf-check" ${counts}>`,
    `  <testsuite name="hf-check" ${counts} skipped="0">`,
    ...budgets.flatMap((row) => testCase(row, subject(row, temporaryBy), siteLines(row, names, temporaryBy))),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function testCase(row: CheckedBudget, figure: string, sites: readonly string[]): string[] {
  const begin = `    <testcase classname="hf-check" name="${escaped(budgetName(row))}" time="0"`
  if (row.verdict === 'within') return [`${begin}/>`]
  const message = `${figure}: ${finding(row)}`
  const element = row.verdict === 'beyond' ? 'failure' : 'error'
  const text = [message, ...sites].join('\n')
  return [
    `${begin}>`,
    `      <${element} message="${escaped(message)}" type="${row.verdict}">${escaped(text)}</${element}>`,
    '    </testcase>',
  ]
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text for XML, without characters that XML cannot have. */
function escaped(text: string): string {
  return wellFormed(text)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (char) => ENTITIES[char])
}
