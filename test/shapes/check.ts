import { expect } from 'vitest'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import type {
  ProcessStatistics,
  Shares,
  SiteStatistics,
  Statistics,
  Thread,
  ThreadStatistics,
} from '../../lib/transforms/statistics/result.js'
import { eventsOf } from './generate.js'
import { Oracle } from './oracle.js'
import type { Row, Rows, ThreadRow } from './oracle-rows.js'
import type { Shape } from './shape.js'

const sharesOf = ({ allocated, atPeak, leaked, temporary }: Shares | Row) => ({ allocated, atPeak, leaked, temporary })

const sorted = <Value>(entries: Iterable<readonly [string, Value]>): [string, Value][] =>
  [...entries].map(([name, value]): [string, Value] => [name, value]).toSorted(([a], [b]) => (a < b ? -1 : 1))

const entriesOf = (counts: object) => sorted(Object.entries(counts) as [string, number][])
const some = (counts: object) => entriesOf(counts).filter(([, count]) => count > 0)
const valuesOf = (counts: Statistics['cpus']) =>
  sorted(counts.map(({ value, events }) => [String(value), events] as const))

function siteOf(site: SiteStatistics) {
  const { ownPeak, foreignFrees, crossCpuFrees = 0, lived, overhead } = site
  return {
    ...sharesOf(site),
    ownPeak,
    foreignFrees,
    crossCpuFrees,
    lived: { events: lived.events, time: lived.time ?? 0n },
    overhead: overhead && { hits: overhead.hits, requested: overhead.requested, allocated: overhead.allocated },
  }
}

const siteName = ({ rest, stack, callSite }: SiteStatistics) => rest ?? stack?.join('\n') ?? String(callSite)
const actorName = ({ rest, process, thread }: Thread) => rest ?? `${String(process)} ${String(thread)}`
const siteThreadsOf = ({ sites }: Statistics) =>
  sites.flatMap((site) =>
    (site.threads ?? []).map((row) => [`${siteName(site)}\n${actorName(row)}`, sharesOf(row)] as const),
  )
const handoffsOf = ({ sites }: Statistics) =>
  sites.flatMap((site) =>
    (site.threads ?? []).flatMap((from) =>
      (from.freedBy ?? []).map(({ blocks, bytes, ...to }) => {
        return [`${siteName(site)}\n${actorName(from)} to ${actorName(to)}`, { blocks, bytes }] as const
      }),
    ),
  )
const threadRow = (row: ThreadStatistics) => {
  const { events, frees, foreignFrees } = row
  return { ...sharesOf(row), events, frees, foreignFrees }
}
const processRow = ({ events, allocated, atPeak, leaked, temporary }: ProcessStatistics) => ({
  events,
  ...(allocated && { allocated, atPeak, leaked, temporary }),
})

/** The figures of statistics, in the form of the oracle's. */
function figuresOf(statistics: Statistics) {
  const { kinds, apis, reallocs, faults, sizes, lifetimes, mpatrol, peakBytes, peakBlocks, time, resident } = statistics
  const { overlaps, ...otherFaults } = faults
  const { residentSet } = statistics
  return {
    ...statistics,
    kinds: some(kinds),
    apis: some(apis),
    reallocs: some(reallocs),
    faults: some(otherFaults),
    overlaps,
    peakBytes: { time: undefined, ...peakBytes },
    peakBlocks: { time: undefined, ...peakBlocks },
    sizes: sizes.histogram,
    exactSizes: sorted(
      sizes.exact.map(
        ({ size, count, atPeak, leaked, temporary }) => [String(size), { count, atPeak, leaked, temporary }] as const,
      ),
    ),
    otherSizes: sizes.others,
    lifetimes: { ...lifetimes, time: lifetimes.time ?? { count: 0, sum: 0n, mean: 0, bars: [] } },
    time: time && { first: time.first, last: time.last, span: time.span },
    sites: sorted(
      statistics.sites.filter(({ allocated }) => allocated.blocks > 0).map((site) => [siteName(site), siteOf(site)]),
    ),
    threads: sorted(statistics.threads.map((row) => [actorName(row), threadRow(row)])),
    siteThreads: sorted(siteThreadsOf(statistics)),
    handoffs: sorted(handoffsOf(statistics)),
    processes: sorted(statistics.processes.map((row) => [String(row.value), processRow(row)])),
    cpus: valuesOf(statistics.cpus),
    crossCpuFrees: statistics.crossCpuFrees ?? 0,
    mismatches: sorted(
      statistics.mismatches.map(({ allocatedBy, freedBy, count }) => [`${allocatedBy} ${freedBy}`, count] as const),
    ),
    resident: resident ?? { blocks: 0, present: 0n, size: 0n },
    residentSet: residentSet && {
      events: residentSet.events,
      most: { time: undefined, ...residentSet.most },
      last: { time: undefined, ...residentSet.last },
      atPeak: residentSet.atPeak && { time: undefined, ...residentSet.atPeak },
    },
    reserved: mpatrol.reserved,
    internal: mpatrol.internal,
  }
}

/** The oracle's figures, with its rows in order. */
function expectedOf(oracle: Oracle) {
  const found = oracle.finish()
  const { kinds, apis, reallocs, faults, exactSizes, sites, threads, processes, cpus, mismatches } = found
  const { siteThreads, handoffs } = found
  const sizeRow = ({ allocated, atPeak, leaked, temporary }: Row) => ({
    count: allocated.blocks,
    atPeak: atPeak.blocks,
    leaked: leaked.blocks,
    temporary: { heaptrack: temporary.heaptrack.blocks, memray: temporary.memray.blocks },
  })
  const siteRow = (row: Row) => {
    const { ownPeak, foreignFrees, crossCpuFrees, lived, livedTime, overhead } = row
    return {
      ...sharesOf(row),
      ownPeak,
      foreignFrees,
      crossCpuFrees,
      lived: { events: lived, time: livedTime },
      overhead: overhead.hits > 0 ? overhead : undefined,
    }
  }
  const threadRow = (row: ThreadRow) => {
    const { events, frees, freedOfOthers } = row
    return { ...sharesOf(row), events, frees, foreignFrees: freedOfOthers }
  }
  const others = exactSizes.get('others')
  const rowsOf = <R extends Row, Result>(rows: Rows<R>, of: (row: R) => Result) =>
    sorted([...rows].map(([name, row]) => [name, of(row)] as const))
  return {
    ...found,
    kinds: sorted(kinds),
    apis: sorted(apis),
    reallocs: sorted(reallocs),
    faults: sorted(faults),
    exactSizes: rowsOf(exactSizes, sizeRow).filter(([name]) => name !== 'others'),
    otherSizes: others && sharesOf(others),
    sites: rowsOf(sites, siteRow),
    threads: rowsOf(threads, threadRow),
    siteThreads: rowsOf(siteThreads, sharesOf).filter(([name]) => name !== 'others'),
    // Those of a site and a thread without a row are not listed.
    handoffs: rowsOf(handoffs, ({ allocated }) => allocated).filter(([name]) =>
      siteThreads.has(name.replace(/ to [^\n]*$/, '')),
    ),
    processes: rowsOf(processes, (row) => ({
      events: row.events,
      ...(!threads.has('others') && sharesOf(row)),
    })).filter(([name]) => name !== 'none'),
    cpus: sorted(cpus),
    mismatches: sorted(mismatches),
  }
}

/** Expects the oracle's figures of the statistics of a shape. */
export function checkStatistics(shape: Shape): void {
  const collector = new StatisticsCollector()
  for (const batch of eventsOf(shape)) collector.add(batch)
  const statistics = collector.finish()
  const oracle = new Oracle(statistics.peakBytes.event, statistics.timeline[0]?.event ?? 1)
  for (const batch of eventsOf(shape)) oracle.add(batch)
  const name = JSON.stringify(shape, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))
  const expected = expectedOf(oracle)
  const figures: Record<string, unknown> = figuresOf(statistics)
  // All that plain code has: the rest is about formats and damage.
  const found = Object.fromEntries(Object.keys(expected).map((key) => [key, figures[key]]))
  expect(found, name).toEqual(expected)
}
