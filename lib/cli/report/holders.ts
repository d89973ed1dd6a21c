import type { Amount, Shares, Site, Statistics, ThreadStatistics } from '../../transforms/statistics/result.js'
import { descending } from '../../transforms/statistics/site-table.js'
import { grouped, share, tableLines } from './columns.js'
import { siteName, threadName } from './names.js'
import { actingThreads } from '../../transforms/statistics/thread-table.js'

/** One row of a table: the figures of a site, a size or a thread. */
interface Holder extends Shares {
  readonly names: readonly string[]
}

/** Rows of one kind, and the headers of the columns that name them. */
interface Holders {
  readonly what: 'sites' | 'sizes' | 'threads'
  readonly heads: readonly string[]
  readonly rows: readonly Holder[]
}

/** What holds the peak: by site, or by size if no event names its site; and by thread. */
export function peakSections(statistics: Statistics, top: number, depth?: number): string[][] {
  const whole = statistics.peakBytes
  return holdersOf(statistics, depth).map((holders) => holdings(holders, 'live at the peak', 'atPeak', whole, top))
}

/** What leaks, likewise. */
export function leakSections(statistics: Statistics, top: number, depth?: number): string[][] {
  return holdersOf(statistics, depth).map((holders) => holdings(holders, 'leaked', 'leaked', statistics.leaked, top))
}

/** What makes temporary allocations: by site, or by size if no event names its site. */
export function temporarySection(statistics: Statistics, top: number, depth?: number): string[] {
  const [{ what, heads, rows }] = holdersOf(statistics, depth)
  const some = rows.filter(({ temporary: { heaptrack, memray } }) => heaptrack.blocks + memray.blocks > 0)
  if (some.length === 0 || top === 0) return []
  const isLess = ({ temporary: a }: Holder, { temporary: b }: Holder) =>
    b.heaptrack.blocks - a.heaptrack.blocks || b.memray.blocks - a.memray.blocks
  const figures = ({ temporary, allocated }: Holder) =>
    (['heaptrack', 'memray'] as const).flatMap((by) => [
      grouped(temporary[by].blocks),
      share(temporary[by].blocks, allocated.blocks),
    ])
  const columns = ['heaptrack', 'share', 'memray', 'share', 'allocations']
  const isText = heads[0]?.startsWith(' ') === true
  return tableLines({
    title: `Top ${what} by temporary allocations (${grouped(some.length)} in all)`,
    heads: isText ? [...columns, ...heads] : [...heads, ...columns],
    rows: some
      .toSorted(isLess)
      .slice(0, top)
      .map((row) => {
        const cells = [...figures(row), grouped(row.allocated.blocks)]
        return isText ? [...cells, ...row.names] : [...row.names, ...cells]
      }),
  })
}

/** A table of the rows with the largest values of a figure. */
function holdings(
  { what, heads, rows }: Holders,
  state: string,
  key: 'atPeak' | 'leaked',
  whole: Amount,
  top: number,
): string[] {
  const some = rows
    .filter((row) => row[key].blocks > 0)
    .toSorted((a, b) => descending(a[key].bytes, b[key].bytes) || b[key].blocks - a[key].blocks)
  if (some.length === 0 || top === 0) return []
  let sum = 0n
  const columns = ['bytes', 'share', 'cumulative', 'blocks', ...(key === 'leaked' ? ['of allocations'] : [])]
  // Names of sites are long, so they come last; sizes and threads are short.
  const isLast = heads.length === 1 && what === 'sites'
  return tableLines({
    title: `Top ${what} by bytes ${state} (${grouped(some.length)} in all)`,
    heads: isLast ? [...columns, ...heads] : [...heads, ...columns],
    rows: some.slice(0, top).map((row) => {
      sum += row[key].bytes
      const cells = [
        grouped(row[key].bytes),
        share(row[key].bytes, whole.bytes),
        share(sum, whole.bytes),
        grouped(row[key].blocks),
        ...(key === 'leaked' ? [share(row[key].blocks, row.allocated.blocks)] : []),
      ]
      return isLast ? [...cells, ...row.names] : [...row.names, ...cells]
    }),
  })
}

/** The keys of the tables: sites or otherwise sizes, and threads if there are several. */
function holdersOf({ sites, sizes, threads }: Statistics, depth?: number): [Holders, ...Holders[]] {
  const first: Holders = hasSites(sites)
    ? {
        what: 'sites',
        heads: [' site'],
        rows: sites.map((site) => ({ ...sharesOf(site), names: [siteName(site, depth)] })),
      }
    : { what: 'sizes', heads: ['size'], rows: sizeHolders(sizes) }
  const acting = actingThreads(threads)
  if (acting.length < 2) return [first]
  const hasProcesses = acting.some(({ process }) => process !== undefined)
  const names = (thread: ThreadStatistics) => [
    threadName(thread),
    ...(hasProcesses ? [String(thread.process ?? '')] : []),
  ]
  const rows = acting.map((thread) => ({ ...sharesOf(thread), names: names(thread) }))
  return [first, { what: 'threads', heads: [' thread', ...(hasProcesses ? ['process'] : [])], rows }]
}

/** Whether any allocation names its site. */
export function hasSites(sites: readonly Site[]): boolean {
  return sites.some(({ rest }) => rest !== 'none')
}

function sizeHolders({ exact, others }: Statistics['sizes']): Holder[] {
  const rows = exact.map(({ size, count, atPeak, leaked, temporary }): Holder => {
    const amount = (blocks: number): Amount => ({ blocks, bytes: size * BigInt(blocks) })
    return {
      names: [grouped(size)],
      allocated: amount(count),
      atPeak: amount(atPeak),
      leaked: amount(leaked),
      temporary: { heaptrack: amount(temporary.heaptrack), memray: amount(temporary.memray) },
    }
  })
  return others === undefined ? rows : [...rows, { ...others, names: ['(others)'] }]
}

function sharesOf({ allocated, atPeak, leaked, temporary }: Shares): Shares {
  return { allocated, atPeak, leaked, temporary }
}
