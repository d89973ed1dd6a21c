import type { EventBatch } from '../../event/batch.js'
import type { Stage } from '../../event/stage.js'
import type { Statistics } from '../../transforms/statistics/result.js'
import { joinTimeline } from '../../transforms/statistics/timeline.js'
import { numberOf, oneOf, refuseWith, temporaryBy, UsageError, type Arguments } from '../command.js'
import { MAX_TIMELINE_ROWS, type SITE_GROUPS, TSV_SECTIONS } from '../defaults.js'
import { SUPPRESS_NAMES } from '../flags.js'
import { inputOperand, traceInput, traceNumber } from '../input.js'
import { isTerminal } from '../is-terminal.js'
import { namedInput } from '../named-input.js'
import { outputOf } from '../output.js'
import { runTrace } from '../pipeline.js'
import { AllocatorReportStage } from '../report/allocator-report.js'
import { EventTable } from '../report/event-table.js'
import { unknownFigures } from '../report/identity.js'
import { jsonPieces } from '../report/json.js'
import { figuresJson, figuresText, LiveFiguresReport, type Interval, type LiveFigures } from '../report/live-figures.js'
import { MpatrolReport } from '../report/mpatrol-report.js'
import { StatisticsReport } from '../report/statistics-report.js'
import { groupedSites } from '../report/grouped-sites.js'
import { sectionsOf } from '../report/json-sections.js'
import { sectionRows } from '../report/section-order.js'
import { definitionOf, sortedSites, type SiteOrder } from '../report/tables.js'
import { reportPieces, showsTemporary, WITH_TEMPORARY, type SectionName } from '../report/text.js'
import { tsvPieces } from '../report/tsv.js'
import { ownFrames, refuseRowFlags, rowNames } from '../row-names.js'
import { refuseUnused } from '../section-flags.js'

/** The output with these flags has no stacks. */
const NAMELESS = ['mpatrol', 'table', 'every', 'allocator']
const FORMS = ['json', 'tsv', 'mpatrol', 'table'] as const

/** The flags that choose and arrange tables of sites, sizes and threads. */
const OF_TABLES = ['top', 'section', 'sort', 'timeline', 'by', ...SUPPRESS_NAMES]
/** The flags that the report on the allocator has no use for. */
const OF_FIGURES = ['tsv', 'mpatrol', 'table', 'sources', 'every', 'temporary-by', ...OF_TABLES]

/** Runs `hf-stats`. @throws UsageError */
export async function runStats(args: Arguments): Promise<void> {
  // Most reports cover all leaks.
  const isSuppressing = SUPPRESS_NAMES.some((flag) => args.has(flag))
  const path = inputOperand(args)
  const whole = NAMELESS.some((flag) => args.has(flag)) ? traceInput(path) : namedInput(path, args)
  const { input, prepare } = isSuppressing
    ? (await import('../suppressions.js')).suppressing('hf-stats', args, whole)
    : { input: whole, prepare: (all: Statistics) => all }
  const stage = reportStage(args, prepare)
  await runTrace({
    command: 'hf-stats',
    input,
    through: stage,
    output: outputOf(args, [path], false),
    progress: !args.has('every'),
  })
}

/** The stage that makes the requested report, of statistics that are prepared. @throws UsageError */
function reportStage(args: Arguments, prepare: (all: Statistics) => Statistics): Stage<EventBatch, Uint8Array> {
  if (args.has('allocator')) return allocatorReport(args)
  const form = oneOf(args, FORMS)
  const trace = traceNumber(args)
  if (args.has('sources') && form !== 'table') throw new UsageError('--sources needs --table')
  const by = (args.value('by') ?? 'site') as (typeof SITE_GROUPS)[number]
  const isGrouped = by === 'function' || by === 'module'
  if (by !== 'site') refuseWith(args, ['tree', 'depth'], `by ${by}`)
  const unusual = args.has('every') ? 'every' : form
  if (unusual !== undefined) refuseRowFlags(args, unusual, isGrouped)
  // JSON and TSV have both definitions.
  if (unusual !== undefined) refuseWith(args, ['temporary-by'], unusual)
  if (args.has('every')) return liveReport(args, form, trace)
  if (form === 'mpatrol' || form === 'table') refuseWith(args, OF_TABLES, form)
  if (form === 'table') return new EventTable({ sources: args.has('sources'), trace })
  if (form === 'mpatrol') return new MpatrolReport(trace)
  const print = printer(args, form, numberOf(args, 'top'))
  refuseUnused(args, form ?? 'text', args.all('section') as readonly SectionName[], by)
  const own = ownFrames(args)
  return new StatisticsReport({
    print: (all) => {
      const statistics = prepare(all)
      return print(isGrouped ? { ...statistics, sites: groupedSites(statistics.sites, own, by) } : statistics)
    },
    trace,
  })
}

/** The stage that recognizes the allocator of the trace. @throws UsageError */
function allocatorReport(args: Arguments): AllocatorReportStage {
  refuseRowFlags(args, 'allocator')
  refuseWith(args, OF_FIGURES, 'allocator')
  return new AllocatorReportStage({ json: args.has('json'), trace: traceNumber(args) })
}

/** The stage that shows the main figures repeatedly. @throws UsageError */
function liveReport(args: Arguments, form: string | undefined, trace?: number): LiveFiguresReport {
  refuseWith(args, ['tsv', 'mpatrol', 'table', ...OF_TABLES], 'every')
  const { path, compression } = outputOf(args, [], false)
  // On a terminal, each line replaces the one before.
  const isInPlace = path === '-' && compression === undefined && isTerminal(1)
  const start = isInPlace ? '\r\u001b[K' : ''
  const width = isInPlace ? (process.stdout.columns || 80) - 1 : Infinity
  const end = ({ complete }: LiveFigures) => (complete === undefined && isInPlace ? '' : '\n')
  return new LiveFiguresReport({
    every: intervalOf(args.value('every') as string),
    print: form === 'json' ? figuresJson : (figures) => start + figuresText(figures).slice(0, width) + end(figures),
    trace,
  })
}

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000 }
const EVENTS: Readonly<Record<string, number>> = { '': 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9 }

/** An interval such as `1s`, `500ms` or `1M` events. @throws UsageError */
function intervalOf(text: string): Interval {
  const [, digits = '', unit = ''] = /^(\d{1,9})(ms|s|min|k|K|M|G|)$/.exec(text) ?? []
  const [milliseconds, events] = [MILLISECONDS[unit], EVENTS[unit]]
  if (Number(digits) === 0) {
    const usage = '--every needs a time such as 1s, 500ms or 2min, or events such as 1M or 1000'
    throw new UsageError(`${usage}, not ${JSON.stringify(text)}`)
  }
  if (milliseconds !== undefined) return { milliseconds: Number(digits) * milliseconds }
  return { events: Number(digits) * events }
}

/** Writes statistics in pieces. */
type Print = (statistics: Statistics) => Iterable<string>

/** The writer of the statistics as text, JSON or TSV. @throws UsageError */
function printer(args: Arguments, form: 'json' | 'tsv' | undefined, top?: number): Print {
  const timeline = timelineRows(args)
  const sections = args.all('section') as readonly SectionName[]
  const given = args.value('sort') as SiteOrder | undefined
  const sort = given ?? 'bytes'
  if (form === 'json') {
    const chosen = sections.length === 0 ? undefined : sections
    return (statistics) =>
      jsonPieces(
        sectionsOf(reduced(statistics, sections, { sort: given, top, timeline }), chosen),
        unknownFigures(statistics.identified),
      )
  }
  if (form === 'tsv') {
    const section = TSV_SECTIONS.find((name) => name === sections[0])
    if (sections.length !== 1 || section === undefined)
      throw new UsageError(`--tsv needs one --section, which can be ${TSV_SECTIONS.join(', ')}`)
    return (statistics) => tsvPieces(statistics, { section, top, timeline, sort })
  }
  const names = { ...rowNames(args), by: (args.value('by') ?? 'site') as (typeof SITE_GROUPS)[number] }
  const report = { names, top, ...(sections.length > 0 && { sections }), timeline, sort }
  const by = temporaryBy(args, showsTemporary(report), `a table of these sections: ${WITH_TEMPORARY.join(', ')}`)
  const sorted = definitionOf(sort)
  if (args.has('temporary-by') && sorted !== undefined && sorted !== by)
    throw new UsageError(`--sort ${sorted} and --temporary-by ${by} cannot be combined`)
  return (statistics) => reportPieces(statistics, { ...report, temporaryBy: by })
}

/** The number of rows of the timeline, if given. @throws UsageError */
function timelineRows(args: Arguments): number | undefined {
  const rows = numberOf(args, 'timeline', 1, MAX_TIMELINE_ROWS)
  const sections = args.all('section')
  if (rows !== undefined && sections.length > 0 && !sections.includes('timeline'))
    throw new UsageError('--timeline needs --section timeline where sections are chosen')
  return rows
}

/** How JSON is limited, and by what its sites are sorted. */
interface Reduction {
  sort: SiteOrder | undefined
  top: number | undefined
  timeline: number | undefined
}

/** The statistics with rows in the order of their section, and a limited number of them. */
function reduced(
  statistics: Statistics,
  sections: readonly SectionName[],
  { sort, top, timeline: rows }: Reduction,
): Statistics {
  const { cpus, timeline } = statistics
  // Functions and modules that were added up have no order.
  const sites = sortedSites(statistics.sites, sort ?? 'bytes')
  return {
    ...sectionRows({ ...statistics, sites }, sections, top),
    ...(sort !== undefined && { sites: sites.slice(0, top) }),
    cpus: cpus.slice(0, top),
    timeline: rows === undefined ? timeline : joinTimeline(timeline, rows),
  }
}
