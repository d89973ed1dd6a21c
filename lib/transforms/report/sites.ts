import type { Statistics } from '../statistics/result.js'
import { hasLifetimes } from '../statistics/times.js'
import type { SiteFigures } from '../statistics/site-table.js'
import { siteHeat } from './churn.js'
import type { ReportKernel } from './kernel.js'
import type { Level } from './levels.js'
import { integer, type Calendar } from './plain.js'
import type { Moments, ReportPeakSites, ReportSites, StackFrames } from './result.js'
import { largest, type Samples, type SiteExtra } from './samples.js'

/** The number of moments with live bytes of a site. */
const MOST_SPARKS = 32
/** The number of sites with live bytes over time. */
const PEAK_SITES = 10

/** The rows of sites in a report, with their samples and their rows in the table of sites. */
export class SiteRows {
  /** The samples with their own row, in order of rows. */
  readonly chosen: readonly number[]
  readonly hasOthers: boolean
  private readonly byRow = new Map<number, number>()

  /** @param limit the maximum number of rows */
  constructor(
    readonly samples: Samples,
    limit: number,
  ) {
    const { allocatedBytes, allocatedBlocks } = samples.ranked
    const size = samples.rows.length
    const top = samples.top(size <= limit ? limit : limit - 1)
    this.chosen = top.toSorted(
      (a, b) => allocatedBytes[b] - allocatedBytes[a] || allocatedBlocks[b] - allocatedBlocks[a] || a - b,
    )
    this.hasOthers = top.length < size
    this.chosen.forEach((sample, row) => this.byRow.set(samples.rows[sample], row))
  }

  /** The row of the report for a row of the table of sites, or -1. */
  of(row: number): number {
    return this.byRow.get(row) ?? -1
  }

  /** The rows with the largest values of a figure, without zeros. */
  most(values: Float64Array): number[] {
    const own = Float64Array.from(this.chosen, (sample) => values[sample])
    return largest(own, own.length)
  }

  extra(row: number): SiteExtra {
    return this.samples.extra(this.samples.rows[this.chosen[row]])
  }
}

/** All data for the rows of a report. */
export interface SiteSources {
  readonly statistics: Statistics
  readonly kernel: ReportKernel
  readonly rows: SiteRows
  readonly levels: readonly Level[]
  readonly calendar: Calendar
}

/** @param nodeOf maps a sample's node to the tree of the report @param stackOf its stack */
export function sitesOf(
  { statistics, kernel, rows, levels, calendar }: SiteSources,
  nodeOf: (node: number) => number,
  stackOf: (node: number) => StackFrames,
): ReportSites {
  const { samples, chosen, hasOthers } = rows
  const figures = chosen.map((sample) => samples.figures(sample))
  const nodes = chosen.map((sample) => samples.nodes[sample])
  const { allocated, peakBytes, leaked, temporary, overhead } = statistics
  const withRest = (column: number[], total: number) => (hasOthers ? [...column, total - sum(column)] : column)
  const sums = (of: (figures: SiteFigures) => bigint, total: bigint) => {
    const column = figures.map(of)
    return hasOthers ? [...column, column.reduce((rest, value) => rest - value, total)] : column
  }
  const counts = (of: (figures: SiteFigures) => number, total: number) => withRest(figures.map(of), total)
  const bytes = (...of: Parameters<typeof sums>) => sums(...of).map(integer)
  const { whole } = samples
  const extra = chosen.map((_, row) => rows.extra(row))
  const extras = (of: (extra: SiteExtra) => number, total: number) => withRest(extra.map(of), total)
  const blocks = counts((one) => one.allocated.blocks, allocated.blocks)
  const means = (...of: Parameters<typeof sums>) => sums(...of).map((lived, row) => round(Number(lived) / blocks[row]))
  const { moments, spark } = sparksOf(rows, levels, calendar)
  return {
    node: [...nodes.map(nodeOf), ...(hasOthers ? [0] : [])],
    stack: [...nodes.map(stackOf), ...(hasOthers ? [[]] : [])],
    allocatedBlocks: blocks,
    allocatedBytes: bytes((one) => one.allocated.bytes, allocated.bytes),
    peakBlocks: counts((one) => one.atPeak.blocks, peakBytes.blocks),
    peakBytes: bytes((one) => one.atPeak.bytes, peakBytes.bytes),
    endBlocks: counts((one) => one.leaked.blocks, leaked.blocks),
    endBytes: bytes((one) => one.leaked.bytes, leaked.bytes),
    ...suppressedOf(rows, statistics),
    ownPeakBlocks: [...figures.map((one) => one.ownPeak.blocks), ...(hasOthers ? [0] : [])],
    ownPeakBytes: [...figures.map((one) => integer(one.ownPeak.bytes)), ...(hasOthers ? [0] : [])],
    temporaryBlocks: counts((one) => one.temporary.heaptrack.blocks, temporary.heaptrack.blocks),
    temporaryBytes: bytes((one) => one.temporary.heaptrack.bytes, temporary.heaptrack.bytes),
    memrayBlocks: counts((one) => one.temporary.memray.blocks, temporary.memray.blocks),
    memrayBytes: bytes((one) => one.temporary.memray.bytes, temporary.memray.bytes),
    foreignFrees: counts((one) => one.foreignFrees, whole.foreignFrees),
    meanEvents: means((one) => one.lived.events, whole.events),
    ...(hasLifetimes(statistics) && { meanTime: means((one) => one.lived.time ?? 0n, whole.time) }),
    ...(overhead && { wastedBytes: bytes((one) => one.overhead?.wasted ?? 0n, overhead.wasted) }),
    reallocs: extras(({ reallocs }) => reallocs, whole.reallocs),
    grown: extras(({ grown }) => grown, whole.grown),
    shrunk: extras(({ shrunk }) => shrunk, whole.shrunk),
    moved: extras(({ moved }) => moved, whole.moved),
    spark,
    sparkMoments: moments,
    heatCells: siteHeat(kernel, chosen.length, (row) => rows.of(row)).slice(0, chosen.length + (hasOthers ? 1 : 0)),
  }
}

/** The leaks of each site that rules exclude. */
function suppressedOf(
  { samples, chosen, hasOthers }: SiteRows,
  { suppressed }: Statistics,
): Pick<ReportSites, 'suppressedBlocks' | 'suppressedBytes'> {
  if (suppressed === undefined) return {}
  const own = chosen.map((sample) => samples.suppressed(sample))
  if (hasOthers)
    own.push({
      blocks: own.reduce((rest, { blocks }) => rest - blocks, suppressed.blocks),
      bytes: own.reduce((rest, { bytes }) => rest - bytes, suppressed.bytes),
    })
  return { suppressedBlocks: own.map(({ blocks }) => blocks), suppressedBytes: own.map(({ bytes }) => integer(bytes)) }
}

/** To three digits. */
function round(mean: number): number {
  return Number.isFinite(mean) ? Number(mean.toPrecision(3)) : 0
}

function sparksOf(
  rows: SiteRows,
  levels: readonly Level[],
  calendar: Calendar,
): { moments: Moments; spark: number[][] } {
  const step = Math.ceil(levels.length / MOST_SPARKS)
  const shown = levels.filter((_, i) => (levels.length - 1 - i) % step === 0)
  const { samples, chosen, hasOthers } = rows
  const spark = chosen.map((sample) => {
    const row = samples.rows[sample]
    return shown.map(({ bytes }) => bytes[row] ?? 0)
  })
  if (hasOthers) {
    const sums = shown.map((_, i) => spark.reduce((sum, own) => sum + own[i], 0))
    spark.push(shown.map(({ event }, i) => restAt(calendar, event, sums[i])))
  }
  return { moments: calendar.moments(shown.map(({ event }) => event)), spark }
}

/** The live bytes at a moment minus a sum, which is rounded. */
function restAt(calendar: Calendar, event: number, sum: number): number {
  return Math.max(0, Math.fround(Number(calendar.at(event)?.liveBytes ?? 0n) - sum))
}

/** The sites with the most live bytes at the peak: live bytes at all moments, and at the peak. */
export function peakSitesOf({ statistics, rows, levels, calendar }: SiteSources): ReportPeakSites {
  const { samples, chosen } = rows
  const site = rows.most(samples.ranked.peakBytes).slice(0, PEAK_SITES)
  const { event: peak, time, bytes: all } = statistics.peakBytes
  const points = levels.map(({ event, bytes }) => {
    const own = site.map((row) => bytes[samples.rows[chosen[row]]] ?? 0)
    return { event, time: calendar.at(event)?.time, own, rest: restAt(calendar, event, sum(own)) }
  })
  if (peak > 0 && !points.some(({ event }) => event === peak)) {
    const own = site.map((row) => Number(samples.figures(chosen[row]).atPeak.bytes))
    points.push({ event: peak, time, own, rest: Math.max(0, Number(all) - sum(own)) })
    points.sort((a, b) => a.event - b.event)
  }
  return {
    ...calendar.moments(
      points.map(({ event }) => event),
      points.map((point) => point.time),
    ),
    site,
    bytes: site.map((_, i) => points.map(({ own }) => own[i])),
    rest: points.map(({ rest }) => rest),
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
