import type { EventBatch } from '../../event/batch.js'
import { inputSize } from '../../streams/io/file-status.js'
import { reportPieces } from '../../streams/report.js'
import { compareProfiles, type ProfileMatch } from '../../transforms/profile/difference.js'
import type { Profile } from '../../transforms/profile/profile.js'
import { checkReplayResult, MOST_RESULT_BYTES } from '../../transforms/drive/read-result.js'
import { ReportCollector } from '../../transforms/report/collector.js'
import type { Report } from '../../transforms/report/report.js'
import type { Suppression } from '../../names/suppression.js'
import type { ReportSuppression } from '../../transforms/report/result.js'
import { sizeOf, UsageError, type Arguments } from '../command.js'
import { LARGEST_EMBEDDED, MAX_EMBEDDED } from '../defaults.js'
import { inputOperand, refuseSharedPipe, shortName, traceNumber, type TraceInput } from '../input.js'
import { readJson } from '../json-model.js'
import { describe, version } from '../main.js'
import { namedInput } from '../named-input.js'
import { runTrace, type TraceRun } from '../pipeline.js'
import { say } from '../say.js'
import { showPage, type ShowOptions } from '../show-page.js'
import { givenSuppressions, sayingSuppressed, saySuppressed, suppressionOf, withRules } from '../suppressions.js'
import { isTooLarge } from './copy-size.js'
import { profileOf, ProfileReport } from './profile-report.js'

/** The inputs of a report, from the arguments of a command. */
export interface ReportJob {
  readonly command: string
  /** The trace. */
  readonly input: string
  /** The trace that it is compared with. */
  readonly old: string | undefined
  readonly match: ProfileMatch
  /** The output of `hf-replay --json`. */
  readonly replay: string | undefined
  /** The number of its trace in the input, from 1. */
  readonly trace: number | undefined
  /** The maximum number of bytes that the trace may have in the compact format to be in the page; 0 leaves it out. */
  readonly embed: number
  /**
   * How a file is read, and the rules that leave leaks out, which are complete then; undefined if none do.
   * @param lacking is called at the first frame that lacks a function, which it gets if it can be found
   */
  readonly read: (
    path: string,
    lacking?: () => void,
  ) => { input: TraceInput; rules: readonly Suppression[] | undefined }
  /** Rules, as a page that has the trace has them too; undefined if it cannot. */
  readonly suppressionOf?: (rules: readonly Suppression[]) => ReportSuppression | undefined
  /** The page begins with the comparison. */
  readonly isDifference?: boolean
}

/** The report that the arguments request. @throws UsageError */
export function reportJob(command: string, args: Arguments): ReportJob {
  const input = inputOperand(args)
  const [old, replay] = [args.value('compare'), args.value('replay')]
  if (old === undefined && args.has('match')) throw new UsageError('--match needs --compare')
  refuseSharedPipe([old, replay, input].filter((path) => path !== undefined))
  const trace = traceNumber(args)
  const embed = sizeOf(args, 'embed', 0, LARGEST_EMBEDDED) ?? MAX_EMBEDDED
  const rules = givenSuppressions(command, args)
  const read: ReportJob['read'] = (path, lacking) => withRules(args, namedInput(path, args, lacking), rules)
  return {
    command,
    input,
    old,
    replay,
    match: (args.value('match') ?? 'names') as ProfileMatch,
    trace,
    embed,
    read,
    suppressionOf: (all) => suppressionOf(args, all),
  }
}

/** The reason why a page has no trace in it where leaks are suppressed by very many rules. */
const NO_COPY = 'The trace itself, because the rules that suppress leaks are too many for the page.'

/** A report, and the copy of the trace that goes with it. */
interface Taken {
  readonly report: Report
  readonly copy: readonly Uint8Array[] | undefined
}

/** Writes a report as a page. @param output the place for it, or the object that takes it */
export async function writeReport(job: ReportJob, output: TraceRun['output']): Promise<void> {
  const { command, input, old, replay: file, match, trace, isDifference } = job
  let isSymbolized = false
  const { input: source, rules } = job.read(input, () => (isSymbolized = true))
  const { embed } = job
  const before = old === undefined ? undefined : await profileBefore(job, old)
  const replay = file === undefined ? undefined : await readJson(file, MOST_RESULT_BYTES, checkReplayResult)
  const figures = new ReportCollector()
  const copies = embed === 0 ? undefined : await import('../../exports/report/trace-copy.js')
  const hasNoRoom = copies !== undefined && trace === undefined && (await isTooLarge(input, embed))
  const copying = hasNoRoom || copies === undefined ? undefined : new copies.TraceCopy(embed)
  const collector = {
    // The copy has addresses.
    countsInfos: copying === undefined && figures.countsInfos,
    add(batch: EventBatch): void {
      figures.add(batch)
      copying?.add(batch)
    },
    finish: (complete: boolean): Taken => ({
      report: figures.finish(complete, rules),
      copy: copying?.finish(complete),
    }),
  }
  const write = ({ report, copy }: Taken) => {
    const { suppressed } = report.profile.statistics
    if (suppressed !== undefined) saySuppressed(command, suppressed, old === undefined ? undefined : shortName(input))
    // Without the rules, the parts of the trace that the page shows would have the leaks.
    const suppression = rules === undefined || copy === undefined ? undefined : job.suppressionOf?.(rules)
    const isKept = copy !== undefined && (rules === undefined || suppression !== undefined)
    const reasons = [
      hasNoRoom ? copies.tooLarge(embed) : copying?.reason,
      copy !== undefined && !isKept ? NO_COPY : undefined,
    ]
    const omitted = reasons.filter((reason) => reason !== undefined)
    return reportPieces(report, {
      name: shortName(input),
      isFile: input !== '-' && trace === undefined && inputSize(input) !== undefined,
      isSymbolized,
      generator: `heapflow ${version()}`,
      ...(before !== undefined && { compared: comparedWith(before, shortName(old as string), report, match) }),
      ...(replay !== undefined && { replay }),
      ...(isDifference === true && { view: 'comparison' as const }),
      ...(isKept && { trace: copy }),
      ...(suppression !== undefined && { suppression }),
      ...(omitted.length > 0 && { omitted }),
    })
  }
  const stage = new ProfileReport({
    collector,
    profileOf: ({ report }: Taken) => report.profile,
    write,
    trace,
  })
  await runTrace({ command, input: source, through: stage, output })
}

/** The profile of the trace that another one is compared with. */
async function profileBefore({ command, read }: ReportJob, path: string): Promise<Profile> {
  const { input, rules } = read(path)
  return sayingSuppressed(command, await profileOf(command, input), rules, shortName(path))
}

/** Shows a report in the browser. If the trace is truncated, what was read of it is shown. */
export async function showReport(job: ReportJob, options: ShowOptions = {}): Promise<void> {
  const chunks: Uint8Array[] = []
  try {
    await writeReport(job, (chunk) => void chunks.push(chunk))
  } catch (error) {
    if (chunks.length === 0) throw error
    say(job.command, describe(error))
    process.exitCode = 1
  }
  // The pieces do not stay in memory beside the page.
  await showPage(job.command, Buffer.concat(chunks.splice(0)), options)
}

function comparedWith(before: Profile, name: string, { profile }: Report, match: ProfileMatch) {
  return {
    name,
    difference: compareProfiles(before, profile, { match }),
    statistics: before.statistics,
    elapsed: before.elapsed,
  }
}
