import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { AllocEvent, FreeEvent } from '../../../lib/event/trace-event.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { replay } from '../../../lib/formats/replay/index.js'
import { mtrc } from '../../../lib/formats/mtrc/index.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import type { SiteStatistics, Statistics, ThreadStatistics } from '../../../lib/transforms/statistics/result.js'
import { corpusFile } from '../../support/corpus.js'
import { drive, slices } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { HEADER, inBatches } from '../events.js'
import { statisticsOf } from './oracle.js'
import { anyTraces } from './random.js'

function collect(
  traces: readonly { header: TraceHeader; events: readonly TraceEvent[] }[],
  batchSize = 4096,
): Statistics {
  const collector = new StatisticsCollector()
  for (const { header, events } of traces)
    for (const batch of inBatches(events, batchSize, header)) collector.add(batch)
  return collector.finish()
}

const statistics = (...events: TraceEvent[]) => collect([{ header: HEADER, events }])
const alloc = (address: bigint, size: bigint, more: Partial<AllocEvent> = {}): TraceEvent => ({
  kind: 'alloc',
  address,
  size,
  ...more,
})
const free = (address: bigint, more: Partial<FreeEvent> = {}): TraceEvent => ({ kind: 'free', address, ...more })

/** Equal ones may come in any order. */
function sorted(result: Statistics): Statistics {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one))
  const sort = <T>(all: readonly T[]) => all.toSorted((a, b) => (text(a) < text(b) ? -1 : 1))
  return {
    ...result,
    sites: sort<SiteStatistics>(result.sites),
    threads: sort<ThreadStatistics>(result.threads),
    mismatches: sort(result.mismatches),
  }
}

describe('StatisticsCollector', () => {
  it('counts as plain arithmetic over plain events does', () => {
    fc.assert(
      fc.property(anyTraces, fc.integer({ min: 1, max: 50 }), (traces, batchSize) => {
        // A header is told by its identity, and a trace without events has no batch to bring it.
        const some = traces
          .filter(({ events }) => events.length > 0)
          .map(({ header, events }) => ({ header: { ...header }, events }))
        expect(sorted(collect(some, batchSize))).toEqual(sorted(statisticsOf(some)))
      }),
      { numRuns: runs(400) },
    )
  })

  test('a batch may be of any size', () => {
    const events = Array.from({ length: 5000 }, (_, i) => [
      alloc(BigInt(i + 1) * 16n, BigInt(i), { function: `f${i % 7}`, thread: BigInt(i % 5), time: BigInt(i) }),
      free(BigInt(i % 3 === 0 ? i + 1 : i) * 16n, { thread: 1n, time: BigInt(i + 3) }),
    ]).flat()
    const traces = [{ header: HEADER, events }]
    expect(collect(traces, 10_000)).toEqual(collect(traces, 100))
  })

  test('of nothing', () => {
    expect(new StatisticsCollector().finish()).toMatchObject({
      traces: 0,
      events: 0,
      allocated: { blocks: 0, bytes: 0n },
      sites: [],
      threads: [],
    })
    expect(statisticsOf([])).toEqual(new StatisticsCollector().finish())
  })

  test('sums beyond 64 bits are exact', () => {
    const all = 2n ** 64n - 1n
    const result = statistics(alloc(1n, all), alloc(2n, all), free(1n), alloc(3n, all), free(2n), free(3n))
    expect(result.allocated).toEqual({ blocks: 3, bytes: 3n * all })
    expect(result.freed).toEqual(result.allocated)
    expect(result.peakBytes).toMatchObject({ blocks: 2, bytes: 2n * all, event: 2, allocatedBytes: 2n * all })
    expect(result.lifetimes.bytes.sum).toBe(2n * all)
    expect(result.sizes.histogram.bars).toEqual([{ from: 2n ** 63n, to: all, count: 3 }])
  })

  test('a block in whose life more than 2^64 bytes were allocated', () => {
    const all = 2n ** 64n - 1n
    const bytes = 2n * all + 5n
    const result = statistics(alloc(1n, 8n), alloc(2n, all), alloc(3n, all), alloc(4n, 5n), free(1n))
    expect(result.lifetimes.bytes).toEqual({
      count: 1,
      sum: bytes,
      mean: Number(bytes),
      bars: [{ from: 2n ** 65n, to: 2n ** 66n - 1n, count: 1 }],
    })
  })

  test('a block freed by the next event of its thread is temporary, whatever other threads do', () => {
    const t = (thread: bigint) => ({ thread })
    expect(statistics(alloc(1n, 8n, t(1n)), alloc(2n, 5n, t(2n)), free(1n, t(1n)), free(2n, t(1n))).temporary).toEqual({
      blocks: 1,
      bytes: 8n,
    })
    expect(statistics(alloc(1n, 8n), alloc(2n, 5n), free(1n), free(2n)).temporary.blocks).toBe(0)
    expect(statistics(alloc(1n, 8n), { kind: 'comment', text: 'x' }, free(1n)).temporary.blocks).toBe(1)
    expect(
      statistics(alloc(1n, 8n), { kind: 'realloc', oldAddress: 1n, address: 1n, size: 9n }, free(1n)).temporary.blocks,
    ).toBe(0)
  })

  test('a resized block is freed where it was, allocated where it goes, and lives on', () => {
    const result = statistics(
      alloc(1n, 100n, { function: 'make' }),
      alloc(9n, 7n, { function: 'make' }),
      { kind: 'realloc', oldAddress: 1n, address: 2n, size: 300n, function: 'grow' },
      free(2n),
    )
    expect(result.sites).toMatchObject([
      { function: 'grow', allocated: { blocks: 1, bytes: 300n }, leaked: { blocks: 0, bytes: 0n } },
      { function: 'make', allocated: { blocks: 2, bytes: 107n }, leaked: { blocks: 1, bytes: 7n } },
    ])
    expect(result.lifetimes.events.sum).toBe(3n)
    expect(result.reallocs.moved).toBe(1)
  })

  test('what a kernel took, where it was wasted, and who freed it', () => {
    const site = (callSite: bigint, cpu: number) => ({ callSite, cpu })
    const result = statistics(
      alloc(0x1000n, 100n, { api: 'kmalloc', usable: 128n, ...site(1n, 0) }),
      alloc(0x2000n, 30n, { api: 'kmalloc', usable: 32n, ...site(1n, 0) }),
      alloc(0x3000n, 192n, { api: 'kmem_cache_alloc', usable: 192n, ...site(2n, 1) }),
      free(0x1000n, { api: 'kfree', ...site(7n, 1) }),
      free(0x3000n, { api: 'kfree', ...site(7n, 1) }),
    )
    expect(result.overhead).toEqual({ hits: 3, requested: 322n, allocated: 352n, wasted: 30n })
    expect(result.sites).toMatchObject([
      { callSite: 2n, overhead: { hits: 1, wasted: 0n }, crossCpuFrees: 0 },
      { callSite: 1n, overhead: { hits: 2, requested: 130n, allocated: 160n, wasted: 30n }, crossCpuFrees: 1 },
    ])
    expect(result.crossCpuFrees).toBe(1)
    expect(result.mismatches).toEqual([{ allocatedBy: 'kmem_cache', freedBy: 'kmalloc', count: 1 }])
  })

  test('more sites, sizes and threads than there are rows for are others, and nothing is lost', () => {
    const n = 70_000
    const collector = new StatisticsCollector()
    const events = (from: number) =>
      Array.from({ length: 1000 }, (_, i) =>
        alloc(BigInt(from + i + 1) * 16n, BigInt(from + i), { thread: BigInt(from + i), function: `f${from + i}` }),
      )
    for (let from = 0; from < n; from += 1000)
      for (const batch of inBatches(events(from), 1000, HEADER)) collector.add(batch)
    const { sites, sizes, threads, full, allocated } = collector.finish()
    expect(full).toEqual(['sites', 'sizes', 'threads'])
    expect(sites).toHaveLength(65_537)
    expect(sites[0]).toMatchObject({ rest: 'others', allocated: { blocks: n - 65_536 } })
    expect(sizes.exact.length).toBe(65_536)
    expect(sizes.others).toBe(n - 65_536)
    expect(threads).toHaveLength(65_537)
    expect(threads[0]).toMatchObject({ rest: 'others', events: n - 65_536 })
    expect(sites.reduce((sum, site) => sum + site.allocated.bytes, 0n)).toBe(allocated.bytes)
    expect(threads.reduce((sum, thread) => sum + thread.allocated.bytes, 0n)).toBe(allocated.bytes)
  })

  test('names that take too much room make others', () => {
    const collector = new StatisticsCollector()
    for (let i = 0; i < 300; i++)
      for (const batch of inBatches([alloc(BigInt(i + 1), 1n, { stack: ['main', `${i}`.padEnd(65_536)] })], 1, HEADER))
        collector.add(batch)
    const { sites, full } = collector.finish()
    expect(full).toEqual(['sites'])
    expect(sites.reduce((sum, site) => sum + site.allocated.blocks, 0)).toBe(300)
    expect(sites[0]?.rest).toBe('others')
  })

  test('a stack that differs in the middle only is another site', () => {
    const frames = (middle: string) => [
      ...Array.from({ length: 200 }, (_, i) => `f${i}`),
      middle,
      ...Array.from({ length: 200 }, (_, i) => `g${i}`),
    ]
    expect(
      statistics(
        alloc(1n, 1n, { stack: frames('a') }),
        alloc(2n, 1n, { stack: frames('b') }),
        alloc(3n, 1n, { stack: frames('a') }),
      ).sites,
    ).toMatchObject([
      { stack: frames('a'), allocated: { blocks: 2 } },
      { stack: frames('b'), allocated: { blocks: 1 } },
    ])
  })
})

describe('real traces', { tags: ['corpus'] }, () => {
  const of = (path: string, decoder = replay.decoder()) => {
    const collector = new StatisticsCollector()
    for (const batch of drive(decoder, slices(corpusFile(path), 65_536)).out) collector.add(batch)
    return collector.finish()
  }

  test("espresso on largest.espresso has the figures of the HATF paper's Table 3", () => {
    const result = of('memory-replay/espresso-largest-m32.txt')
    expect(result.allocated).toEqual({ blocks: 1_675_484, bytes: 107_042_242n })
    expect(result.kinds.realloc).toBe(16_128)
    expect(result.freed.blocks).toBe(1_675_482)
    expect(result.faults).toMatchObject({ nullFrees: 32_497, unknownFrees: 0, doubleFrees: 0 })
    expect(result.peakBlocks.blocks).toBe(4389)
    expect(result.peakBytes.bytes).toBe(268_154n)
    expect(result.sizes.histogram.mean).toBeCloseTo(63.9, 1)
  }, 60_000)

  test('threads and reallocs of a dump of Android', () => {
    const result = of('memory-replay/systemui.txt')
    expect(result.threads).toHaveLength(393)
    expect(result.threads.reduce((sum, { events }) => sum + events, 0)).toBe(786_454)
    expect(result.kinds).toMatchObject({ alloc: 392_067, free: 364_863, realloc: 29_167 })
    expect(Object.values(result.reallocs).reduce((sum, n) => sum + n)).toBe(29_167)
    expect(result.allocated.blocks - result.freed.blocks).toBe(result.leaked.blocks + result.faults.overlaps.blocks)
  }, 60_000)

  test('leaks by site are those of all', () => {
    const result = of('mtrc/mt64.mtrc', mtrc.decoder())
    expect(result.sites.reduce((sum, { leaked }) => sum + leaked.bytes, 0n)).toBe(result.leaked.bytes)
    expect(result.leaked).toEqual({ blocks: 24, bytes: 6249n })
  })
})
