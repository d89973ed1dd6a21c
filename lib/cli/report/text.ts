import type { Statistics } from '../../transforms/statistics/result.js'
import { TEMPORARY_BY, type TemporaryDefinition } from '../../transforms/option-values.js'
import { TABLE_NAMES } from '../../transforms/statistics/key-counts.js'
import { FIRST_TOP, SECTIONS, TIMELINE_ROWS, TOP } from '../defaults.js'
import { advice } from './advice.js'
import { wrapped } from './columns.js'
import { anomalies, eventCounts, histogram, reallocs } from './counts.js'
import { leakSections, peakSections, temporarySection } from './holders.js'
import { unitName, type SiteNames } from './names.js'
import { handoffTable, siteThreadTable } from './site-threads.js'
import { summary, suppressedText } from './summary.js'
import * as Tables from './tables.js'
import { timelineTable } from './timeline.js'
import { actingThreads } from '../../transforms/statistics/thread-table.js'

/** A part of the report. */
export type SectionName = (typeof SECTIONS)[number]

/** The contents of the report. */
interface ReportOptions {
  /**
   * The maximum number of rows of each table of sites, sizes and so on. Default: `TOP`, and `FIRST_TOP` where the
   * report begins.
   */
  top?: number | undefined
  /** Only these sections; all of them if absent, without the timeline unless its rows are given. */
  sections?: readonly SectionName[]
  /** The number of rows of the timeline. */
  timeline?: number | undefined
  /** The options for names of sites. */
  names: SiteNames
  /** The sort key of the table of sites. Default: `bytes`. */
  sort?: Tables.SiteOrder
  /** The definition of temporary allocations where there is room for one only; heaptrack's if absent. */
  temporaryBy?: TemporaryDefinition
}

/** The sections at the beginning of the whole report, after the summary. */
const FIRST: readonly SectionName[] = ['peak', 'leaks', 'temporary']

/** The sections with one definition of temporary allocations, or with one before the other. */
export const WITH_TEMPORARY: readonly SectionName[] = ['temporary', 'sites', 'sizes', 'threads']

/** Whether the definition of temporary allocations decides what the report shows. */
export function showsTemporary({ sections, top, names }: ReportOptions): boolean {
  // By thread there is no table of sites.
  const isShown = (name: SectionName) => WITH_TEMPORARY.includes(name) && !(name === 'sites' && names.by === 'thread')
  return top !== 0 && (sections === undefined || sections.some(isShown))
}

/** Each section as paragraphs, which are lists of lines. */
const MAKERS: Readonly<
  Record<
    SectionName,
    (statistics: Statistics, options: ReportOptions & { top: number; temporaryBy: TemporaryDefinition }) => string[][]
  >
> = {
  summary: (statistics, { names }) => [summary(statistics, names.columns)],
  timeline: (statistics, { timeline = TIMELINE_ROWS, names }) => [timelineTable(statistics, timeline, names.columns)],
  peak: (statistics, { top, names }) => peakSections(statistics, top, names),
  leaks: (statistics, { top, names, sections }) => [
    ...leakSections(statistics, top, names),
    // Otherwise the summary says so.
    statistics.suppressed !== undefined && sections?.includes('summary') === false
      ? wrapped(`Suppressed leaks: ${suppressedText(statistics.suppressed)}`, names.columns)
      : [],
  ],
  temporary: (statistics, { top, names, temporaryBy }) => [
    statistics.identified ? temporarySection(statistics, top, names, temporaryBy) : [],
  ],
  anomalies: (statistics, { names }) => [anomalies(statistics, names.columns)],
  // Sites that are sorted by one of the definitions show that one.
  sites: (statistics, { top, names, sort = 'bytes', temporaryBy }) => [
    Tables.siteTable(statistics, top, sort, names, Tables.definitionOf(sort) ?? temporaryBy),
  ],
  overhead: (statistics, { top, names }) => [Tables.overheadTable(statistics, top, names)],
  sizes: (statistics, { top, temporaryBy, names: { columns } }) => [
    Tables.sizeTable(statistics, top, temporaryBy, columns),
    histogram('Sizes, in bytes', 'allocations', statistics.sizes.histogram, columns),
  ],
  lifetimes: ({ lifetimes: { events, bytes, time: lasted }, time, identified }, { names: { columns } }) =>
    !identified
      ? []
      : [
          histogram('Lifetimes of freed blocks, in events', 'blocks', events, columns),
          histogram('Lifetimes of freed blocks, in bytes allocated in between', 'blocks', bytes, columns),
          ...(lasted === undefined
            ? []
            : [histogram(`Lifetimes of freed blocks, in ${unitName(time?.unit)}`, 'blocks', lasted, columns)]),
        ],
  events: (statistics, { names }) => [eventCounts(statistics, names.columns)],
  reallocs: (statistics, { names }) => [reallocs(statistics, names.columns)],
  // A single thread has a table only where it is requested.
  threads: (statistics, { top, sections, temporaryBy, names }) =>
    actingThreads(statistics.threads).length > 1 || sections !== undefined
      ? [Tables.threadTable(statistics, top, temporaryBy, names.columns)]
      : [],
  'site-threads': (statistics, { top, names }) => [siteThreadTable(statistics, top, names)],
  handoffs: (statistics, { top, names }) => [handoffTable(statistics, top, names)],
  cpus: ({ cpus }, { top, names }) => [Tables.cpuTable(cpus, top, names.columns)],
  processes: (statistics, { top, names }) => [Tables.processTable(statistics, top, names.columns)],
}

/**
 * The statistics as text: a summary, what holds the peak, what leaks, what makes temporary allocations, the same by
 * thread, a table for everything else that the trace has, and what would make the answer better. It comes in lines.
 */
export function* reportPieces(statistics: Statistics, options: ReportOptions): Generator<string> {
  const { sections, timeline, temporaryBy = TEMPORARY_BY } = options
  const chosen = SECTIONS.filter((name) =>
    sections === undefined ? name !== 'timeline' || timeline !== undefined : sections.includes(name),
  )
  const paragraphs: string[][] = []
  const later: string[][] = []
  for (const name of chosen) {
    const isFirst = sections === undefined && FIRST.includes(name)
    const top = options.top ?? (isFirst ? FIRST_TOP : TOP)
    const some = MAKERS[name](statistics, { ...options, temporaryBy, top }).filter((lines) => lines.length > 0)
    // A section requested by name is never empty.
    if (some.length === 0 && sections !== undefined) some.push([`${name}: nothing to show`])
    // Tables by thread follow those by site.
    later.push(...some.splice(isFirst ? 1 : some.length))
    paragraphs.push(...some)
    if (name === FIRST.at(-1)) paragraphs.push(...later)
  }
  const said = [...notes(statistics), ...(sections === undefined ? advice(statistics) : [])]
  for (const [i, lines] of [...paragraphs, ...said.map((one) => wrapped(one, options.names.columns))].entries()) {
    if (i > 0) yield '\n'
    for (const line of lines) yield `${line}\n`
  }
}

function notes({ full, exact }: Statistics): string[] {
  return [
    ...(exact ? [] : ['Sums beyond 2^85 are rounded.']),
    ...(full.length === 0
      ? []
      : [
          `Too many distinct ${full.map((table) => TABLE_NAMES[table] ?? table).join(', ')} for a row each: ` +
            'those that came last are counted as others.',
        ]),
  ]
}
