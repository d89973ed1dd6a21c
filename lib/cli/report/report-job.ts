import { basename } from 'node:path'
import { exportReport } from '../../streams/report.js'
import { compareProfiles, type ProfileMatch } from '../../transforms/profile/difference.js'
import type { Profile } from '../../transforms/profile/profile.js'
import { ReportCollector } from '../../transforms/report/collector.js'
import type { Report } from '../../transforms/report/report.js'
import { UsageError, wholeNumber, type Arguments } from '../command.js'
import { inputOperand, traceInput } from '../input.js'
import { describe, version } from '../main.js'
import { runTrace, type TraceRun } from '../pipeline.js'
import { say } from '../say.js'
import { showPage, type ShowOptions } from '../show-page.js'
import { profileOf } from './profile-of.js'
import { ProfileReport } from './profile-report.js'

/** What a report is made of, as the arguments of a command say. */
export interface ReportJob {
  readonly command: string
  /** The trace. */
  readonly input: string
  /** The trace that it is compared with. */
  readonly old: string | undefined
  readonly match: ProfileMatch
  /** Which trace of the input it is about, from 1. */
  readonly trace: number | undefined
}

/** What report the arguments ask for. @throws UsageError */
export function reportJob(command: string, args: Arguments): ReportJob {
  const input = inputOperand(args)
  const old = args.value('compare')
  if (old === undefined && args.has('match')) throw new UsageError('--match needs --compare')
  if (old === '-' && input === '-') throw new UsageError('only one of the traces can be standard input')
  const text = args.value('trace')
  const trace = text === undefined ? undefined : wholeNumber('trace', text)
  if (trace === 0) throw new UsageError('--trace counts from 1')
  return { command, input, old, match: (args.value('match') ?? 'names') as ProfileMatch, trace }
}

/** Writes a report as a page. @param output where, or what takes it */
export async function writeReport(job: ReportJob, output: TraceRun['output']): Promise<void> {
  const { command, input, old, match, trace } = job
  const before = old === undefined ? undefined : await profileOf(command, old)
  const write = (report: Report) => [
    exportReport(report, {
      name: nameOf(input),
      generator: `heapflow ${version()}`,
      ...(before !== undefined && { compared: comparedWith(before, nameOf(old as string), report, match) }),
    }),
  ]
  const stage = new ProfileReport({
    collector: new ReportCollector(),
    profileOf: ({ profile }) => profile,
    write,
    ...(trace !== undefined && { trace }),
  })
  await runTrace({ command, input: traceInput(input), through: stage, output })
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
  await showPage(job.command, Buffer.concat(chunks), options)
}

function nameOf(path: string): string {
  return path === '-' ? 'standard input' : basename(path)
}

function comparedWith(before: Profile, name: string, { profile }: Report, match: ProfileMatch) {
  return { name, difference: compareProfiles(before, profile, { match }) }
}
