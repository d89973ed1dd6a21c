import type { ApiName, KindName } from '../../event/fields.js'
import { parseMoment, type Moment } from '../../transforms/fates/moment.js'
import { Filter, neededEvents, needsSurvey, type FilterOptions } from '../../transforms/filter.js'
import { parseRange, type Range } from '../../transforms/predicates/ranges.js'
import { integer, UsageError, type Arguments } from '../command.js'
import { inputOperand, traceInput, type StreamInput } from '../input.js'
import { refuseList } from '../parse.js'
import { outputFormat } from '../output-format.js'
import { runJob } from '../pipeline.js'

const NUMBERS = ['thread', 'process', 'heap'] as const
const RANGES = ['size', 'address', 'time', 'events'] as const
const NAMES = ['function', 'file', 'module', 'type', 'stack'] as const

/** Runs `hf-filter`. @throws UsageError */
export async function runFilter(args: Arguments): Promise<void> {
  const to = await outputFormat(args, args.value('output') ?? '-')
  const options = filterOptions(args)
  const path = inputOperand(args)
  const hasTwoPasses = needsSurvey(options)
  let stage: Filter
  try {
    stage = new Filter(options, hasTwoPasses ? [] : undefined)
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
  const readsFile = hasTwoPasses || (neededEvents(options) !== undefined && (await isCompact(path)))
  const input = readsFile ? await partInput(path, options) : traceInput(path)
  await runJob({ command: 'hf-filter', args, input, stages: readsFile ? [] : [stage], to })
}

/** What is kept of a file that is read twice, or of which a part is read. */
async function partInput(path: string, options: FilterOptions): Promise<StreamInput> {
  const [{ filterFile }, { mergedInput }] = await Promise.all([
    import('../../streams/filter-file.js'),
    import('../streaming.js'),
  ])
  return mergedInput([path], () => filterFile(path, options))
}

/** Whether a file is a compact trace, of which a part can be read. */
async function isCompact(path: string): Promise<boolean> {
  return (await import('../../streams/io/compact-file.js')).isCompactFile(path)
}

/** The options that the flags give. @throws UsageError */
function filterOptions(args: Arguments): FilterOptions {
  const given = <T>(names: readonly string[], read: (name: string, text: string) => T): Record<string, T[]> =>
    Object.fromEntries(
      names
        .filter((name) => args.all(name).length > 0)
        .map((name) => [name, args.all(name).map((text) => read(name, text))]),
    )
  return {
    // Negative thread ids, as in memory_replay, are kept as 64-bit two's complement.
    ...given(NUMBERS, (name, text) => BigInt.asUintN(64, oneInteger(name, text))),
    ...given(['cpu'], oneInteger),
    ...given(RANGES, rangeValue),
    ...given(NAMES, namePattern),
    ...given(['kind'], (_, text) => text as KindName),
    ...given(['api'], (_, text) => text as ApiName),
    ...(args.has('leaked') && { leaked: true }),
    ...(args.has('temporary') && { temporary: true }),
    ...(args.has('live-at') && { liveAt: moment(args.value('live-at') as string) }),
    invert: args.has('invert'),
    lifetimes: args.has('lifetimes'),
  }
}

function oneInteger(flag: string, text: string): bigint {
  refuseList(flag, text)
  return integer(flag, text)
}

function moment(text: string): Moment {
  try {
    return parseMoment(text)
  } catch (error) {
    throw new UsageError(`--live-at: ${(error as Error).message}`)
  }
}

function rangeValue(flag: string, text: string): Range {
  refuseList(flag, text)
  try {
    return parseRange(text)
  } catch (error) {
    throw new UsageError(`--${flag}: ${(error as Error).message}`)
  }
}

/** `/source/flags` is a regular expression, anything else the name itself. */
function namePattern(flag: string, text: string): string | RegExp {
  const parts = /^\/(.*)\/([imsu]*)$/s.exec(text)
  if (parts === null) return text
  try {
    return new RegExp(parts[1] as string, parts[2])
  } catch (error) {
    throw new UsageError(`--${flag}: ${(error as Error).message}`)
  }
}
