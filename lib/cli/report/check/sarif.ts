import type { CheckedBudget, CheckResult } from '../../../transforms/check/check.js'
import * as OptionValues from '../../../transforms/option-values.js'
import { visible } from '../columns.js'
import type { SiteNames } from '../names.js'
import { finding, siteLines, subject, type CheckOutput } from './words.js'
import { wellFormed } from '../../../event/message-text.js'

/**
 * The result of a check as SARIF 2.1.0 (OASIS): a result for each budget that is exceeded, at its first site whose
 * source file is known, otherwise at the trace. Figures that are not known are notifications of the tool.
 */
export function checkSarif({ result, names, status, version, folder }: CheckOutput): string {
  const by = result.temporaryBy
  const ids = [...new Set(result.budgets.map(ruleId))]
  const beyond = result.budgets.filter(({ verdict }) => verdict === 'beyond')
  const unknown = result.budgets.filter(({ verdict }) => verdict === 'unknown')
  const run = {
    tool: {
      driver: {
        name: 'hf-check',
        version,
        rules: ids.map((id) => ({ id, shortDescription: { text: describe(id, by) } })),
      },
    },
    invocations: [
      {
        executionSuccessful: unknown.length === 0,
        exitCode: status,
        toolExecutionNotifications: unknown.map((row) => ({
          level: 'error',
          message: { text: wellFormed(messageOf(row, by)) },
          associatedRule: { id: ruleId(row), index: ids.indexOf(ruleId(row)) },
        })),
      },
    ],
    columnKind: 'utf16CodeUnits',
    results: beyond.map((row) => ({
      ruleId: ruleId(row),
      ruleIndex: ids.indexOf(ruleId(row)),
      level: 'error',
      message: { text: wellFormed([messageOf(row, by), ...siteLines(row, names, by)].join('\n')) },
      locations: [locationOf(row, result, names, folder)],
    })),
  }
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json'
  return `${JSON.stringify({ $schema, version: '2.1.0', runs: [run] }, null, 2)}\n`
}

function ruleId({ rule, figure }: CheckedBudget): string {
  return `${rule}-${figure}`
}

function describe(id: string, by: OptionValues.TemporaryDefinition): string {
  const figure = id.replace(/^\w+-/, '') as OptionValues.BudgetFigure
  const title = OptionValues.titleBy(OptionValues.BUDGET_FIGURES[figure].title, figure, by)
  return id.startsWith('max-') ? `The ${title} must not exceed its budget.` : `The ${title} must not grow.`
}

function messageOf(row: CheckedBudget, by: OptionValues.TemporaryDefinition): string {
  return `${subject(row, by)}: ${finding(row)}`
}

function locationOf({ sites = [] }: CheckedBudget, { runs }: CheckResult, { own }: SiteNames, folder: string): object {
  const known = sites.filter(({ file }) => file !== undefined)
  const site = known.find(({ file }) => !uriOf(file as string, folder).startsWith('file:')) ?? known[0]
  const { stack = [] } = site ?? sites[0] ?? {}
  const name = stack[own.start(stack)]
  return {
    physicalLocation: {
      artifactLocation: { uri: uriOf(site?.file ?? runs[0], folder) },
      ...(site?.line !== undefined && site.line > 0 && { region: { startLine: site.line } }),
    },
    ...(name !== undefined && { logicalLocations: [{ fullyQualifiedName: wellFormed(visible(name)) }] }),
  }
}

/** A path as a URI; one in the folder, or without a root, as a reference that is relative to the folder. */
function uriOf(path: string, folder: string): string {
  const inside = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
  const parts = inside.split('/').map(encoded).join('/')
  return inside.startsWith('/') ? `file://${parts}` : parts
}

/** A part of a path for a URI. A byte that is not UTF-8 is `\xNN` in the names of profiles. */
function encoded(part: string): string {
  return encodeURIComponent(wellFormed(part)).replace(
    /%5Cx([89a-f][0-9a-f])/g,
    (_, byte: string) => `%${byte.toUpperCase()}`,
  )
}
