import { refuseWith, UsageError, type Arguments } from './command.js'
import type { SITE_GROUPS, TSV_SECTIONS } from './defaults.js'
import { SUPPRESS_NAMES } from './flags.js'
import type { SectionName } from './report/text.js'

type Sections = readonly SectionName[]
type By = (typeof SITE_GROUPS)[number]

/** The output forms of statistics. */
export type StatisticsForm = 'text' | 'json' | 'tsv'

/** Sections whose rows are sites, or what sites are added up by. */
const OF_SITES = ['sites', 'overhead', 'site-threads', 'handoffs'] as const
/** Sections whose rows are sites, and threads. */
const OF_HOLDERS = ['peak', 'leaks', 'temporary'] as const
const NAMED: Sections = [...OF_HOLDERS, ...OF_SITES]
const COUNTED: Sections = ['sizes', 'threads', 'cpus', 'processes']
/** The parts of JSON with sites. */
const WITH_SITES: Sections = NAMED.filter((name) => name !== 'overhead')

/** The flags of rows that have names. */
const NAMES = ['depth', 'full', 'tree', 'hide', 'show'] as const

/** By flag, the sections that it changes. Other flags of tables are refused in this form. */
const USED: Readonly<Record<StatisticsForm, Readonly<Record<string, Sections>>>> = {
  text: {
    top: [...NAMED, ...COUNTED],
    sort: ['sites'],
    by: NAMED,
    ...Object.fromEntries(NAMES.map((flag) => [flag, NAMED])),
    tree: ['peak', 'leaks'],
    ...Object.fromEntries(SUPPRESS_NAMES.map((flag) => [flag, ['summary', 'leaks', 'sites']])),
  },
  json: {
    top: [...WITH_SITES, ...COUNTED],
    sort: WITH_SITES,
    by: WITH_SITES,
    ...Object.fromEntries(SUPPRESS_NAMES.map((flag) => [flag, ['summary', ...WITH_SITES]])),
  },
  tsv: {
    top: ['sites', 'sizes', 'threads', 'site-threads', 'handoffs'] satisfies (typeof TSV_SECTIONS)[number][],
    sort: ['sites'],
    by: ['sites', 'site-threads', 'handoffs'],
    ...Object.fromEntries(SUPPRESS_NAMES.map((flag) => [flag, ['sites']])),
  },
}
/** The sections that have rows by thread. */
const BY_THREAD: Sections = [...OF_HOLDERS, 'threads']

/**
 * Refuses flags of tables that the statistics do not have: where sections are chosen, of which none has them, or where
 * rows are threads.
 * @throws UsageError
 */
export function refuseUnused(args: Arguments, form: StatisticsForm, sections: Sections, by: By): void {
  if (by === 'thread') refuseByThread(args, form, sections)
  if (sections.length === 0) return
  for (const [flag, used] of Object.entries(USED[form])) {
    const all = flag === 'by' && by === 'thread' ? BY_THREAD : used
    if (args.has(flag) && !sections.some((name) => all.includes(name)))
      throw new UsageError(
        `--${flag} needs ${all.length === 1 ? `--section ${all[0]}` : `one of these sections: ${all.join(', ')}`}`,
      )
  }
}

function refuseByThread(args: Arguments, form: StatisticsForm, sections: Sections): void {
  if (form !== 'text') throw new UsageError(`--${form} and --by thread cannot be combined`)
  refuseWith(args, ['sort', ...NAMES], 'by thread')
  const without = sections.find((name) => (OF_SITES as Sections).includes(name))
  if (without !== undefined)
    throw new UsageError(`--section ${without} has no rows by thread; these sections have: ${BY_THREAD.join(', ')}`)
}
