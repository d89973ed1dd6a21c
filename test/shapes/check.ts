import { expect } from 'vitest'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import type { Amount, Shares, Statistics } from '../../lib/transforms/statistics/result.js'
import { eventsOf, type Shape } from './generate.js'
import { Oracle } from './oracle.js'

/** The figures of the statistics that the oracle has. */
function figuresOf(statistics: Statistics): ReturnType<Oracle['finish']> {
  const { events, allocated, freed, leaked, temporary } = statistics
  const peak = ({ blocks, bytes, event, allocatedBytes }: Statistics['peakBytes']) => ({
    blocks,
    bytes,
    event,
    allocatedBytes,
  })
  const pair = ({ blocks, bytes }: Amount) => [blocks, bytes] as [number, bigint]
  const row = (shares: Shares) => ({
    allocated: pair(shares.allocated),
    leaked: pair(shares.leaked),
    heaptrack: pair(shares.temporary.heaptrack),
    memray: pair(shares.temporary.memray),
  })
  const allocating = (shares: Shares) => shares.allocated.blocks > 0
  const { count, sum } = statistics.lifetimes.events
  return {
    events,
    allocated,
    freed,
    leaked,
    peakBytes: peak(statistics.peakBytes),
    peakBlocks: peak(statistics.peakBlocks),
    temporary,
    lifetimes: { count, sum },
    foreignFrees: statistics.threads.reduce((all, thread) => all + thread.foreignFrees, 0),
    sites: new Map(
      statistics.sites.filter(allocating).map((site) => [site.stack?.join('\n') ?? String(site.callSite), row(site)]),
    ),
    threads: new Map(
      statistics.threads.filter(allocating).map((one) => [`${String(one.process)} ${String(one.thread)}`, row(one)]),
    ),
  }
}

/** Expects the oracle's figures of the statistics of a shape. */
export function checkStatistics(shape: Shape): void {
  const collector = new StatisticsCollector()
  const oracle = new Oracle()
  for (const batch of eventsOf(shape)) {
    oracle.add(batch)
    collector.add(batch)
  }
  const name = JSON.stringify(shape, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))
  expect(figuresOf(collector.finish()), name).toEqual(oracle.finish())
}
