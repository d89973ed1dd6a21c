import type { SiteStatistics, SiteThread, Statistics, Thread } from '../../transforms/statistics/result.js'
import { descending } from '../../transforms/statistics/site-table.js'
import { bytes, counted, grouped, labelledLines, share, tableOf, visible, wrapped } from './columns.js'
import { blocks, siteLabels, labelledSites, threadColumns, threadName, type SiteNames } from './names.js'
import { topOf } from './top-of.js'

/** The maximum number of pairs of threads that have a line below their site. */
const PAIRS = 4

/** The allocations of each thread at each site; empty if one thread does everything. */
export function siteThreadTable(statistics: Statistics, top: number, names: SiteNames): string[] {
  const { sites, allocated } = statistics
  const rows = sites.flatMap((site) => (site.threads ?? []).map((thread) => ({ site, thread })))
  if (rows.length === 0 || top === 0 || names.by === 'thread') return []
  const shown = topOf(rows, (a, b) => descending(a.thread.allocated.bytes, b.thread.allocated.bytes), top)
  const { by = 'site' } = names
  const title = `Top ${by}s and threads by bytes allocated (${grouped(rows.length)} in all)`
  const threads = shown.map(({ thread }) => thread)
  const table = tableOf(title, threads, [
    ...threadColumns(rows.map(({ thread }) => thread)),
    ['bytes', (thread) => thread.allocated.bytes],
    ['share', (thread) => share(thread.allocated.bytes, allocated.bytes)],
    ['allocations', (thread) => thread.allocated.blocks],
    ['at peak', ({ atPeak }) => atPeak.bytes],
    ['leaked', ({ leaked }) => leaked.bytes],
    ['freed by others', (thread) => handoffsOf([thread]).bytes],
  ])
  const labels = (width: number) => distinct(shown, names, width)
  return labelledLines(table, by, names.columns, labels)
}

/** The sites whose blocks another thread freed, with the threads below. */
export function handoffTable({ sites }: Statistics, top: number, names: SiteNames): string[] {
  const rows = sites
    .map((site) => ({ site, pairs: pairsOf(site), ...handoffsOf(site.threads) }))
    .filter(({ site, blocks: n }) => n > 0 && site.rest !== 'others')
    .toSorted((a, b) => descending(a.bytes, b.bytes) || b.blocks - a.blocks)
  if (rows.length === 0 || top === 0 || names.by === 'thread') return []
  const shown = rows.slice(0, top)
  const { by = 'site' } = names
  const table = tableOf(`Top ${by}s by bytes that another thread freed (${grouped(rows.length)} in all)`, shown, [
    ['bytes', (row) => row.bytes],
    ['blocks', (row) => row.blocks],
    ['of allocations', ({ site, blocks: n }) => share(n, site.allocated.blocks)],
  ])
  const named = shown.map(({ site }) => site)
  return labelledSites(table, named, names, (row, width) =>
    pairLines(shown[row]?.pairs ?? []).flatMap((line) => wrapped(line, width)),
  )
}

/** Blocks of a site that one thread allocated and another one freed. */
export interface ThreadPair {
  readonly from: SiteThread
  readonly to: Thread
  readonly blocks: number
  readonly bytes: bigint
}

/** The pairs of threads between which blocks of a site went, the most bytes first. */
export function pairsOf({ threads = [] }: SiteStatistics): ThreadPair[] {
  return threads
    .flatMap((from) =>
      (from.freedBy ?? []).map(({ blocks: n, bytes: sum, ...to }) => ({ from, to, blocks: n, bytes: sum })),
    )
    .toSorted((a, b) => descending(a.bytes, b.bytes) || b.blocks - a.blocks)
}

function pairLines(pairs: readonly ThreadPair[]): string[] {
  const lines = pairs
    .slice(0, PAIRS)
    .map(
      ({ from, to, ...sum }) => `${threadText(from)} to ${threadText(to)}: ${blocks(sum.blocks)}, ${bytes(sum.bytes)}`,
    )
  const rest = pairs.slice(PAIRS)
  if (rest.length === 0) return lines
  const n = rest.reduce((sum, pair) => sum + pair.blocks, 0)
  const size = rest.reduce((sum, pair) => sum + pair.bytes, 0n)
  return [...lines, `${counted(rest.length, 'more pair')} of threads: ${blocks(n)}, ${bytes(size)}`]
}

/** `thread 7`, `process 3, thread 7 (worker)` */
function threadText(thread: Thread): string {
  const process = thread.process === undefined ? '' : `process ${thread.process}, `
  const name = thread.name === undefined ? '' : ` (${visible(thread.name)})`
  return `${process}thread ${threadName(thread)}${name}`
}

/** The blocks of some threads that other threads freed. */
export function handoffsOf(threads: readonly SiteThread[] = []): { blocks: number; bytes: bigint } {
  const all = threads.flatMap(({ freedBy = [] }) => freedBy)
  return { blocks: all.reduce((sum, one) => sum + one.blocks, 0), bytes: all.reduce((sum, one) => sum + one.bytes, 0n) }
}

/** The labels of rows, where the same site may have several. */
function distinct(rows: readonly { site: SiteStatistics }[], names: SiteNames, width: number): string[] {
  const sites = [...new Set(rows.map(({ site }) => site))]
  const labels = siteLabels(sites, names, width)
  const labelOf = new Map(sites.map((site, i) => [site, labels[i]]))
  return rows.map(({ site }) => labelOf.get(site) as string)
}
