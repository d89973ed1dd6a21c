import { GROUP_FIELDS, type ApiName, type GroupFieldType, type KindName } from '../event/fields.js'
import { parseMoment } from '../transforms/fates/moment.js'
import type { FilterOptions } from '../transforms/filter.js'
import { parseRange, type Range } from '../transforms/predicates/ranges.js'
import { integer, orUsageError, refuseList, temporaryBy, UsageError, type Arguments } from './command.js'

const NUMBERS = ['thread', 'heap'] as const
const RANGES = ['size', 'address', 'time', 'events'] as const
const NAMES = ['function', 'file', 'module', 'type', 'stack'] as const

/** The fields of groups that are stored in one of some ways. */
function groupFields(...types: readonly GroupFieldType[]): string[] {
  return GROUP_FIELDS.filter(({ type }) => (types as readonly string[]).includes(type)).map(({ name }) => name)
}

/** The options of a filter, as the flags of `hf-filter` give them. @throws UsageError */
export function filterOptions(args: Pick<Arguments, 'all' | 'value' | 'has'>): FilterOptions {
  const given = <T>(names: readonly string[], read: (name: string, text: string) => T): Record<string, T[]> =>
    Object.fromEntries(
      names
        .filter((name) => args.all(name).length > 0)
        .map((name) => [name, args.all(name).map((text) => read(name, text))]),
    )
  const isTemporary = args.has('temporary')
  const by = temporaryBy(args, isTemporary, '--temporary')
  const criteria = {
    // Negative thread ids, as in memory_replay, are kept as 64-bit two's complement.
    ...given(NUMBERS, (name, text) => BigInt.asUintN(64, oneInteger(name, text))),
    ...given(['process'], (name, text) => (text === 'none' ? text : BigInt.asUintN(64, oneInteger(name, text)))),
    ...given(['cpu', ...groupFields('i32', 'u32')], oneInteger),
    ...given([...RANGES, ...groupFields('u64', 'address')], rangeValue),
    ...given([...NAMES, ...groupFields('string')], namePattern),
    ...given(['kind'], (_, text) => text as KindName),
    ...given(['api'], (_, text) => text as ApiName),
    ...(args.has('leaked') && { leaked: true }),
    ...(isTemporary && { temporary: true, temporaryBy: by }),
    ...(args.has('live-at') && {
      liveAt: orUsageError(() => parseMoment(args.value('live-at') as string), '--live-at: '),
    }),
  }
  if (args.has('invert') && Object.keys(criteria).length === 0)
    throw new UsageError('--invert needs what to invert, such as --kind free')
  return { ...criteria, invert: args.has('invert'), lifetimes: args.has('lifetimes') }
}

function oneInteger(flag: string, text: string): bigint {
  refuseList(flag, text)
  return integer(flag, text)
}

function rangeValue(flag: string, text: string): Range {
  refuseList(flag, text)
  return orUsageError(() => parseRange(text), `--${flag}: `)
}

/** Names that may be paths: `/usr/lib/app` is no regular expression. */
const PATHS: ReadonlySet<string> = new Set(['file', 'module'])

/** `/source/flags` is a regular expression, anything else the name itself. @throws UsageError for other flags */
function namePattern(flag: string, text: string): string | RegExp {
  const [, source, flags = ''] = /^\/(.*)\/([a-z]*)$/is.exec(text) ?? []
  if (source === undefined || (PATHS.has(flag) && /[^dgimsuvy]/.test(flags))) return text
  const other = /[^imsu]/.exec(flags)?.[0]
  if (other !== undefined)
    throw new UsageError(`--${flag}: a regular expression may end in /, i, m, s and u, not in ${other}: ${text}`)
  return orUsageError(() => new RegExp(source, flags), `--${flag}: `)
}
