import type { Overhead, SiteStatistics, SizeStatistics, Statistics } from '../../transforms/statistics/result.js'
import { descending } from '../../transforms/statistics/site-table.js'
import { noShares } from '../../transforms/statistics/amounts.js'
import { actingThreads, sharesByProcess } from '../../transforms/statistics/thread-table.js'
import { TEMPORARY_DEFINITIONS, type TemporaryDefinition } from '../../transforms/option-values.js'
import type { SITE_ORDERS } from '../defaults.js'
import { grouped, share, tableLines, tableOf, visible, type Column } from './columns.js'
import { hasSites, NO_PROCESS } from './holders.js'
import { UNKNOWN_FIGURE } from './identity.js'
import { labelledSites, threadColumns, type SiteNames } from './names.js'
import { topOf } from './top-of.js'

/** The column with one definition of temporary allocations. @param identified whether their number is known */
function temporaryColumn<Row>(by: TemporaryDefinition, identified: boolean, of: (row: Row) => number): Column<Row> {
  return [`temporary (${by})`, (row) => (identified ? of(row) : UNKNOWN_FIGURE)]
}

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
  const title = `Top ${by}s by ${ORDERS[order][0]} (${grouped(sites.length)} in all)`
  const table = tableOf(title, shown, [
    ['bytes', (site) => site.allocated.bytes],
    ['share', (site) => share(site.allocated.bytes, allocated.bytes)],
    isGrouped && ['inclusive', (site) => (site.inclusive ?? site).allocated.bytes],
    ['allocations', (site) => site.allocated.blocks],
    ['mean', mean],
    ['own peak', ({ ownPeak }) => ownPeak.bytes],
    ['at peak', ({ atPeak }) => atPeak.bytes],
    ['leaked', ({ leaked }) => leaked.bytes],
    temporaryColumn(temporaryBy, identified, ({ temporary }) => temporary[temporaryBy].blocks),
  ])
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
  const table = tableOf(`Top ${by}s by bytes wasted (${grouped(some.length)} in all)`, shown, [
    ['requested', ({ overhead }) => overhead.requested],
    ['allocated', ({ overhead }) => overhead.allocated],
    ['wasted', ({ overhead }) => overhead.wasted],
    ['share', ({ overhead }) => share(overhead.wasted, overhead.allocated)],
    ['hits', ({ overhead }) => overhead.hits],
    hasCpus && ['cross-CPU', ({ crossCpuFrees = 0 }) => crossCpuFrees],
  ])
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
  const sum = ({ size, count }: SizeStatistics) => size * BigInt(count)
  const table = tableOf(`Top sizes by allocations (${grouped(sizes.exact.length)} in all)`, shown, [
    ['size', ({ size }) => size],
    ['allocations', ({ count }) => count],
    ['share', ({ count }) => share(count, allocated.blocks)],
    ['bytes', sum],
    ['share', (row) => share(sum(row), allocated.bytes)],
    ['at peak', ({ atPeak }) => atPeak],
    ['leaked', ({ leaked }) => leaked],
    temporaryColumn(temporaryBy, identified, ({ temporary }) => temporary[temporaryBy]),
  ])
  return tableLines(table, columns)
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
  const table = tableOf(`Top threads by events (${grouped(all.length)} in all)`, all.slice(0, top), [
    ...threadColumns(all),
    ['events', (thread) => thread.events],
    ['share', (thread) => share(thread.events, events)],
    ['allocations', ({ allocated }) => allocated.blocks],
    ['bytes', ({ allocated }) => allocated.bytes],
    ['at peak', ({ atPeak }) => atPeak.bytes],
    ['leaked', ({ leaked }) => leaked.bytes],
    temporaryColumn(temporaryBy, identified, ({ temporary }) => temporary[temporaryBy].blocks),
    ['frees', ({ frees }) => frees],
    ['cross-thread', ({ foreignFrees }) => foreignFrees],
  ])
  return tableLines(table, columns)
}

/** The number of events of each CPU. */
export function cpuTable(cpus: Statistics['cpus'], top: number, columns: number): string[] {
  if (cpus.length < 2 || top === 0) return []
  const events = sumOf(cpus)
  const table = tableOf('CPUs', cpus.slice(0, top), [
    ['cpu', ({ value }) => String(value)],
    ['events', (cpu) => cpu.events],
    ['share', (cpu) => share(cpu.events, events)],
  ])
  return tableLines(table, columns)
}

/** The events of each process, and the fate of the blocks that it allocated. The last row has those without one. */
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
  if (others > 0) rows.push(row(NO_PROCESS, others))
  const heads = ['process', 'events', 'share', ...(shares ? ['allocations', 'bytes', 'at peak', 'leaked'] : [])]
  return tableLines({ title: 'Processes', heads: [...heads, ...(hasCommands ? [' command'] : [])], rows }, columns)
}

function sumOf(all: Statistics['cpus']): number {
  return all.reduce((sum, { events }) => sum + events, 0)
}
