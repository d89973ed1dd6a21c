import { basename } from 'node:path'
import { PROFILE_FORMATS, type ProfileFormatInfo, type ProfileFormatName } from '../../exports/profile-formats.js'
import { PROFILE_WRITERS } from '../../exports/index.js'
import { parseMoment } from '../../transforms/fates/moment.js'
import { ProfileCollector } from '../../transforms/profile/collector.js'
import { ownStacks } from '../../transforms/profile/own-stacks.js'
import type { Profile, ProfileMoment } from '../../transforms/profile/profile.js'
import { isTemporary } from '../../transforms/option-values.js'
import type { ProfileValue } from '../../transforms/profile/values.js'
import { temporaryBy, UsageError, type Arguments } from '../command.js'
import { inputOperand, traceNumber } from '../input.js'
import { namedInput } from '../named-input.js'
import { outputOf } from '../output.js'
import { runTrace } from '../pipeline.js'
import { ProfileReport } from '../report/profile-report.js'
import { ownFrames } from '../row-names.js'
import { givenSuppressions, sayingSuppressed, withRules } from '../suppressions.js'

/** Runs `hf-profile`. @throws UsageError */
export async function runProfile(args: Arguments): Promise<void> {
  const input = inputOperand(args)
  const format = formatOf(args)
  const isBinary = 'binary' in format
  const { path, compression = isBinary ? 'gzip' : undefined } = outputOf(args, [input], isBinary)
  if (isBinary && compression === 'zstd') throw new UsageError(`${format.name} files are compressed with gzip`)
  const value = args.value('value') as ProfileValue | undefined
  const trace = traceNumber(args)
  const useless = 'fixed' in format ? ['at', 'value', 'temporary-by'].find((flag) => args.has(flag)) : undefined
  if (useless !== undefined)
    throw new UsageError(`--${useless} does not apply to ${format.name}, whose figures are fixed`)
  const at = momentOf(args)
  const framed = 'stackless' in format ? ['hide', 'show', 'thread-root'].find((flag) => args.has(flag)) : undefined
  if (framed !== undefined) throw new UsageError(`--${framed} does not apply to ${format.name}, which has no stacks`)
  if (format.name === 'collapsed' && args.has('at') && value?.startsWith('live-') !== true)
    throw new UsageError('--at needs --value live-bytes or live-blocks with --to collapsed')
  const lines = args.has('lines')
  if (lines && !('joinsLines' in format))
    throw new UsageError(`--lines does not apply to ${format.name}, which has the lines in any case`)
  const write = await PROFILE_WRITERS[format.name]()
  const own = ownFrames(args)
  const threadRoot = args.has('thread-root')
  // The others that have such figures have all of them.
  const isUsed = format.name !== 'collapsed' || (value !== undefined && isTemporary(value))
  const by = temporaryBy(args, isUsed, '--value temporary-bytes or temporary-blocks with --to collapsed')
  const roots = threadRoot ? 1 : 0
  const { input: read, rules } = withRules(args, namedInput(input, args), suppressionsFor(args, format.name, value))
  const options = { name: input === '-' ? 'trace' : basename(input), lines, ...(value !== undefined && { value }) }
  const stage = new ProfileReport({
    collector: new ProfileCollector({ at, threadRoot, temporaryBy: by }),
    profileOf: (profile) => profile,
    write: (profile) => {
      const rest = sayingSuppressed('hf-profile', profile, rules)
      return write(ownStacks(rest, own, roots), options)
    },
    ...(format.name === 'pprof' && { lossOf: cappedPprof }),
    trace,
  })
  await runTrace({
    command: 'hf-profile',
    input: read,
    through: stage,
    output: { path, compression },
    isWhole: compression === 'gzip',
  })
}

/**
 * The rules that leave leaks out; undefined if none are given.
 * @throws UsageError where the file has no figure of the live set at the end
 */
function suppressionsFor(
  args: Arguments,
  format: ProfileFormatName,
  value: ProfileValue = 'allocated-bytes',
): ReturnType<typeof givenSuppressions> {
  const rules = givenSuppressions('hf-profile', args)
  if (rules === undefined) return undefined
  if (format === 'massif' || format === 'chrome')
    throw new UsageError(`leaks cannot be suppressed in ${format}, which has no stacks of them`)
  if (format === 'collapsed' && !value.startsWith('live-'))
    throw new UsageError('leaks that are suppressed need --value live-bytes or live-blocks')
  if (momentOf(args) !== 'end')
    throw new UsageError('leaks cannot be suppressed with --at: only blocks that are live at the end are leaked')
  return rules
}

/** The warning that figures in a file for pprof were capped. No sum is above the sum of allocated bytes. */
function cappedPprof({ statistics }: Profile): string | undefined {
  return statistics.allocated.bytes > 2n ** 63n - 1n
    ? 'pprof adds up to 2^63 - 1 only: larger sums of bytes are capped, and the figures of some stacks are too small'
    : undefined
}

/** The format to write. @throws UsageError if none is specified */
function formatOf(args: Arguments): (typeof PROFILE_FORMATS)[number] {
  const name = args.value('to')
  const output = (args.value('output') ?? '').replace(/(?<!\.pb)\.(gz|zst)$/, '')
  const format = PROFILE_FORMATS.find((one: ProfileFormatInfo) =>
    name === undefined ? one.endings.some((ending) => output.endsWith(ending)) : one.name === name,
  )
  if (format !== undefined) return format
  throw new UsageError(`name a tool to write for: --to ${PROFILE_FORMATS.map((one) => one.name).join(', ')}`)
}

/** The moment of live figures. @throws UsageError */
function momentOf(args: Arguments): ProfileMoment {
  const text = args.value('at') ?? 'end'
  if (text === 'end') return text
  try {
    return parseMoment(text)
  } catch (error) {
    throw new UsageError(`--at: ${(error as Error).message.replace(' or peak)', ', peak or end)')}`)
  }
}
