import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { batchesOf } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { events as eventsOf } from '../../../lib/entry/index.js'
import { POLICIES, WHOLE, type SimulateOptions } from '../../../lib/transforms/simulate/policies.js'
import type { SimulationResult } from '../../../lib/transforms/simulate/result.js'
import { Simulator } from '../../../lib/transforms/simulate/simulator.js'
import { Verifier } from '../../../lib/transforms/verify.js'
import { LifetimeTrainer } from '../../../lib/transforms/simulate/lifetimes/trainer.js'
import { callsOf } from './calls.js'

/** The events with their simulated addresses, and the figures. */
function simulated(
  events: readonly TraceEvent[],
  options: SimulateOptions = { policy: 'first-fit' },
  header?: TraceHeader,
): { events: TraceEvent[]; result: SimulationResult; error?: unknown } {
  const simulator = new Simulator(options)
  const out: TraceEvent[] = []
  let error: unknown
  try {
    for (const batch of batchesOf(events, header)) {
      simulator.feed(batch)
      for (let next = simulator.next(); next !== null; next = simulator.next()) out.push(...next)
    }
  } catch (thrown) {
    error = thrown
  }
  const result = simulator.results().at(-1) as SimulationResult
  simulator.dispose()
  return { events: out, result, ...(error !== undefined && { error }) }
}

function lifetimesOf(events: readonly TraceEvent[]) {
  const trainer = new LifetimeTrainer()
  for (const batch of batchesOf(events)) trainer.add(batch)
  return trainer.finish()
}

const FIRST = 0x2000_0000_0010n
const alloc = (address: bigint, size: bigint, more: object = {}): TraceEvent => ({
  kind: 'alloc',
  address,
  size,
  ...more,
})

describe('a simulated heap', () => {
  test('gives addresses, and uses memory again', () => {
    const { events } = simulated([
      alloc(0x10n, 100n),
      alloc(0x20n, 8n),
      { kind: 'free', address: 0x10n },
      alloc(0x30n, 40n),
      alloc(0x40n, 40n),
    ])
    // 100 bytes and a header take 112.
    expect(events.map(({ address }) => address)).toEqual([FIRST, FIRST + 112n, FIRST, FIRST, FIRST + 48n])
  })

  test('has figures that can be checked by hand', () => {
    const { result } = simulated(
      [alloc(1n, 3000n), alloc(2n, 2000n), { kind: 'free', address: 1n }, alloc(3n, 4000n)],
      { policy: 'first-fit', header: 0, smallest: 16 },
    )
    expect(result).toMatchObject({ events: 4, changes: 4, heaps: 1, unknown: 0, reused: 0, stayed: 0, moved: 0 })
    const most = { event: 4, blocks: 2, requested: 6000, granted: 6000, heap: 12_288, pages: 12_288 }
    expect(result.mostLive).toEqual(most)
    expect(result.largestHeap).toEqual(most)
    // 3008 + 2000 + 4000 bytes end in the third page; after the free, the first two pages have the second block.
    expect(result.timeline.map(({ heap }) => heap)).toEqual([4096, 8192, 8192, 12_288])
    expect(result.timeline.map(({ pages }) => pages)).toEqual([4096, 8192, 8192, 12_288])
    expect(result.fragmentation.average).toBeCloseTo(32_768 / 16_000 - 1, 12)
    expect(result.fragmentation.atMostLive).toBeCloseTo(12_288 / 6000 - 1, 12)
    expect(result.fragmentation.ofMaxima).toBeCloseTo(12_288 / 6000 - 1, 12)
    expect(result.searches).toEqual({ count: 3, mean: 1 / 3, longest: 1 })
    expect(result.sizes).toEqual([
      { upTo: 2048, allocations: 1, requested: 2000, granted: 2000 },
      { upTo: 4096, allocations: 2, requested: 7000, granted: 7008 },
    ])
  })

  test('counts the blocks of each size class, and larger ones by powers of two', () => {
    const sizes = [1n, 16n, 17n, 40n, 48n, 49n, 4000n, 5000n, 4096n]
    const { result } = simulated(
      sizes.map((size, i) => alloc(BigInt(i + 1), size)),
      { policy: 'segregated', classes: [16, 48, 4096] },
    )
    expect(result.sizes).toEqual([
      { upTo: 16, allocations: 2, requested: 17, granted: 32 },
      { upTo: 48, allocations: 3, requested: 105, granted: 144 },
      { upTo: 4096, allocations: 3, requested: 8145, granted: 12_288 },
      { upTo: 8192, allocations: 1, requested: 5000, granted: 8192 },
    ])
  })

  test('has no figures of a trace without blocks', () => {
    const { result } = simulated([{ kind: 'comment', text: 'nothing' }])
    expect(result).toMatchObject({
      events: 1,
      changes: 0,
      mostLive: null,
      largestHeap: null,
      mostPages: null,
      sizes: [],
    })
    expect(Object.values(result.fragmentation)).toEqual([null, null, null, null])
  })

  test('resizes in place where it can', () => {
    const { events, result } = simulated([
      alloc(0x10n, 40n),
      { kind: 'realloc', oldAddress: 0x10n, address: 0x10n, size: 400n, outcome: 'none' },
      alloc(0x20n, 40n),
      { kind: 'realloc', oldAddress: 0x10n, address: 0x30n, size: 800n, outcome: 'moved' },
      { kind: 'realloc', oldAddress: 0x20n, address: 0x20n, size: 900n, outcome: 'none' },
    ])
    const { address, oldAddress, outcome } = events[1] as { address: bigint; oldAddress: bigint; outcome: string }
    expect([address, oldAddress, outcome]).toEqual([FIRST, FIRST, 'none'])
    expect(events[3]).toMatchObject({ oldAddress: FIRST, outcome: 'moved' })
    expect(events[4]).toMatchObject({ outcome: 'moved' })
    expect(result).toMatchObject({ stayed: 1, moved: 2 })
  })

  test('counts frees of blocks that are not live, which lose their address', () => {
    const { events, result } = simulated([
      { kind: 'free', address: 0x99n },
      { kind: 'realloc', oldAddress: 0x98n, address: 0x10n, size: 8n, outcome: 'moved' },
      { kind: 'free', address: 0x10n },
      { kind: 'free', address: 0x10n },
    ])
    expect(events[0]).not.toHaveProperty('address')
    expect(events[1]).toMatchObject({ address: FIRST, outcome: 'allocated' })
    expect(events[1]).not.toHaveProperty('oldAddress')
    expect(events[2]).toMatchObject({ address: FIRST })
    expect(events[3]).not.toHaveProperty('address')
    expect(result.unknown).toBe(3)
  })

  test('frees a block whose address is allocated again', () => {
    const { events, result } = simulated([
      alloc(0x10n, 8n, { thread: 1n }),
      alloc(0x10n, 800n, { thread: 2n, api: 'malloc' }),
    ])
    expect(events.map((event) => ({ ...event }))).toEqual([
      { kind: 'alloc', address: FIRST, size: 8n, thread: 1n },
      { kind: 'free', address: FIRST, thread: 2n },
      { kind: 'alloc', address: FIRST, size: 800n, thread: 2n, api: 'malloc' },
    ])
    expect(result.reused).toBe(1)
  })

  test('leaves calls that failed as they are', () => {
    const failed: TraceEvent[] = [
      alloc(0n, 2n ** 50n),
      { kind: 'realloc', oldAddress: 0x10n, address: 0n, size: 2n ** 60n },
    ]
    const { events } = simulated([alloc(0x10n, 8n), ...failed, { kind: 'free', address: 0x10n }])
    expect(events[1]).toMatchObject({ address: 0n, size: 2n ** 50n })
    expect(events[2]).toMatchObject({ oldAddress: FIRST, address: 0n })
    expect(events[3]).toMatchObject({ address: FIRST })
  })

  test('of each process is its own', () => {
    const { events, result } = simulated(
      [1n, 2n, 1n].map((process, i) => alloc(0x10n * BigInt(i + 1), 8n, { process })),
    )
    expect(events.map(({ address }) => address)).toEqual([FIRST, FIRST, FIRST + 32n])
    expect(result.heaps).toBe(2)
  })

  test('begins again with another trace', () => {
    const simulator = new Simulator({ policy: 'bump' })
    for (const format of ['a', 'b']) {
      const [batch] = batchesOf([alloc(0x10n, 8n)], { format })
      simulator.feed(batch!)
      expect(simulator.next()?.event(0).address).toBe(0x2000_0000_0000n)
    }
    expect(simulator.results().map(({ events }) => events)).toEqual([1, 1])
    simulator.dispose()
    expect(simulator.results()).toHaveLength(2)
  })

  test('gives blocks that are known by an index their addresses', () => {
    const { events } = simulated([
      { kind: 'alloc', index: 7n, size: 8n },
      { kind: 'realloc', index: 7n, size: 80n },
      { kind: 'free', index: 7n },
    ])
    expect(events.map(({ address }) => address)).toEqual([FIRST, FIRST, FIRST])
  })

  test.each(POLICIES)('%s has no room for a block of 2^46 bytes', (policy) => {
    const { events, error } = simulated([alloc(0x10n, 8n), alloc(0x20n, 2n ** 46n), alloc(0x30n, 8n)], { policy })
    expect(events).toHaveLength(1)
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 2 })
  })

  test.each(POLICIES)('%s has no room for blocks of 2^46 bytes together', (policy) => {
    const blocks = Array.from({ length: 16 }, (_, i) => alloc(BigInt(i + 1) << 8n, 2n ** 42n))
    const { events, error, result } = simulated(blocks, { policy })
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT' })
    expect(events.length).toBeGreaterThan(1)
    expect(result.mostLive?.requested).toBe(events.length * 2 ** 42)
  })

  test.each(POLICIES.filter((policy) => policy !== 'ideal'))('%s takes blocks of up to 2^43 bytes', (policy) => {
    const sizes = [2n ** 43n, 0n, 2n ** 42n + 1n, 1n, 2n ** 41n]
    const { events, error } = simulated(
      sizes.map((size, i) => alloc(BigInt(i + 1) * 16n, size)),
      { policy },
    )
    expect(error).toBeUndefined()
    expect(new Set(events.map(({ address }) => address)).size).toBe(5)
  })

  test.each(POLICIES)('%s passes on the events before blocks that cannot be told apart', (policy) => {
    const events: TraceEvent[] = [
      { kind: 'free', process: 1n, address: 0x10n },
      { kind: 'free', process: 1n, address: 0x20n },
      { kind: 'free', process: 2n, address: 2n ** 48n },
    ]
    const header: TraceHeader = { format: 'unknown' }
    for (const cut of [3, 2, 1]) {
      const simulator = new Simulator({ policy })
      let passed = 0
      const run = (): void => {
        for (const part of [events.slice(0, cut), events.slice(cut)])
          for (const batch of batchesOf(part, header)) {
            simulator.feed(batch)
            for (let next = simulator.next(); next !== null; next = simulator.next()) passed += next.count
          }
      }
      expect(run).toThrow(/cannot be told apart/)
      expect(passed).toBe(2)
    }
  })

  test('is none without identity of blocks', () => {
    const { error } = simulated([alloc(0x10n, 8n)], { policy: 'bump' }, { format: 'heaptrack' })
    expect(String(error)).toMatch(/does not say which block is freed/)
  })
})

describe('every policy', () => {
  test.each([...POLICIES])('counts blocks that were not freed, and alignments that no address has: %s', (policy) => {
    const { result, error } = simulated(
      [
        alloc(0x10n, 100n, { alignment: 3n }),
        alloc(0x10n, 8n, { alignment: 1n << 62n }),
        alloc(0x20n, 8n, { alignment: 64n }),
        { kind: 'free', address: 0x30n },
      ],
      { policy },
    )
    expect(error).toBeUndefined()
    expect(result).toMatchObject({ unaligned: 2, reused: 1, unknown: 1, changes: 3 })
  })
})

test('a trace whose blocks have no bytes has moments', () => {
  const first = { event: 1, blocks: 1, requested: 0 }
  for (const policy of ['first-fit', 'ideal'] as const) {
    const { result } = simulated([alloc(0x10n, 0n), alloc(0x20n, 0n)], { policy })
    expect(result).toMatchObject({ mostLive: first, largestHeap: first, mostPages: first })
  }
})

describe('options', () => {
  test.each<[object, RegExp]>([
    [{ policy: 'worst-fit' }, /policy must be one of first-fit.*not "worst-fit"/],
    [{ policy: 'best-fit', list: 'lifo' }, /list is an option of first-fit, not best-fit/],
    [{ policy: 'bump', trim: 0 }, /trim is an option of first-fit, next-fit, best-fit, not bump/],
    [{ policy: 'ideal', header: 0 }, /header is an option of other policies, not ideal/],
    [{ policy: 'first-fit', alignment: 24 }, /alignment must be a power of two, not 24/],
    [{ policy: 'first-fit', page: 1000 }, /page must be a whole number from 1024/],
    [{ policy: 'first-fit', header: -1 }, /header must be a whole number/],
    [{ policy: 'segregated', classes: [24, 40] }, /^classes: none is a multiple of the alignment, 16/],
    [{ policy: 'segregated', classes: 'glibc' }, /classes must be one of/],
    [{ policy: 'segregated', classes: [1.5] }, /^classes: each must be a whole number/],
    [{ policy: 'ptmalloc', header: 16 }, /header is an option of other policies, not ptmalloc/],
    [{ policy: 'ptmalloc', glibc: '2.22' }, /glibc must be a version from 2\.23 to 2\.43, not "2\.22"/],
    [{ policy: 'ptmalloc', glibc: '36' }, /glibc must be a version/],
    [{ policy: 'bump', glibc: '2.36' }, /glibc is an option of ptmalloc, not bump/],
    [{ policy: 'jemalloc', alignment: 16 }, /alignment is an option of other policies, not jemalloc/],
    [{ policy: 'jemalloc', jemalloc: '2' }, /jemalloc must be one of 3, 4, 5/],
    [{ policy: 'jemalloc', bits: 32 }, /bits must be 64 for jemalloc 5, not 32/],
    [{ policy: 'jemalloc', jemalloc: '3', bits: 16 }, /bits must be 32 or 64, not 16/],
    [{ policy: 'jemalloc', tcache: 'no' }, /tcache must be one of on, off/],
    [{ policy: 'ptmalloc', jemalloc: '5' }, /jemalloc is an option of jemalloc, not ptmalloc/],
    [{ policy: 'first-fit', colour: 1 }, /unknown option "colour"/],
  ])('%j are refused', (options, message) => {
    expect(() => new Simulator(options as SimulateOptions)).toThrow(message)
  })
})

const RANDOM = [...callsOf({ events: 4000, blocks: 300, seed: 9, processes: 2 })]
const OF_ONE = [...callsOf({ events: 4000, blocks: 300, seed: 9 })]

/** Headers before blocks, and what an aligned block leaves unused before them. */
const LAYOUTS = [0, 8, 24, 40].flatMap((header) => [
  { header, alignment: 8, smallest: 8 },
  { header, alignment: 16, smallest: 64 },
])

/** Each allocation has an alignment, so that many reallocs are of such blocks. */
const aligned = (events: readonly TraceEvent[]) =>
  events.map((event, i): TraceEvent => {
    return event.kind === 'alloc' ? { ...event, api: 'memalign', alignment: 2n ** BigInt(4 + (i % 9)) } : event
  })

/** How often a block enters a page that no block was in after the event before. */
function pageFaultsOf(events: readonly TraceEvent[], page: bigint): number {
  const live = new Map<string, string[]>()
  const used = new Map<string, number>()
  let faults = 0
  const count = (pages: readonly string[], by: number) => {
    for (const one of pages) used.set(one, (used.get(one) ?? 0) + by)
  }
  for (const { kind, process, address = 0n, oldAddress, size = 0n } of events) {
    if (kind === 'process-end') {
      for (const [key, pages] of live) {
        if (!key.startsWith(`${process} `)) continue
        count(pages, -1)
        live.delete(key)
      }
    }
    const ended = kind === 'free' ? address : oldAddress
    const before = live.get(`${process} ${ended}`) ?? []
    if (kind === 'alloc' || kind === 'realloc' || kind === 'existing') {
      const pages: string[] = []
      for (let at = address / page; at <= (address + (size > 0n ? size : 1n) - 1n) / page; at++)
        pages.push(`${process} ${at}`)
      faults += pages.filter((one) => (used.get(one) ?? 0) === 0).length
      count(pages, 1)
      live.delete(`${process} ${ended}`)
      live.set(`${process} ${address}`, pages)
    } else live.delete(`${process} ${ended}`)
    if (kind === 'free' || kind === 'realloc') count(before, -1)
  }
  return faults
}

describe.each(POLICIES)('%s', (policy) => {
  const calls = WHOLE.includes(policy) ? OF_ONE : RANDOM

  test('needs at least what ideal needs, and gives the same again', () => {
    const first = simulated(calls, { policy })
    const ideal = simulated(calls, { policy: 'ideal' }).result
    expect(simulated(calls, { policy })).toEqual(first)
    const { mostLive, largestHeap, mostPages, timeline } = first.result
    expect(mostLive?.requested).toBe(ideal.mostLive?.requested)
    expect(largestHeap?.heap).toBeGreaterThanOrEqual(ideal.largestHeap?.heap as number)
    expect(mostPages?.pages).toBeGreaterThanOrEqual(ideal.mostPages?.pages as number)
    for (const { requested, granted, heap, pages } of timeline) {
      expect(granted).toBeGreaterThanOrEqual(requested)
      expect(heap).toBeGreaterThanOrEqual(granted)
      if (policy !== 'ideal') expect(heap).toBeGreaterThanOrEqual(pages)
    }
  })

  test('has a page fault for each page that blocks enter', () => {
    if (policy === 'ideal') {
      expect(simulated(calls, { policy }).result.pageFaults).toBeNull()
      return
    }
    if (WHOLE.includes(policy)) return
    // Headers would begin before the addresses of events. Large blocks have pages between their first and last ones.
    const large = calls.map((event, i): TraceEvent =>
      event.size !== undefined && i % 7 === 0 ? { ...event, size: event.size * 300n } : event,
    )
    for (const page of [4096, 16_384]) {
      const { events, result } = simulated(large, { policy, header: 0, page })
      expect(result.pageFaults).toBe(pageFaultsOf(events, BigInt(page)))
      expect(result.pageFaults ?? 0).toBeGreaterThan(500)
    }
  })

  test.each([{}, ...LAYOUTS])('aligns blocks, and none overlaps another: %j', (layout) => {
    if (policy === 'ideal' || (WHOLE.includes(policy) && 'header' in layout)) return
    const { events } = simulated('header' in layout ? aligned(calls) : calls, { policy, ...layout })
    const verifier = new Verifier({ allow: ['zero-size'] })
    for (const batch of batchesOf(events)) verifier.check(batch)
    expect(verifier.findings).toEqual([])
    const { alignment: least = policy === 'jemalloc' ? 8 : 16 } = layout as { alignment?: number }
    const misaligned = events.filter(({ kind, address = 0n, alignment = 1n }) => {
      return address % BigInt(least) !== 0n || (kind === 'alloc' && address % alignment !== 0n)
    })
    expect(misaligned).toEqual([])
  })
})

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url))
const TRACES = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /^(mtrc|replay|kmemtrace|tracepoints)\/.*\.(mtrc|txt|gz)$/.test(name),
)

describe('real traces', { tags: ['slow'], timeout: 60_000 }, () => {
  test.each(TRACES)('%s has no overlapping blocks after any policy', async (name) => {
    const events: TraceEvent[] = []
    try {
      for await (const event of eventsOf(FIXTURES + name)) if (events.push(event) === 20_000) break
    } catch {
      // The beginning of a trace is one, too.
    }
    for (const policy of POLICIES.filter((one) => one !== 'ideal')) {
      const verifier = new Verifier()
      for (const batch of batchesOf(simulated(events, { policy }).events)) verifier.check(batch)
      expect([verifier.counts.get('overlap'), verifier.counts.get('live-address')]).toEqual([undefined, undefined])
    }
  })
})

describe('the end of a process', () => {
  const run = [...callsOf({ events: 400, blocks: 80, seed: 3, log: 15 })].map((event) => ({ ...event, process: 7n }))
  const end: TraceEvent = { kind: 'process-end', process: 7n }
  const pages = run.map((event): TraceEvent => ({ ...event, api: 'pages' }))
  const predict = lifetimesOf(run)

  test.each<SimulateOptions>([
    ...POLICIES.map((policy) => ({ policy })),
    { policy: 'first-fit', coalescing: 'deferred' },
    { policy: 'bump', predict },
  ])('$policy: its heap ends, and one that follows begins as the first did', (options) => {
    const addresses = ({ events }: { events: readonly TraceEvent[] }) =>
      events.filter(({ kind }) => kind !== 'process-end').map((event) => (event as { address?: bigint }).address)
    // So does the heap of the pages that a kernel gave to it.
    for (const events of [run, pages]) {
      const once = simulated(events, options)
      const twice = simulated([...events, end, ...events, end], options)
      expect(addresses(twice)).toEqual([...addresses(once), ...addresses(once)])
      expect(twice.result.largestHeap).toEqual(once.result.largestHeap)
      expect(twice.result.mostPages).toEqual(once.result.mostPages)
      // All blocks of a process end at one event.
      expect(twice.result.changes).toBe(2 * once.result.changes + 2)
      expect(twice.result.events).toBe(2 * once.result.events + 2)
    }
  })

  test('without live blocks changes nothing', () => {
    const { result } = simulated([alloc(16n, 8n), { kind: 'free', address: 16n }, { kind: 'process-end' }, end])
    expect(result).toMatchObject({ events: 4, changes: 2 })
  })
})
