import type { Shares, SiteStatistics, Statistics } from '../../transforms/statistics/result.js'
import { noShares } from '../../transforms/statistics/amounts.js'
import { sizeShares } from './holders.js'
import { handoffsOf } from './site-threads.js'
import type { SectionName } from './text.js'
import { topOf } from './top-of.js'

/** What rows are compared by: a figure, and a second one where that is equal. */
type Rank = readonly [bigint, number]
type Row = Shares & Pick<SiteStatistics, 'threads'>

/** What the rows of a section are ordered by, as in its table in text. */
const RANKS: Partial<Record<SectionName, (row: Row) => Rank>> = {
  peak: ({ atPeak }) => [atPeak.bytes, atPeak.blocks],
  leaks: ({ leaked }) => [leaked.bytes, leaked.blocks],
  temporary: ({ temporary: { heaptrack, memray } }) => [BigInt(heaptrack.blocks), memray.blocks],
  handoffs: ({ threads }) => {
    const { bytes, blocks } = handoffsOf(threads)
    return [bytes, blocks]
  },
}

/** The statistics with the `top` sites, sizes, threads and processes in the order of the first section that has one. */
export function sectionRows(statistics: Statistics, sections: readonly SectionName[], top = Infinity): Statistics {
  const { sizes, sites, threads, processes } = statistics
  const rank = sections.map((name) => RANKS[name]).find((one) => one !== undefined)
  const first = <T>(rows: readonly T[], row: (one: T) => Row): T[] => {
    if (rank === undefined) return rows.slice(0, top)
    const ranked = rows.map((one) => ({ one, rank: rank(row(one)) }))
    return topOf(ranked, (a, b) => descending(a.rank, b.rank), top).map(({ one }) => one)
  }
  return {
    ...statistics,
    sizes: { ...sizes, exact: first(sizes.exact, sizeShares) },
    sites: first(sites, (site) => site),
    threads: first(threads, (thread) => thread),
    processes: first(processes, (process) => ({ ...noShares(), ...process })),
  }
}

function descending([a, second]: Rank, [b, other]: Rank): number {
  return a < b ? 1 : a > b ? -1 : other - second
}
