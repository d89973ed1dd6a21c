import { APIS, KINDS, type ApiName, type KindName } from '../../event/fields.js'
import { Filter, type FilterOptions } from '../../transforms/filter.js'
import { parseRange, type Range } from '../../transforms/ranges.js'
import { ndjson } from '../../wire/ndjson/index.js'
import { integer, UsageError, type Arguments, type Command, type Flag } from '../command.js'
import { OUTPUT_FLAGS, outputFormat, runJob, STRICT_FLAG, TO_FLAG } from '../pipeline.js'

const NUMBERS = ['thread', 'process', 'heap'] as const
const RANGES = ['size', 'address', 'time', 'events'] as const
const NAMES = ['function', 'file', 'type', 'stack'] as const

const CRITERIA: readonly Flag[] = [
  { name: 'thread', value: 'N', help: 'Events of this thread', repeat: true },
  { name: 'process', value: 'N', help: 'Events of this process', repeat: true },
  { name: 'heap', value: 'N', help: 'Events of this heap (0x... or decimal)', repeat: true },
  { name: 'cpu', value: 'N', help: 'Events of this CPU', repeat: true },
  { name: 'kind', value: 'KIND', help: 'Events of this kind', repeat: true, values: KINDS },
  { name: 'api', value: 'NAME', help: 'Events made by this function', repeat: true, values: APIS },
  { name: 'size', value: 'A..B', help: 'Sizes from A to B bytes; either may be missing, and end in K, M or G', repeat: true },
  { name: 'address', value: 'A..B', help: 'Addresses from A to B', repeat: true },
  { name: 'time', value: 'A..B', help: "Times from A to B, in the trace's unit", repeat: true },
  { name: 'events', value: 'A..B', help: 'The events number A to B of the input, counted from 1', repeat: true },
  { name: 'function', value: 'NAME', help: 'Events from this function: the whole name, or /a regular expression/', repeat: true },
  { name: 'file', value: 'NAME', help: 'Events from this source file, likewise', repeat: true },
  { name: 'type', value: 'NAME', help: 'Blocks of this type, likewise', repeat: true },
  { name: 'stack', value: 'NAME', help: 'Events with this function anywhere on the stack, likewise', repeat: true },
]

export const filter: Command = {
  name: 'hf-filter',
  summary: 'keep some of the events of a trace',
  operands: '[FILE]',
  description:
    'An event is kept if it meets every criterion given; of one that is repeated, any value will do. An event that does not have a field never meets a ' +
    'criterion on it. Frees, for example, have no size: with --lifetimes the realloc and free of every kept allocation are kept too.\n' +
    'The input may be in any format; the output is NDJSON unless --to or the name after -o says otherwise.',
  memory: 'constant; with --lifetimes it grows with the kept blocks that are live (about 40 bytes each).',
  flags: [
    ...CRITERIA,
    { name: 'invert', short: 'v', help: 'Keep the events that do not meet all criteria' },
    { name: 'lifetimes', help: 'Keep the realloc and free of every kept allocation, whatever they say themselves' },
    ...OUTPUT_FLAGS,
    TO_FLAG,
    STRICT_FLAG,
  ],
  examples: [
    { command: 'mtrc-decode app.mtrc | hf-filter --thread 3 | hatf-encode > t3.hatf', means: 'one thread of a trace, as HATF' },
    { command: "hf-filter --size 4K.. --function '/^parse_/' --lifetimes app.mtrc.gz", means: 'the life of the large blocks that a parser allocates' },
  ],
  run: (args) => {
    const to = outputFormat(args, args.value('output') ?? '-', ndjson)
    let stage: Filter
    try {
      stage = new Filter(filterOptions(args))
    } catch (error) {
      throw new UsageError((error as Error).message, { cause: error })
    }
    return runJob({ command: 'hf-filter', args, stages: [stage], to })
  },
}

/** What the flags ask for. @throws UsageError */
export function filterOptions(args: Arguments): FilterOptions {
  const given = <T>(names: readonly string[], read: (name: string, text: string) => T): Record<string, T[]> =>
    Object.fromEntries(names.filter((name) => args.all(name).length > 0).map((name) => [name, args.all(name).map((text) => read(name, text))]))
  return {
    // Negative thread ids, as memory_replay has them, are kept as 64-bit two's complement.
    ...given(NUMBERS, (name, text) => BigInt.asUintN(64, integer(name, text))),
    ...given(['cpu'], integer),
    ...given(RANGES, rangeValue),
    ...given(NAMES, namePattern),
    ...given(['kind'], (_, text) => text as KindName),
    ...given(['api'], (_, text) => text as ApiName),
    invert: args.has('invert'),
    lifetimes: args.has('lifetimes'),
  }
}

function rangeValue(flag: string, text: string): Range {
  try {
    return parseRange(text)
  } catch (error) {
    throw new UsageError(`--${flag}: ${(error as Error).message}`)
  }
}

/** `/source/flags` is a regular expression, all else the name itself. */
function namePattern(flag: string, text: string): string | RegExp {
  const parts = /^\/(.*)\/([imsu]*)$/s.exec(text)
  if (parts === null) return text
  try {
    return new RegExp(parts[1] as string, parts[2])
  } catch (error) {
    throw new UsageError(`--${flag}: ${(error as Error).message}`)
  }
}
