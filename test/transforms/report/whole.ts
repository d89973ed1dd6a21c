import { expect } from 'vitest'
import { HEAT_SIDE, type Integer, type ReportData } from '../../../lib/transforms/report/result.js'

/** The sum of integers. */
export const sum = (values: readonly (Integer | null)[]) =>
  values.reduce<bigint>((all, value) => all + BigInt(value ?? 0), 0n)
/** The pairs of cells and counts of a heat map. */
export const pairs = (cells: readonly number[]) =>
  Array.from({ length: cells.length / 2 }, (_, i) => [cells[2 * i]!, cells[2 * i + 1]!] as const)
/** Checks that all columns of a table are equally long. */
function expectColumns(table: object, length: number): void {
  for (const [name, column] of Object.entries(table)) {
    if (Array.isArray(column)) expect(column, name).toHaveLength(length)
  }
}

/** Checks that the parts of a report fit each other, and its sums the statistics. */
export function expectWhole(data: ReportData): void {
  const { summary, tree, sites, timeline, threads, churn, generations, frames, problems, peakSites } = data
  expectColumns(timeline, timeline.event.length)
  expectColumns(tree, tree.parents.length)
  const { sparkMoments, ...columns } = sites
  expectColumns(columns, sites.node.length)
  for (const spark of sites.spark) expect(spark).toHaveLength(sparkMoments.event.length)
  const totals = {
    allocatedBytes: summary.allocated.bytes,
    allocatedBlocks: summary.allocated.blocks,
    peakBytes: summary.peakBytes.bytes,
    peakBlocks: summary.peakBytes.blocks,
    endBytes: summary.leaked.bytes,
    endBlocks: summary.leaked.blocks,
    temporaryBlocks: summary.temporary.heaptrack.blocks,
  }
  for (const [name, total] of Object.entries(totals) as [keyof typeof totals, Integer][]) {
    expect(sum(tree[name]), `tree ${name}`).toBe(BigInt(total))
    expect(sum(sites[name]), `sites ${name}`).toBe(BigInt(total))
  }
  expect(sum(sites.temporaryBytes)).toBe(BigInt(summary.temporary.heaptrack.bytes))
  expect(sum(sites.memrayBytes)).toBe(BigInt(summary.temporary.memray.bytes))
  expect(sum(sites.foreignFrees)).toBe(sum(tree.foreignFrees))
  expect(sum(threads.foreignFrees)).toBe(sum(sites.foreignFrees))
  expectSiteThreads(data)
  if (summary.overhead) expect(sum(sites.wastedBytes!)).toBe(BigInt(summary.overhead.wasted))
  for (const [node, parent] of tree.parents.entries()) expect(parent).toBeLessThan(Math.max(node, 0))
  const known = (ids: readonly number[]) => ids.every((id) => id >= -1 && id < frames.length)
  expect(known(tree.frames)).toBe(true)
  expect([...sites.stack, ...problems.stack].every(known)).toBe(true)
  expect(sites.node.every((node) => node >= 0 && node < tree.parents.length)).toBe(true)

  expect(sum(timeline.allocations)).toBe(BigInt(summary.allocated.blocks))
  expect(sum(timeline.allocatedBytes)).toBe(BigInt(summary.allocated.bytes))
  expect(sum(timeline.frees)).toBe(BigInt(summary.freed.blocks))

  expect(sum(generations.allocatedBytes)).toBe(BigInt(summary.allocated.bytes))
  expect(sum(generations.allocatedBlocks)).toBe(BigInt(summary.allocated.blocks))
  expect(sum(generations.endBytes)).toBe(BigInt(summary.leaked.bytes))
  expect(sum(generations.endBlocks)).toBe(BigInt(summary.leaked.blocks))
  expect(generations.event.length).toBeLessThanOrEqual(32)
  generations.sites.site.forEach((site, i) => {
    expect(sum(generations.sites.endBytes[i]!)).toBe(BigInt(sites.endBytes[site]!))
    expect(sum(generations.sites.endBlocks[i]!)).toBe(BigInt(sites.endBlocks[site]!))
  })

  expect(sum(threads.allocatedBytes)).toBe(BigInt(summary.allocated.bytes))
  expect(sum(threads.frees)).toBe(BigInt(summary.freed.blocks))
  const { matrix } = threads
  expect(sum(matrix.blocks)).toBe(BigInt(summary.freed.blocks))
  expect(sum(matrix.bytes)).toBe(BigInt(summary.freed.bytes))
  const foreign = matrix.blocks.filter((_, i) => matrix.from[i] !== matrix.to[i])
  expect(sum(foreign) + BigInt(threads.othersForeign)).toBe(sum(threads.foreignFrees))

  // The sums of the heat map by lifetime are the histogram of lifetimes.
  const bars = new Map<number, number>()
  for (const [cell, n] of pairs(churn.heat)) bars.set(cell % HEAT_SIDE, (bars.get(cell % HEAT_SIDE) ?? 0) + n)
  expect(Object.fromEntries(bars)).toEqual(
    Object.fromEntries(
      summary.lifetimes.events.bars.map(({ to, count }) => [
        Number(to) === 0 ? 0 : BigInt(to).toString(2).length,
        count,
      ]),
    ),
  )
  const cells: Record<string, number> = {}
  for (const [cell, n] of sites.heatCells.flatMap(pairs)) cells[cell] = (cells[cell] ?? 0) + n
  expect(cells).toEqual(Object.fromEntries(pairs(churn.heat)))
  const { grown, shrunk, same, moved } = churn
  const { reallocs } = summary
  expect(grown + shrunk + same).toBe(reallocs.inPlace + reallocs.moved + reallocs.resized)
  expect(moved).toBe(reallocs.moved)
  expect(sum(sites.grown)).toBe(BigInt(grown))
  expect(sum(sites.shrunk)).toBe(BigInt(shrunk))
  expect(sum(sites.moved)).toBe(BigInt(moved))
  expect(sum(sites.reallocs)).toBe(BigInt(grown + shrunk + same))
  expect(sum(churn.sizes.count) + BigInt(churn.sizes.others?.count ?? 0)).toBe(BigInt(summary.allocated.blocks))

  const { faults } = summary
  expect(problems.counts).toMatchObject({
    unknownFree: faults.unknownFrees,
    doubleFree: faults.doubleFrees,
    overlap: faults.overlaps.blocks,
    failedAllocation: faults.failedAllocations + reallocs.failed,
    unknownRealloc: reallocs.unknown,
  })
  expectColumns({ ...problems, counts: undefined }, problems.event.length)
  for (const bytes of [...peakSites.bytes, peakSites.rest]) expect(bytes).toHaveLength(peakSites.event.length)
  const peak = peakSites.event.indexOf(summary.peakBytes.event)
  if (peak >= 0) {
    const live = [...peakSites.bytes, peakSites.rest].reduce((all, bytes) => all + bytes[peak]!, 0)
    const expected = Number(summary.peakBytes.bytes)
    // Figures of 7 digits.
    expect(Math.abs(live - expected)).toBeLessThanOrEqual(expected / 1e5)
  }
  const { addresses } = data
  if (addresses === undefined) return
  const { map, use, pages } = addresses
  for (const row of map.cells) expect(row).toHaveLength(map.event.length)
  expect(map.ranges.reduce((rows, range) => rows + range.rows, 0)).toBe(map.cells.length)
  expectColumns(use, use.event.length)
  expectColumns(pages, 16)
}

/** Sites by thread, if all are listed, add up to the sites and to the threads. */
function expectSiteThreads({ sites, threads, summary }: ReportData): void {
  const { sites: own, handoffs } = threads
  if (own === undefined || handoffs === undefined) return
  expectColumns(own, own.site.length)
  expectColumns(handoffs, handoffs.site.length)
  if (summary.full.length > 0) return
  const sumsOf = (keys: readonly number[], values: readonly Integer[], n: number) => {
    const sums = Array.from({ length: n }, () => 0n)
    keys.forEach((key, i) => (sums[key]! += BigInt(values[i]!)))
    return sums
  }
  const integers = (values: readonly Integer[]) => values.map(BigInt)
  if (own.site.length < 1000) {
    for (const figure of ['allocatedBlocks', 'allocatedBytes', 'peakBlocks', 'peakBytes', 'endBytes'] as const) {
      expect(sumsOf(own.site, own[figure], sites.node.length), figure).toEqual(integers(sites[figure]))
      expect(sumsOf(own.thread, own[figure], threads.name.length), figure).toEqual(integers(threads[figure]))
    }
  }
  if (handoffs.site.length < 1000)
    expect(sumsOf(handoffs.site, handoffs.blocks, sites.node.length)).toEqual(integers(sites.foreignFrees))
}
