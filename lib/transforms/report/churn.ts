import * as Layout from '../../kernel/layouts/report.js'
import type { Statistics } from '../statistics/result.js'
import type { ReportKernel } from './kernel.js'
import { integer } from './plain.js'
import type { HeatCells, ReportBars, ReportChurn } from './result.js'

/** The number of listed sizes. */
export const MOST_SIZES = 200
const CELLS = Layout.HEAT_SIDE * Layout.HEAT_SIDE
/** In keys of the cells of sites, the cell is below this value. */
const SITE = 2 ** Layout.CELL_BITS
/** Up to this number, each number of times has its own bar. */
const EXACT = 16

/** The counts of the heat map's cells. */
export function heatOf(kernel: ReportKernel): Float64Array {
  const at = kernel.run.HEAT.value
  const counts = new Float64Array(CELLS)
  for (let cell = 0; cell < CELLS; cell++) counts[cell] = kernel.number(at + 8 * cell)
  return counts
}

/** The cells with a count other than zero, and the counts. */
export function cellsOf(counts: Float64Array): HeatCells {
  const cells: HeatCells = []
  counts.forEach((count, cell) => {
    if (count > 0) cells.push(cell, count)
  })
  return cells
}

/**
 * The heat maps of the rows of a report; the last one is for all sites without a row.
 * @param rows the number of rows.
 * @param rowOf the row of a site, or -1
 */
export function siteHeat(kernel: ReportKernel, rows: number, rowOf: (site: number) => number): HeatCells[] {
  const all = Array.from({ length: rows }, () => new Map<number, number>())
  const rest = heatOf(kernel)
  for (const { key, blocks } of kernel.pairs(kernel.run.SITE_HEAT.value)) {
    const row = rowOf(Math.floor(key / SITE))
    const cell = key % SITE
    if (row < 0) continue
    all[row]?.set(cell, blocks)
    rest[cell] = rest[cell] - blocks
  }
  // The order in the kernel's table is random.
  return [...all.map((cells) => [...cells].toSorted(([a], [b]) => a - b).flat()), cellsOf(rest)]
}

/** @param sizeCount the number of distinguished sizes */
export function churnOf(kernel: ReportKernel, { sizes, allocated }: Statistics, sizeCount: number): ReportChurn {
  const listed = sizes.exact.slice(0, MOST_SIZES)
  const { run } = kernel
  const at = run.RESIZES.value
  const count = listed.reduce((left, one) => left - one.count, allocated.blocks)
  const bytes = listed.reduce((left, { size, count: blocks }) => left - size * BigInt(blocks), allocated.bytes)
  return {
    heat: cellsOf(heatOf(kernel)),
    sizes: {
      size: listed.map(({ size }) => integer(size)),
      count: listed.map((one) => one.count),
      peakBlocks: listed.map(({ atPeak }) => atPeak),
      endBlocks: listed.map(({ leaked }) => leaked),
      temporaryBlocks: listed.map(({ temporary }) => temporary.heaptrack),
      ...(count > 0 && { others: { sizes: sizeCount - listed.length, count, bytes: integer(bytes) } }),
    },
    chains: chainBars(kernel.integers(run.CHAINS.value, Layout.LONGEST + 1)),
    grown: kernel.number(at + Layout.ALL_GROWN),
    shrunk: kernel.number(at + Layout.ALL_SHRUNK),
    same: kernel.number(at + Layout.ALL_SAME),
    moved: kernel.number(at + Layout.ALL_MOVED),
    grownBytes: integer(kernel.sum(at + Layout.GROWN_BYTES)),
    shrunkBytes: integer(kernel.sum(at + Layout.SHRUNK_BYTES)),
  }
}

/** The first bars stand for one number each; each later bar covers twice as many numbers as the one before. */
function chainBars(counts: BigUint64Array): ReportBars {
  const bars: ReportBars = { from: [], to: [], count: [] }
  for (let from = 1; from <= Layout.LONGEST;) {
    const to = from <= EXACT ? from : Math.min(2 * from - 2, Layout.LONGEST - 1)
    const isLast = from === Layout.LONGEST
    const count = counts.subarray(from, isLast ? undefined : to + 1).reduce((sum, n) => sum + n, 0n)
    if (count > 0n) {
      bars.from.push(from)
      bars.to.push(isLast ? null : to)
      bars.count.push(Number(count))
    }
    from = isLast ? from + 1 : to + 1
  }
  return bars
}
