import type { Overhead, SiteStatistics, Statistics } from '../../transforms/statistics/result.js'
import { descending } from '../../transforms/statistics/site-table.js'
import { noShares } from '../../transforms/statistics/amounts.js'
import { actingThreads, sharesByProcess } from '../../transforms/statistics/thread-table.js'
import { TEMPORARY_DEFINITIONS, type TemporaryDefinition } from '../../transforms/option-values.js'
import type { SITE_ORDERS } from '../defaults.js'
import { grouped, share, tableLines, visible } from './columns.js'
import { hasSites } from './holders.js'
import { UNKNOWN_FIGURE } from './identity.js'
import { labelledSites, threadColumns, type SiteNames } from './names.js'
import { topOf } from './top-of.js'

/** The header of a column with one definition of temporary allocations. */
const temporaryHead = (by: TemporaryDefinition) => `temporary (${by})`

/** The sort key of a table of sites. */
export type SiteOrder = (typeof SITE_ORDERS)[number]

/** The definition of temporary allocations by which sites are sorted, if they are sorted by these. */
export function definitionOf(order: SiteOrder): TemporaryDefinition | undefined {
  return TEMPORARY_DEFINITIONS.find((by) => by === order)
}

/** 0 of a function that only calls others. */
const mean = ({ allocated: { blocks, bytes } }: SiteStatistics) => bytes / BigInt(Math.max(1, blocks))

/** A figure to sort sites by, and its name in the title. */
const ORDERS: Readonly<Record<SiteOrder, readonly [string, (site: SiteStatistics) => bigint]>> = {
  bytes: ['bytes allocated', ({ allocated }) => allocated.bytes],
  blocks: ['allocations', ({ allocated }) => BigInt(allocated.blocks)],
  mean: ['mean size', mean],
  peak: ['bytes live at the peak', ({ atPeak }) => atPeak.bytes],
  'own-peak': ['most bytes live', ({ ownPeak }) => ownPeak.bytes],
  leaked: ['bytes leaked', ({ leaked }) => leaked.bytes],
  memray: ['temporary allocations (memray)', ({ temporary }) => BigInt(temporary.memray.blocks)],
  heaptrack: ['temporary allocations (heaptrack)', ({ temporary }) => BigInt(temporary.heaptrack.blocks)],
  wasted: ['bytes wasted', ({ overhead }) => overhead?.wasted ?? 0n],
}

/** The `top` sites with the most of some figure, the largest first; equal ones keep their order. */
export function sortedSites(sites: readonly SiteStatistics[], order: SiteOrder, top = Infinity): SiteStatistics[] {
  const [, figure] = ORDERS[order]
  return topOf(sites, (a, b) => descending(figure(a), figure(b)), top)
}

/** All figures of sites. */
export function siteTable(
  { sites, allocated, identified }: Statistics,
  top: number,
  order: SiteOrder,
  names: SiteNames,
  temporaryBy: TemporaryDefinition,
): string[] {
  const { by = 'site' } = names
  if (top === 0 || by === 'thread' || !hasSites(sites)) return []
  const shown = sortedSites(sites, order, top)
  const isGrouped = by !== 'site'
  const table = {
    title: `Top ${by}s by ${ORDERS[order][0]} (${grouped(sites.length)} in all)`,
    heads: [
      'bytes',
      'share',
      ...(isGrouped ? ['inclusive'] : []),
      'allocations',
      'mean',
      'own peak',
      'at peak',
      'leaked',
      temporaryHead(temporaryBy),
    ],
    rows: shown.map((site) => [
      grouped(site.allocated.bytes),
      share(site.allocated.bytes, allocated.bytes),
      ...(isGrouped ? [grouped((site.inclusive ?? site).allocated.bytes)] : []),
      grouped(site.allocated.blocks),
      grouped(mean(site)),
      grouped(site.ownPeak.bytes),
      grouped(site.atPeak.bytes),
      grouped(site.leaked.bytes),
      identified ? grouped(site.temporary[temporaryBy].blocks) : UNKNOWN_FIGURE,
    ]),
  }
  return labelledSites(table, shown, names)
}

/** Bytes that allocations took beyond those requested, by site. */
export function overheadTable({ sites }: Statistics, top: number, names: SiteNames): string[] {
  const { by = 'site' } = names
  if (by === 'thread') return []
  const some = sites.filter((site): site is SiteStatistics & { overhead: Overhead } => site.overhead !== undefined)
  if (some.length === 0 || top === 0) return []
  const hasCpus = some[0]?.crossCpuFrees !== undefined
  const shown = topOf(some, (a, b) => descending(a.overhead.wasted, b.overhead.wasted), top)
  const table = {
    title: `Top ${by}s by bytes wasted (${grouped(some.length)} in all)`,
    heads: ['requested', 'allocated', 'wasted', 'share', 'hits', ...(hasCpus ? ['cross-CPU'] : [])],
    rows: shown.map(({ overhead, crossCpuFrees = 0 }) => [
      grouped(overhead.requested),
      grouped(overhead.allocated),
      grouped(overhead.wasted),
      share(overhead.wasted, overhead.allocated),
      grouped(overhead.hits),
      ...(hasCpus ? [grouped(crossCpuFrees)] : []),
    ]),
  }
  return labelledSites(table, shown, names)
}

/** The most frequent sizes. */
export function sizeTable(
  { sizes, allocated, identified }: Statistics,
  top: number,
  temporaryBy: TemporaryDefinition,
  columns: number,
): string[] {
  const shown = sizes.exact.slice(0, top)
  if (shown.length === 0) return []
  return tableLines(
    {
      title: `Top sizes by allocations (${grouped(sizes.exact.length)} in all)`,
      heads: ['size', 'allocations', 'share', 'bytes', 'share', 'at peak', 'leaked', temporaryHead(temporaryBy)],
      rows: shown.map(({ size, count, atPeak, leaked, temporary }) => {
        const sum = size * BigInt(count)
        return [
          grouped(size),
          grouped(count),
          share(count, allocated.blocks),
          grouped(sum),
          share(sum, allocated.bytes),
          grouped(atPeak),
          grouped(leaked),
          identified ? grouped(temporary[temporaryBy]) : UNKNOWN_FIGURE,
        ]
      }),
    },
    columns,
  )
}

/** The activity of threads, and the fate of the blocks that they allocated. */
export function threadTable(
  { threads, events, identified }: Statistics,
  top: number,
  temporaryBy: TemporaryDefinition,
  columns: number,
): string[] {
  const all = actingThreads(threads)
  if (all.length === 0 || top === 0) return []
  const [threadHeads, threadCells] = threadColumns(all)
  return tableLines(
    {
      title: `Top threads by events (${grouped(all.length)} in all)`,
      heads: [
        ...threadHeads,
        'events',
        'share',
        'allocations',
        'bytes',
        'at peak',
        'leaked',
        temporaryHead(temporaryBy),
        'frees',
        'cross-thread',
      ],
      rows: all
        .slice(0, top)
        .map((thread) => [
          ...threadCells(thread),
          grouped(thread.events),
          share(thread.events, events),
          grouped(thread.allocated.blocks),
          grouped(thread.allocated.bytes),
          grouped(thread.atPeak.bytes),
          grouped(thread.leaked.bytes),
          identified ? grouped(thread.temporary[temporaryBy].blocks) : UNKNOWN_FIGURE,
          grouped(thread.frees),
          grouped(thread.foreignFrees),
        ]),
    },
    columns,
  )
}

/** The number of events of each CPU. */
export function cpuTable(cpus: Statistics['cpus'], top: number, columns: number): string[] {
  if (cpus.length < 2 || top === 0) return []
  const events = sumOf(cpus)
  const rows = cpus.slice(0, top).map((cpu) => [String(cpu.value), grouped(cpu.events), share(cpu.events, events)])
  return tableLines({ title: 'CPUs', heads: ['cpu', 'events', 'share'], rows }, columns)
}

/** The events of each process, and the fate of the blocks that it allocated. The last row has all other events. */
export function processTable({ processes, threads, events }: Statistics, top: number, columns: number): string[] {
  const others = events - sumOf(processes)
  if (processes.length + (others > 0 ? 1 : 0) < 2 || top === 0) return []
  const shares = sharesByProcess(threads)
  const hasCommands = processes.some(({ command }) => command !== undefined)
  const row = (name: string, some: number, key?: bigint, command = '') => {
    const { allocated, atPeak, leaked } = shares?.get(key) ?? noShares()
    const figures = [allocated.blocks, allocated.bytes, atPeak.bytes, leaked.bytes].map(grouped)
    return [
      name,
      grouped(some),
      share(some, events),
      ...(shares ? figures : []),
      ...(hasCommands ? [visible(command)] : []),
    ]
  }
  const rows = processes.slice(0, top).map((one) => row(String(one.value), one.events, one.value, one.command))
  if (others > 0) rows.push(row('(other events)', others))
  const heads = ['process', 'events', 'share', ...(shares ? ['allocations', 'bytes', 'at peak', 'leaked'] : [])]
  return tableLines({ title: 'Processes', heads: [...heads, ...(hasCommands ? [' command'] : [])], rows }, columns)
}

function sumOf(all: Statistics['cpus']): number {
  return all.reduce((sum, { events }) => sum + events, 0)
}
