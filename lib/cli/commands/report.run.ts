import { basename } from 'node:path'
import { compressor } from '../../streams/compress.js'
import { decodeAny } from '../../streams/decode.js'
import { openOutput } from '../../streams/io/stdio.js'
import { exportReport } from '../../streams/report.js'
import { compareProfiles, type ProfileMatch } from '../../transforms/profile/difference.js'
import type { Profile } from '../../transforms/profile/profile.js'
import { ReportCollector } from '../../transforms/report/collector.js'
import type { Report } from '../../transforms/report/report.js'
import { UsageError, wholeNumber, type Arguments } from '../command.js'
import { bytesOf, inputOperand } from '../input.js'
import { version } from '../main.js'
import { outputOf } from '../output.js'
import { runStreams } from '../pipeline.js'
import { profileOf } from '../report/profile-of.js'
import { ProfileReport } from '../report/profile-report.js'

/** Runs `hf-report`. @throws UsageError */
export async function runReport(args: Arguments): Promise<void> {
  const input = inputOperand(args)
  const old = args.value('compare')
  if (old === undefined && args.has('match')) throw new UsageError('--match needs --compare')
  if (old === '-' && input === '-') throw new UsageError('only one of the traces can be standard input')
  const match = (args.value('match') ?? 'names') as ProfileMatch
  const trace = args.value('trace')
  const number = trace === undefined ? undefined : wholeNumber('trace', trace)
  if (number === 0) throw new UsageError('--trace counts from 1')
  // A page on a terminal is of no use.
  const { path, compression } = outputOf(args, old === undefined ? [input] : [old, input], true)
  const before = old === undefined ? undefined : await profileOf('hf-report', old)
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
    ...(number !== undefined && { trace: number }),
  })
  await runStreams(
    'hf-report',
    [input],
    () => [
      ...bytesOf(input),
      decodeAny({ path: input, recycle: true, through: stage }),
      ...(compression ? [compressor(compression)] : []),
    ],
    () => openOutput(path, { blocking: true }),
  )
}

function nameOf(path: string): string {
  return path === '-' ? 'standard input' : basename(path)
}

function comparedWith(before: Profile, name: string, { profile }: Report, match: ProfileMatch) {
  return { name, difference: compareProfiles(before, profile, { match }) }
}
