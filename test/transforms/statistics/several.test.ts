import { expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import type { Statistics } from '../../../lib/transforms/statistics/result.js'
import { inBatches } from '../events.js'

const NS: TraceHeader = { format: 'recorder', timeUnit: 'ns' }

function statisticsOf(...traces: [header: TraceHeader, events: readonly TraceEvent[]][]): Statistics {
  const collector = new StatisticsCollector()
  for (const [header, events] of traces) for (const batch of inBatches(events, 3, { ...header })) collector.add(batch)
  return collector.finish()
}

const alloc = (process: bigint | undefined, address: bigint, size: bigint, time?: bigint): TraceEvent => ({
  kind: 'alloc',
  ...(process !== undefined && { process }),
  ...(time !== undefined && { time }),
  address,
  size,
})
const resident = (process: bigint | undefined, present: bigint): TraceEvent => ({
  kind: 'other',
  code: 82,
  ...(process !== undefined && { process }),
  present,
})

test('the resident set is that of all processes, each as last known', () => {
  const { residentSet, timeline } = statisticsOf([
    NS,
    [
      alloc(undefined, 0x1000n, 1000n),
      resident(undefined, 1500n),
      alloc(3n, 0x1000n, 1000n),
      resident(3n, 1600n),
      resident(3n, 1400n),
      { kind: 'process-end', process: 9n },
      { kind: 'process-end', process: 3n },
      alloc(undefined, 0x2000n, 10n),
      resident(undefined, 1200n),
    ],
  ])
  expect(residentSet).toEqual({
    events: 4,
    most: { bytes: 3100n, live: 2000n, event: 4 },
    atPeak: { bytes: 3100n, live: 2000n, event: 4 },
    last: { bytes: 1200n, live: 1010n, event: 9 },
  })
  const levels = timeline.map((part) => part.resident)
  expect(levels).toEqual([undefined, 1500n, 1500n, 3100n, 3100n, 2900n, 2900n, 1500n, 1500n])
})

test('the sum of resident bytes is exact', () => {
  const most = 2n ** 64n - 1n
  const { residentSet, timeline } = statisticsOf([NS, [resident(1n, most), resident(2n, most), resident(3n, most)]])
  expect(residentSet?.most).toEqual({ bytes: 3n * most, live: 0n, event: 3 })
  expect(timeline.at(-1)?.resident).toBe(3n * most)
})

test('what was resident in another trace is not at the peak of an earlier one', () => {
  const first: TraceEvent[] = [resident(undefined, 5000n), alloc(undefined, 0x1000n, 10_000n)]
  const second = [alloc(undefined, 0x1000n, 7n), resident(undefined, 777n)]
  const { residentSet, timeline } = statisticsOf([NS, first], [NS, second])
  expect(residentSet).toEqual({
    events: 2,
    most: { bytes: 5000n, live: 0n, event: 1 },
    last: { bytes: 777n, live: 7n, event: 4 },
  })
  expect(timeline.map((part) => part.resident)).toEqual([5000n, 5000n, undefined, 777n])
  // A trace with a higher peak has its own.
  const higher = [alloc(undefined, 0x1000n, 20_000n), resident(undefined, 778n)]
  expect(statisticsOf([NS, first], [NS, higher]).residentSet?.atPeak).toEqual({ bytes: 778n, live: 20_000n, event: 4 })
})

test('times in another unit are of no moment, and of no rate', () => {
  const first = [alloc(undefined, 0x1000n, 1n, 1000n), alloc(undefined, 0x2000n, 2n, 3000n)]
  const second = [alloc(undefined, 0x3000n, 3n, 2n), alloc(undefined, 0x4000n, 4n, 4n), resident(undefined, 9n)]
  const { time, peakBytes, peakBlocks } = statisticsOf([NS, first], [{ format: 'y', timeUnit: 'us' }, second])
  expect(time).toEqual({
    unit: 'ns',
    first: 1000n,
    last: 3000n,
    span: 2000n,
    partial: true,
    rates: { events: 1_000_000, allocations: 1_000_000, bytes: 1_500_000 },
  })
  expect(peakBytes).toEqual({ blocks: 2, bytes: 7n, event: 4, allocatedBytes: 10n })
  expect(peakBlocks).toMatchObject({ event: 2, time: 3000n })
  expect(statisticsOf([NS, second]).peakBytes.time).toBe(4n)
})

test('a trace without times is in no rate', () => {
  const timeless = Array.from({ length: 50 }, (_, i) => alloc(undefined, BigInt(i + 1) << 12n, 1n))
  const timed = [alloc(undefined, 0x1000n, 1n, 0n), alloc(undefined, 0x2000n, 1n, 1_000_000_000n)]
  const { time } = statisticsOf([NS, timeless], [NS, timed])
  expect(time?.rates).toEqual({ events: 2, allocations: 2, bytes: 2 })
  expect(time?.partial).toBe(true)
  expect(statisticsOf([NS, timed], [NS, timed], [NS, []]).time?.partial).toBeUndefined()
})

test('runs of a program have the same sites, wherever its modules were loaded', () => {
  const run = (base: bigint): TraceEvent[] => [
    { ...alloc(undefined, 0x10n, 5n), stack: [`f in /x+0x8 [0x${(base + 8n).toString(16)}]`, `[0x${base}]`] },
  ]
  const site = (base: bigint) => ({ stack: ['f in /x+0x8', `[0x${base}]`] })
  const { sites } = statisticsOf([NS, run(0x1000n)], [NS, run(0x1000n)], [NS, run(0x2000n)])
  expect(sites).toMatchObject([{ ...site(0x1000n), allocated: { blocks: 2 } }, site(0x2000n)])
  const moved = (base: bigint): TraceEvent[] =>
    run(base).map((event) => ({ ...event, stack: event.stack!.slice(0, 1) }))
  expect(statisticsOf([NS, moved(0x1000n)], [NS, moved(0x2000n)]).sites).toHaveLength(1)
})
