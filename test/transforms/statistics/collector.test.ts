import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { BATCH_EVENTS, EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import type { AllocEvent, FreeEvent } from '../../../lib/event/trace-event.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import type { SiteStatistics, Statistics, ThreadStatistics } from '../../../lib/transforms/statistics/result.js'
import { runs } from '../../support/runs.js'
import { HEADER, inBatches } from '../events.js'
import { joinTimeline } from '../../../lib/transforms/statistics/timeline.js'
import { statisticsOf } from './oracle.js'
import { tracesWithEnds } from './random.js'

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

/** Equal ones may come in any order. Sites by thread are compared in test/shapes. */
function sorted(result: Statistics): Statistics {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one))
  const sort = <T>(all: readonly T[]) => all.toSorted((a, b) => (text(a) < text(b) ? -1 : 1))
  return {
    ...result,
    sites: sort<SiteStatistics>(result.sites.map(({ threads: _threads, ...site }) => site)),
    threads: sort<ThreadStatistics>(result.threads),
    mismatches: sort(result.mismatches),
  }
}

describe('StatisticsCollector', () => {
  it('counts as plain arithmetic over plain events does', () => {
    fc.assert(
      fc.property(tracesWithEnds, fc.integer({ min: 1, max: 50 }), (traces, batchSize) => {
        // Headers are compared by identity, and a trace without events has no batch to bring it.
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

  test('many live blocks that all end, and their numbers are given out again', { tags: ['slow'] }, () => {
    const n = 36 * BATCH_EVENTS
    const collector = new StatisticsCollector()
    for (const kind of ['alloc', 'free', 'alloc', 'free'] as const)
      for (let from = 0; from < n; from += BATCH_EVENTS) {
        const batch = new EventBatch(BATCH_EVENTS, 0, HEADER)
        for (let i = from; i < from + BATCH_EVENTS; i++)
          batch.push({ kind, address: BigInt(4096 + 64 * i), ...(kind === 'alloc' && { size: 8n }) })
        collector.add(batch)
      }
    const bytes = 8n * BigInt(n)
    const { allocated, freed, leaked, peakBytes } = collector.finish()
    expect({ allocated, freed, leaked }).toEqual({
      allocated: { blocks: 2 * n, bytes: 2n * bytes },
      freed: { blocks: 2 * n, bytes: 2n * bytes },
      leaked: { blocks: 0, bytes: 0n },
    })
    expect(peakBytes).toMatchObject({ blocks: n, bytes })
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

  test('temporary by heaptrack: the next call of the process frees the block', () => {
    const of = (...events: TraceEvent[]) => statistics(...events).temporary.heaptrack
    const one = { blocks: 1, bytes: 8n }
    const none = { blocks: 0, bytes: 0n }
    const t = (thread: bigint, process?: bigint) => ({ thread, ...(process !== undefined && { process }) })
    expect(of(alloc(1n, 8n), free(1n))).toEqual(one)
    // Any thread will do, and what is not a call.
    expect(of(alloc(1n, 8n, t(1n)), free(1n, t(2n)))).toEqual(one)
    expect(of(alloc(1n, 8n), { kind: 'comment', text: 'x' }, free(1n))).toEqual(one)
    // A free of the null pointer and a failed allocation do nothing.
    expect(of(alloc(1n, 8n), free(0n), free(1n))).toEqual(one)
    expect(of(alloc(1n, 8n), alloc(0n, 99n), free(1n))).toEqual(one)
    // Another call is between, in whatever thread; also one that freed what was not live.
    expect(of(alloc(1n, 8n, t(1n)), alloc(2n, 5n, t(2n)), free(1n, t(1n)))).toEqual(none)
    expect(of(alloc(2n, 5n), alloc(1n, 8n), free(2n), free(1n))).toEqual(none)
    expect(of(alloc(1n, 8n), free(77n), free(1n))).toEqual(none)
    // But not in another process.
    expect(of(alloc(1n, 8n, t(1n, 1n)), alloc(1n, 5n, t(1n, 2n)), free(1n, t(1n, 1n)))).toEqual(one)
    // A realloc is a free and an allocation.
    const realloc: TraceEvent = { kind: 'realloc', oldAddress: 1n, address: 2n, size: 9n }
    expect(of(alloc(1n, 8n), realloc)).toEqual(one)
    expect(of(alloc(1n, 8n), realloc, free(2n))).toEqual({ blocks: 2, bytes: 17n })
    expect(of(alloc(1n, 8n), alloc(3n, 1n), realloc, free(2n))).toEqual({ blocks: 1, bytes: 9n })
  })

  test('temporary by memray: freed by its thread, which allocated at most one block in between', () => {
    const of = (...events: TraceEvent[]) => statistics(...events).temporary.memray
    const t = (thread: bigint) => ({ thread })
    const one = { blocks: 1, bytes: 8n }
    const none = { blocks: 0, bytes: 0n }
    expect(of(alloc(1n, 8n), alloc(2n, 5n), free(1n))).toEqual(one)
    expect(of(alloc(1n, 8n), alloc(2n, 5n), alloc(3n, 5n), free(1n))).toEqual(none)
    expect(of(alloc(2n, 5n), alloc(1n, 8n), free(0n), free(0n), free(1n))).toEqual(one)
    // What other threads allocate does not matter, but who frees does.
    expect(of(alloc(1n, 8n, t(1n)), alloc(2n, 1n, t(2n)), alloc(3n, 1n, t(2n)), free(1n, t(1n)))).toEqual(one)
    expect(of(alloc(1n, 8n, t(1n)), free(1n, t(2n)))).toEqual(none)
    // The block of another thread that got the number of one freed elsewhere.
    expect(of(alloc(1n, 5n, t(1n)), free(1n, t(2n)), alloc(1n, 8n, t(2n)), free(1n, t(1n)))).toEqual(none)
    // A buffer that grows by copying, as in a container.
    expect(of(alloc(1n, 8n), alloc(2n, 16n), free(1n), alloc(3n, 32n), free(2n))).toEqual({ blocks: 2, bytes: 24n })
  })

  test('the live set at the peak, when it comes late, again, or never falls', () => {
    const site = (name: string) => ({ function: name })
    const shares = (...events: TraceEvent[]) => {
      const { sites, sizes, peakBytes } = statistics(...events)
      return {
        event: peakBytes.event,
        sites: Object.fromEntries(sites.map(({ function: name, atPeak }) => [name, atPeak])),
        sizes: Object.fromEntries(sizes.exact.map(({ size, atPeak }) => [size, atPeak])),
      }
    }
    const rising = [alloc(1n, 10n, site('a')), alloc(2n, 5000n, site('b')), alloc(3n, 10n, site('a'))]
    const atEnd = { event: 3, sites: { a: { blocks: 2, bytes: 20n }, b: { blocks: 1, bytes: 5000n } } }
    expect(shares(...rising)).toMatchObject({ ...atEnd, sizes: { 10: 2, 5000: 1 } })
    // Equal later, and with a block of no bytes more: the first moment counts.
    expect(shares(...rising, free(1n), alloc(4n, 10n, site('c')), alloc(5n, 0n, site('c')))).toMatchObject({
      ...atEnd,
      sites: { ...atEnd.sites, c: { blocks: 0, bytes: 0n } },
      sizes: { 0: 0, 10: 2, 5000: 1 },
    })
    // A site that had something at an earlier maximum, and nothing since.
    expect(shares(...rising, free(2n), free(1n), free(3n), alloc(7n, 6000n, site('d')), free(7n))).toMatchObject({
      event: 7,
      sites: { a: { blocks: 0, bytes: 0n }, b: { blocks: 0, bytes: 0n }, d: { blocks: 1, bytes: 6000n } },
      sizes: { 10: 0, 5000: 0, 6000: 1 },
    })
  })

  test('events of a process that have no thread are as those of one thread', () => {
    const { threads } = statistics(alloc(1n, 8n, { process: 5n }), alloc(1n, 9n, { process: 6n }), alloc(2n, 1n))
    expect(threads.map(({ rest, process, thread, atPeak }) => [rest, process, thread, atPeak.bytes])).toEqual([
      ['none', undefined, undefined, 1n],
      [undefined, 5n, undefined, 8n],
      [undefined, 6n, undefined, 9n],
    ])
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

  test('sums of lost events do not depend on batches, beyond 2^53 either', () => {
    const events = [2n ** 63n, ...Array.from({ length: 2000 }, () => 1n)].map((count): TraceEvent => ({
      kind: 'lost',
      count,
    }))
    const sums = [1, 2, 4096].map((size) => collect([{ header: HEADER, events }], size).lostEvents)
    expect(sums).toEqual(sums.map(() => Number(2n ** 63n + 2000n)))
  })

  test(
    'more sites, sizes and threads than there are rows for are others, and nothing is lost',
    { tags: ['slow'] },
    () => {
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
      const others = {
        blocks: n - 65_536,
        bytes: allocated.bytes - sizes.exact.reduce((sum, row) => sum + row.size, 0n),
      }
      expect(sizes.others).toMatchObject({ allocated: others, atPeak: others, leaked: others })
      expect(sizes).toMatchObject({
        smallest: 0n,
        largest: BigInt(n - 1),
        histogram: { count: n, sum: allocated.bytes },
      })
      expect(threads).toHaveLength(65_537)
      expect(threads[0]).toMatchObject({ rest: 'others', events: n - 65_536 })
      expect(sites.reduce((sum, site) => sum + site.allocated.bytes, 0n)).toBe(allocated.bytes)
      expect(threads.reduce((sum, thread) => sum + thread.allocated.bytes, 0n)).toBe(allocated.bytes)
    },
  )

  test('names that take too much room make others', { tags: ['slow'] }, () => {
    const collector = new StatisticsCollector()
    for (let i = 0; i < 300; i++)
      for (const batch of inBatches([alloc(BigInt(i + 1), 1n, { stack: ['main', `${i}`.padEnd(65_536)] })], 1, HEADER))
        collector.add(batch)
    const { sites, full } = collector.finish()
    expect(full).toEqual(['sites'])
    expect(sites.reduce((sum, site) => sum + site.allocated.blocks, 0)).toBe(300)
    expect(sites[0]?.rest).toBe('others')
  })

  test('stacks with more frames than there is room for make others', { tags: ['slow'] }, () => {
    const n = 1100
    const inner = Array.from({ length: 1000 }, (_, i) => `f${i}`)
    const collector = new StatisticsCollector()
    for (let i = 0; i < n; i++)
      for (const batch of inBatches([alloc(BigInt(i + 1), 1n, { stack: [...inner, `thread ${i}`] })], 1, HEADER))
        collector.add(batch)
    const { sites, full } = collector.finish()
    expect(full).toEqual(['sites'])
    expect(sites[0]).toMatchObject({ rest: 'others', allocated: { blocks: n - (sites.length - 1) } })
    expect(sites.length).toBeLessThan(n)
    expect(sites.filter(({ rest }) => rest === 'none')).toEqual([])
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

describe('the timeline', () => {
  const levels = (n: number) =>
    Array.from({ length: n }, (_, i): TraceEvent =>
      i % 3 === 2
        ? free(BigInt(i - 1), { time: BigInt(2 * i) })
        : alloc(BigInt(i + 1), BigInt((i * 7919) % 1000), i % 5 === 0 ? {} : { time: BigInt(2 * i) }),
    )

  test.each([1, 2000, 2001, 4001])('of %i events has at most 2,000 parts', { tags: ['slow'] }, (n) => {
    const traces = [{ header: HEADER, events: levels(n) }]
    const { timeline } = collect(traces, 1777)
    expect(timeline).toEqual(statisticsOf(traces).timeline)
    expect(timeline.length).toBeLessThanOrEqual(2000)
    expect(timeline.length).toBeGreaterThan(Math.min(n, 1001) - 1)
  })

  test('goes on with the next trace, which begins with nothing', () => {
    const headers = [{ ...HEADER }, { ...HEADER }, { ...HEADER, timeUnit: 'us' as const }]
    const traces = headers.map((header, i) => ({ header, events: levels(1001 + i) }))
    expect(collect(traces).timeline).toEqual(statisticsOf(traces).timeline)
  })

  test('is joined to as many rows as one asks for, and nothing is lost', () => {
    const whole = statistics(...levels(5000))
    for (const n of [1, 2, 7, 60, 1250, 9999]) {
      const rows = joinTimeline(whole.timeline, n)
      expect(rows).toHaveLength(Math.min(n, whole.timeline.length))
      expect(rows.reduce((sum, { allocated }) => sum + allocated.bytes, 0n)).toBe(whole.allocated.bytes)
      expect(rows.reduce((sum, { allocated }) => sum + allocated.blocks, 0)).toBe(whole.allocated.blocks)
      expect(rows.reduce((sum, { frees }) => sum + frees, 0)).toBe(whole.freed.blocks)
      expect(rows.reduce((most, { maxBytes }) => (maxBytes > most ? maxBytes : most), 0n)).toBe(whole.peakBytes.bytes)
      expect(rows.at(-1)).toMatchObject({ event: 5000, live: whole.leaked, time: 9998n })
    }
  })
})
