import { isBrokenPipe } from '../../streams/broken-pipe.js'
import { readText } from '../../streams/io/read-text.js'
import { check, type Verdict } from '../../transforms/check/check.js'
import { budgetsFor, budgetsOf, type Budget, type BudgetGroup } from '../../transforms/check/budgets.js'
import { isTemporary } from '../../transforms/option-values.js'
import { CheckCollector } from '../../transforms/check/measure.js'
import { numberOf, orUsageError, temporaryBy, UsageError, type Arguments } from '../command.js'
import { CHECK_FILE, CHECK_FORMATS, CHECK_SITES } from '../defaults.js'
import { refuseSharedPipe, traceInput } from '../input.js'
import { describe, version } from '../main.js'
import { outputOf, writePieces } from '../output.js'
import { checkJson } from '../report/check/json.js'
import { checkJunit } from '../report/check/junit.js'
import { checkMarkdown } from '../report/check/markdown.js'
import { checkSarif } from '../report/check/sarif.js'
import { checkText } from '../report/check/text.js'
import { collected } from '../report/profile-report.js'
import { ownFrames, refuseRowFlags, rowNames } from '../row-names.js'
import { suppressions, withRules } from '../suppressions.js'

/** The exit status of each verdict. */
const STATUS: Readonly<Record<Verdict, number>> = { within: 0, beyond: 1, unknown: 3 }
const UNREADABLE = 3

/** Runs `hf-check`. @throws UsageError */
export async function runCheck(args: Arguments): Promise<void> {
  const runs = args.operands.length === 0 ? ['-'] : args.operands
  const baseline = args.all('baseline')
  const inputs = [...runs, ...baseline]
  refuseSharedPipe(inputs)
  const { groups, unnamed } = budgetGroups(args)
  if (baseline.length === 0 && groups.some(({ budgets }) => budgets.some(({ rule }) => rule === 'grow')))
    throw new UsageError('a budget for growth needs --baseline FILE')
  const top = numberOf(args, 'top') ?? CHECK_SITES
  const form = (args.value('to') ?? CHECK_FORMATS[0]) as (typeof CHECK_FORMATS)[number]
  if (form !== 'text' && form !== 'markdown') refuseRowFlags(args, `to ${form}`, true)
  const own = ownFrames(args)
  const names = rowNames(args)
  const rules = suppressions('hf-check', args)
  const countsTemporary = groups.some(({ budgets }) => budgets.some(({ figure }) => isTemporary(figure)))
  const by = temporaryBy(args, countsTemporary, 'a budget of temporary allocations, such as --max-temporary 20%')
  const output = outputOf(args, [...inputs, ...unnamed], false)
  // Whatever fails from here on, the budgets were not checked.
  process.exitCode = UNREADABLE
  const measured = async (path: string) => {
    const { input, rules: all } = withRules(args, traceInput(path), rules)
    return collected('hf-check', input, new CheckCollector(groups, path, own, all, by), ({ profile }) => profile)
  }
  const [next, old] = [[], []] as [Awaited<ReturnType<typeof measured>>[], Awaited<ReturnType<typeof measured>>[]]
  for (const path of runs) next.push(await measured(path))
  for (const path of baseline) old.push(await measured(path))
  const result = check(next, old, groups, { own, sites: top })
  const text = WRITERS[form]({
    result,
    names,
    status: STATUS[result.verdict],
    version: version(),
    folder: process.cwd(),
  })
  // Before it is written, because its reader may close it; a fault in writing sets it again.
  process.exitCode = STATUS[result.verdict]
  try {
    await writePieces(output, [Buffer.from(text)])
  } catch (error) {
    if (process.exitCode === 0 && !isBrokenPipe(error)) process.exitCode = UNREADABLE
    throw error
  }
}

const WRITERS = {
  text: checkText,
  markdown: checkMarkdown,
  json: checkJson,
  junit: checkJunit,
  sarif: checkSarif,
}

/**
 * The budgets of the flags, in which --at and --each begin groups, and of the file; and the name of the file, if no
 * flag has it.
 * @throws UsageError
 */
function budgetGroups(args: Arguments): { groups: BudgetGroup[]; unnamed: string[] } {
  const groups: (Omit<BudgetGroup, 'budgets'> & { budgets: Budget[] })[] = [{ budgets: [] }]
  for (const [flag, value] of args.order) {
    const { budgets, ...group } = groups.at(-1) as BudgetGroup & { budgets: Budget[] }
    const take = (name: string, rule: Budget['rule'], text: string) => {
      const isOfFunction = group.at !== undefined || group.each !== undefined
      budgets.push(...orUsageError(() => budgetsFor(name, rule, text, isOfFunction), `--${flag}: `))
    }
    if (flag === 'at' || flag === 'each') {
      if (value === '') throw new UsageError(`--${flag} needs a name or a pattern`)
      groups.push({ [flag]: value, budgets: [] })
    } else if (flag.startsWith('max-')) take(flag.slice('max-'.length), 'max', value)
    else if (flag === 'grow') {
      for (const one of value.split(',')) {
        const [name = '', text] = one.split('=')
        if (text === undefined)
          throw new UsageError(`--grow needs FIGURE=LIMIT, such as peak=5%, not ${JSON.stringify(one)}`)
        take(name, 'grow', text)
      }
    }
  }
  const [whole, others] = [groups[0], groups.slice(1)]
  const empty = others.find(({ budgets }) => budgets.length === 0)
  if (empty !== undefined)
    throw new UsageError(`no budget follows --${empty.at === undefined ? 'each' : 'at'} ${empty.at ?? empty.each}`)
  const given = [...(whole.budgets.length > 0 ? [whole] : []), ...others]
  const file = args.value('budgets') ?? (given.length === 0 ? CHECK_FILE : undefined)
  if (file === undefined) return { groups: given, unnamed: [] }
  const isNamed = args.has('budgets')
  return { groups: [...fileBudgets(file, isNamed), ...given], unnamed: isNamed ? [] : [file] }
}

/** @throws UsageError */
function fileBudgets(file: string, isNamed: boolean): BudgetGroup[] {
  let text: string
  try {
    text = readText(file)
  } catch (error) {
    if (!isNamed && (error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new UsageError(`there is no budget: give --max-peak N, for example, or write ${CHECK_FILE}`, {
        cause: error,
      })
    throw new UsageError(`the budgets cannot be read: ${describe(error, file)}`, { cause: error })
  }
  return orUsageError(() => budgetsOf(JSON.parse(text)), `${file}: `)
}
