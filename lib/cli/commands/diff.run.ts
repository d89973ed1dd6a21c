import { UNKNOWN_TEMPORARY } from '../../event/header.js'
import { textBytes } from '../../event/strings.js'
import { isTemporary } from '../../transforms/option-values.js'
import { compareProfiles, type ProfileMatch } from '../../transforms/profile/difference.js'
import { numberOf, refuseWith, temporaryBy, UsageError, type Arguments } from '../command.js'
import { DIFF_ORDERS, TOP } from '../defaults.js'
import { refuseSharedPipe } from '../input.js'
import { namedInput } from '../named-input.js'
import { outputOf, writePieces } from '../output.js'
import { differenceJson, differenceStacks, differenceText, type DiffOrder } from '../report/difference.js'
import { profileOf } from '../report/profile-report.js'
import { writeReport, type ReportJob } from '../report/report-job.js'
import { refuseRowFlags, rowNames } from '../row-names.js'
import { givenSuppressions, sayingSuppressed, withRules } from '../suppressions.js'

/** Runs `hf-diff`. @throws UsageError */
export async function runDiff(args: Arguments): Promise<void> {
  const { operands } = args
  const [old, next] = operands
  if (old === undefined || next === undefined || operands.length > 2)
    throw new UsageError(`name two traces, OLD and NEW, not ${operands.length}`)
  refuseSharedPipe([old, next])
  if (args.has('collapsed')) refuseWith(args, ['json', 'top'], 'collapsed')
  if (args.has('to')) {
    await writePage(args, old, next)
    return
  }
  const order = (args.value('sort') ?? DIFF_ORDERS[0]) as DiffOrder
  const match = (args.value('match') ?? 'names') as ProfileMatch
  const top = numberOf(args, 'top')
  for (const form of ['json', 'collapsed']) if (args.has(form)) refuseRowFlags(args, form)
  const names = rowNames(args)
  const output = outputOf(args, [old, next], false)
  const threadRoot = args.has('thread-root')
  // Text and JSON have all figures.
  const by = temporaryBy(args, !args.has('collapsed') || isTemporary(order), '--sort temporary with --collapsed')
  const given = givenSuppressions('hf-diff', args)
  const read = async (path: string) => {
    const { input, rules } = withRules(args, namedInput(path, args), given)
    const profile = await profileOf('hf-diff', input, { threadRoot, temporaryBy: by })
    return sayingSuppressed('hf-diff', profile, rules, path)
  }
  const before = await read(old)
  const difference = compareProfiles(before, await read(next), { match })
  if (order === 'temporary' && !difference.identified) throw new RangeError(UNKNOWN_TEMPORARY)
  const pieces = args.has('collapsed')
    ? differenceStacks(difference, order)
    : textBytes(
        args.has('json')
          ? differenceJson(difference, order, top)
          : [differenceText(difference, order, top ?? TOP, names)],
      )
  await writePieces(output, pieces)
}

/** Flags that a page has no use for. */
const NOT_IN_PAGES = ['json', 'collapsed', 'top', 'sort', 'temporary-by', 'thread-root']

/** Writes the page that hf-report --compare writes, without the trace; it begins with the comparison. */
async function writePage(args: Arguments, old: string, input: string): Promise<void> {
  refuseWith(args, NOT_IN_PAGES, 'to html')
  refuseRowFlags(args, 'to')
  const match = (args.value('match') ?? 'names') as ProfileMatch
  const rules = givenSuppressions('hf-diff', args)
  const job: ReportJob = {
    command: 'hf-diff',
    input,
    old,
    match,
    trace: undefined,
    embed: 0,
    read: (path) => withRules(args, namedInput(path, args), rules),
    replay: undefined,
    isDifference: true,
  }
  // A page on a terminal is useless.
  await writeReport(job, outputOf(args, [old, input], true))
}
