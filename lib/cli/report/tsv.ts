import type * as Result from '../../transforms/statistics/result.js'
import { joinTimeline } from '../../transforms/statistics/timeline.js'
import type { TSV_SECTIONS } from '../defaults.js'
import { siteNamePieces, threadName } from './names.js'
import { pairsOf, type ThreadPair } from './site-threads.js'
import { descending } from '../../transforms/statistics/site-table.js'
import { sortedSites, type SiteOrder } from './tables.js'

/** A section that can be written as TSV. */
export type TsvSection = (typeof TSV_SECTIONS)[number]

/** Options of `tsvText`. */
interface TsvOptions {
  section: TsvSection
  /** The number of rows of sites, sizes and threads; all of them if absent. */
  top?: number | undefined
  /** The number of rows of the timeline; all of its parts if absent. */
  timeline?: number | undefined
  sort: SiteOrder
}

/** A long text comes in pieces. */
type Cell = string | number | bigint | undefined | Iterable<string>
/** Columns by their headers. */
type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>

const TIMELINE: Columns<Result.TimelinePart> = {
  event: ({ event }) => event,
  time: ({ time }) => time,
  min_bytes: ({ minBytes }) => minBytes,
  max_bytes: ({ maxBytes }) => maxBytes,
  min_blocks: ({ minBlocks }) => minBlocks,
  max_blocks: ({ maxBlocks }) => maxBlocks,
  bytes: ({ live }) => live.bytes,
  blocks: ({ live }) => live.blocks,
  allocations: ({ allocated }) => allocated.blocks,
  allocated_bytes: ({ allocated }) => allocated.bytes,
  frees: ({ frees }) => frees,
  resident: ({ resident }) => resident,
}

const SHARES: Columns<Result.Shares> = {
  bytes: ({ allocated }) => allocated.bytes,
  allocations: ({ allocated }) => allocated.blocks,
  peak_bytes: ({ atPeak }) => atPeak.bytes,
  peak_blocks: ({ atPeak }) => atPeak.blocks,
  leaked_bytes: ({ leaked }) => leaked.bytes,
  leaked_blocks: ({ leaked }) => leaked.blocks,
  temporary_heaptrack: ({ temporary }) => temporary.heaptrack.blocks,
  temporary_memray: ({ temporary }) => temporary.memray.blocks,
}

const SITES: Columns<Result.SiteStatistics> = {
  site: siteNamePieces,
  ...SHARES,
  own_peak_bytes: ({ ownPeak }) => ownPeak.bytes,
  own_peak_blocks: ({ ownPeak }) => ownPeak.blocks,
  foreign_frees: ({ foreignFrees }) => foreignFrees,
  lived_events: ({ lived }) => lived.events,
  lived_time: ({ lived }) => lived.time,
}

/** A site and a thread that allocated there. */
type SiteThreadRow = Result.SiteThread & { readonly site: Result.Site }

const SITE_THREADS: Columns<SiteThreadRow> = {
  site: ({ site }) => siteNamePieces(site),
  thread: threadName,
  process: ({ process }) => process,
  ...SHARES,
  name: ({ name }) => name,
}

const HANDOFFS: Columns<ThreadPair & { readonly site: Result.Site }> = {
  site: ({ site }) => siteNamePieces(site),
  thread: ({ from }) => threadName(from),
  process: ({ from }) => from.process,
  freed_by_thread: ({ to }) => threadName(to),
  freed_by_process: ({ to }) => to.process,
  bytes: ({ bytes }) => bytes,
  blocks: ({ blocks }) => blocks,
  name: ({ from }) => from.name,
  freed_by_name: ({ to }) => to.name,
}

const THREADS: Columns<Result.ThreadStatistics> = {
  thread: threadName,
  process: ({ process }) => process,
  events: ({ events }) => events,
  ...SHARES,
  frees: ({ frees }) => frees,
  cross_thread_frees: ({ foreignFrees }) => foreignFrees,
  name: ({ name }) => name,
}

const SIZES: Columns<Omit<Result.SizeStatistics, 'size'> & { size: Cell }> = {
  size: ({ size }) => size,
  allocations: ({ count }) => count,
  peak_blocks: ({ atPeak }) => atPeak,
  leaked_blocks: ({ leaked }) => leaked,
  temporary_heaptrack: ({ temporary }) => temporary.heaptrack,
  temporary_memray: ({ temporary }) => temporary.memray,
}

/**
 * One table as tab-separated values, under a header row. Numbers are plain integers; unknown values are empty. It comes
 * in pieces, because a table may be longer than the longest string.
 */
export function tsvPieces(
  statistics: Result.Statistics,
  { section, top, timeline, sort }: TsvOptions,
): Iterable<string> {
  if (section === 'timeline') return table(TIMELINE, joinTimeline(statistics.timeline, timeline ?? Infinity))
  const known = <Row>(columns: Columns<Row>) => (statistics.identified ? columns : withoutIdentity(columns))
  if (section === 'sites') return table(known(SITES), sortedSites(statistics.sites, sort, top))
  if (section === 'threads') return table(known(THREADS), statistics.threads.slice(0, top))
  if (section === 'site-threads')
    return table(
      known(SITE_THREADS),
      statistics.sites
        .flatMap((site) => (site.threads ?? []).map((thread) => ({ ...thread, site })))
        .toSorted((a, b) => descending(a.allocated.bytes, b.allocated.bytes))
        .slice(0, top),
    )
  if (section === 'handoffs')
    return table(
      HANDOFFS,
      statistics.sites
        .flatMap((site) => pairsOf(site).map((pair) => ({ ...pair, site })))
        .toSorted((a, b) => descending(a.bytes, b.bytes) || b.blocks - a.blocks)
        .slice(0, top),
    )
  return table(known(SIZES), sizeRows(statistics.sizes).slice(0, top))
}

/** The columns without the figures that depend on which block is freed. */
function withoutIdentity<Row>(columns: Columns<Row>): Columns<Row> {
  const entries = Object.entries(columns).map(([name, cell]) => [
    name,
    /^(temporary|lived)_/.test(name) ? () => '' : cell,
  ])
  return Object.fromEntries(entries) as Columns<Row>
}

function sizeRows({
  exact,
  others,
}: Result.Statistics['sizes']): (Omit<Result.SizeStatistics, 'size'> & { size: Cell })[] {
  if (others === undefined) return exact
  const { allocated, atPeak, leaked, temporary } = others
  const { heaptrack, memray } = temporary
  const blocks = { heaptrack: heaptrack.blocks, memray: memray.blocks }
  const rest = { count: allocated.blocks, atPeak: atPeak.blocks, leaked: leaked.blocks, temporary: blocks }
  return [...exact, { size: '(others)', ...rest }]
}

function* table<Row>(columns: Columns<Row>, rows: readonly Row[]): Generator<string> {
  const cells = Object.values(columns)
  yield `${Object.keys(columns).join('\t')}\n`
  for (const row of rows) {
    for (const [column, of] of cells.entries()) {
      if (column > 0) yield '\t'
      const cell = of(row)
      if (typeof cell === 'object') yield* cell
      else yield String(cell ?? '')
    }
    yield '\n'
  }
}
