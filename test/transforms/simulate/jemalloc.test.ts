import { describe, expect, test } from 'vitest'
import { batchesOf } from '../../../lib/event/batch.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import type { SimulateOptions } from '../../../lib/transforms/simulate/policies.js'
import type { SimulationResult } from '../../../lib/transforms/simulate/result.js'
import { Simulator } from '../../../lib/transforms/simulate/simulator.js'
import { JemallocModel } from '../../oracle/simulate/jemalloc/model.js'
import { corpusPath } from '../../support/corpus.js'
import { replayFile } from '../../support/simulate.js'
import { callsOf, randomFrom, type CallShape } from './calls.js'

type Options = Pick<SimulateOptions, 'jemalloc' | 'bits' | 'tcache'>

/** The events with their simulated addresses, and the figures. */
function placed(batches: Iterable<Parameters<Simulator['feed']>[0]>, options: Options = {}) {
  const simulator = new Simulator({ policy: 'jemalloc', ...options })
  const events: TraceEvent[] = []
  try {
    for (const batch of batches) {
      simulator.feed(batch)
      for (let next = simulator.next(); next !== null; next = simulator.next()) events.push(...next)
    }
    return { events, result: simulator.results()[0] as SimulationResult }
  } finally {
    simulator.dispose()
  }
}

/** Calls of several threads, some of which end and are replaced. */
function* threadedCalls(shape: CallShape, threads: number): Generator<TraceEvent> {
  const random = randomFrom(shape.seed + 1)
  const running = Array.from({ length: threads }, (_, i) => BigInt(i + 7))
  let last = BigInt(threads + 7)
  for (const event of callsOf(shape)) {
    const i = Math.floor(random() * threads)
    if (threads > 1 && random() < 0.003) {
      yield { kind: 'thread-destroy', thread: running[i]! }
      running[i] = last++
    }
    yield { ...event, thread: running[i]! }
  }
}

/** The addresses of blocks after each event, and the memory in use and granted then. */
function* modelled(events: Iterable<TraceEvent>, { jemalloc = '5', bits = 64, tcache = 'on' }: Options) {
  const model = new JemallocModel({ version: Number(jemalloc), bits }, tcache === 'on')
  const addresses = new Map<bigint, number>()
  for (const event of events) {
    const { thread = 0n, address = 0n, size = 0n } = event
    const old = event.kind === 'realloc' ? event.oldAddress! : address
    const was = addresses.get(old)
    if (event.kind === 'thread-destroy') model.end(thread)
    else if (event.kind === 'free') {
      model.free(thread, was!)
      addresses.delete(address)
    } else if (event.kind === 'realloc') {
      addresses.delete(old)
      addresses.set(address, model.resize(thread, was!, Number(size)))
    } else addresses.set(address, model.allocate(thread, Number(size), Number(event.alignment ?? 0n)))
    yield [event.kind === 'thread-destroy' ? undefined : (addresses.get(address) ?? was), model] as const
  }
}

function compare(options: Options, shape: CallShape, threads: number): void {
  const events = [...threadedCalls(shape, threads)]
  const { events: simulated, result } = placed(batchesOf(events), options)
  let most = 0
  let sum = 0
  let i = 0
  const moments = new Map(result.timeline.map((moment) => [moment.event, moment.granted]))
  for (const [address, model] of modelled(events, options)) {
    const found = simulated[i]?.address
    if (found !== (address === undefined ? undefined : BigInt(address)))
      expect({ i, event: events[i], found }).toEqual({ i, event: events[i], found: BigInt(address ?? 0) })
    i++
    if (address === undefined) continue
    if (moments.has(i) && moments.get(i) !== model.granted)
      expect({ i, event: events[i - 1], granted: moments.get(i) }).toEqual({ i, granted: model.granted })
    most = Math.max(most, model.used)
    sum += model.used
  }
  expect(simulated).toHaveLength(events.length)
  expect(result.largestHeap?.heap).toBe(most)
  if (events.length > 1000) return
  const requested = result.timeline.reduce((all, moment) => all + moment.requested, 0)
  expect(result.fragmentation.average).toBeCloseTo(sum / requested - 1, 6)
}

const SETTINGS: readonly Options[] = [
  {},
  { tcache: 'off' },
  { jemalloc: '4' },
  { jemalloc: '4', bits: 32, tcache: 'off' },
  { jemalloc: '3' },
  { jemalloc: '3', bits: 32 },
  { jemalloc: '3', tcache: 'off' },
]
const nameOf = ({ jemalloc = '5', bits = 64, tcache = 'on' }: Options) => `${jemalloc}, ${bits} bits, tcache ${tcache}`

describe.each(SETTINGS.map((options) => [nameOf(options), options] as const))('jemalloc %s', (_, options) => {
  test('gives the addresses of its model', () => {
    compare(options, { events: 300, blocks: 5, seed: 1 }, 1)
    compare(options, { events: 900, blocks: 90, seed: 2 }, 3)
    compare(options, { events: 900, blocks: 40, seed: 3, log: 18 }, 2)
    compare(options, { events: 900, blocks: 30, seed: 4, log: 24 }, 1)
  })

  test('gives them to many blocks', { tags: ['large'], timeout: 120_000 }, () => {
    for (let seed = 10; seed < 40; seed++)
      compare(options, { events: 4000, blocks: 20 + 40 * (seed % 7), seed, log: 4 + (seed % 20) }, 1 + (seed % 4))
    compare(options, { events: 20_000, blocks: 5000, seed: 5, log: 9 }, 1)
    compare(options, { events: 20_000, blocks: 3000, seed: 6, log: 14 }, 70)
  })
})

const alloc = (address: bigint, size: bigint, more: object = {}): TraceEvent => ({
  kind: 'alloc',
  address,
  size,
  ...more,
})

describe('jemalloc as a policy', () => {
  test('places blocks of a class side by side, and gives back what was freed last', () => {
    const { events, result } = placed(
      batchesOf([alloc(1n, 24n), alloc(2n, 30n), { kind: 'free', address: 1n }, alloc(3n, 17n), alloc(4n, 20_000n)]),
    )
    const [first, second, , third, large] = events.map(({ address = 0n }) => address)
    expect([second! - first!, third]).toEqual([32n, first])
    expect([large! & 0xfffn, large! >> 21n]).toEqual([0n, first! >> 21n])
    // What is in use when a program begins, a page of regions, and five pages and one more for the large block.
    expect(result.largestHeap).toMatchObject({ event: 5, granted: 64 + 20_480, heap: 4096 * (29 + 1 + 6) })
  })

  test('threads have arenas, and their caches what they freed', () => {
    const calls: TraceEvent[] = [
      alloc(1n, 2000n, { thread: 1n }),
      alloc(2n, 2000n, { thread: 2n }),
      { kind: 'free', thread: 1n, address: 2n },
      alloc(3n, 2000n, { thread: 2n }),
      alloc(4n, 2000n, { thread: 1n }),
    ]
    const addresses = (options: Options) => placed(batchesOf(calls), options).events.map(({ address = 0n }) => address)
    const [first, second, , third, fourth] = addresses({})
    expect([first! >> 21n === second! >> 21n, third! - second!, fourth]).toEqual([false, 2048n, second])
    // Without caches a block goes back to its arena.
    const [, other, , again] = addresses({ tcache: 'off' })
    expect(again).toBe(other)
  })

  // A block of 4 has the size of its class, though it has two chunks of 2 MiB; one of 3 all of its chunks of 4 MiB.
  test.each([
    [{}, 2_200_000n, 4_194_304n, [2_621_440, 4_194_304, 2_621_440]],
    [{ jemalloc: '4' }, 2_200_000n, 4_194_304n, [2_621_440, 4_194_304, 2_621_440]],
    [{ jemalloc: '4', bits: 32, tcache: 'off' }, 2_200_000n, 4_194_304n, [2_621_440, 4_194_304, 2_621_440]],
    [{ jemalloc: '3' }, 4_200_000n, 8_388_608n, [8_388_608, 8_388_608, 8_388_608]],
    [{ jemalloc: '3' }, 2_200_000n, 2_300_000n, [2_203_648, 2_301_952, 2_203_648]],
  ] as const)(
    '%j grants %i bytes, and after reallocs %i and as many again, their sizes',
    (options, less, more, sizes) => {
      const granted = [less, more, less].map((_, i, all) => {
        const calls = all.slice(0, i + 1).map((size, n): TraceEvent => {
          const address = BigInt(n + 1)
          return n === 0 ? alloc(address, size) : { kind: 'realloc', address, size, oldAddress: BigInt(n) }
        })
        return placed(batchesOf(calls), options).result.timeline.at(-1)?.granted
      })
      expect(granted).toEqual(sizes)
    },
  )

  test('an aligned block of version 4 that needs a chunk has one', () => {
    const calls = [alloc(1n, 1_200_000n, { alignment: 1n << 20n })]
    for (const [jemalloc, granted] of [
      ['4', 2_097_152],
      ['3', 1_200_128],
    ] as const)
      expect([jemalloc, placed(batchesOf(calls), { jemalloc }).result.mostLive?.granted]).toEqual([jemalloc, granted])
  })

  // Each block that is no region is an extent.
  test('has a limit of extents, which its error names', { tags: ['large'], timeout: 120_000 }, () => {
    const simulator = new Simulator({ policy: 'jemalloc' }, true)
    try {
      expect(() => {
        const [batch] = batchesOf(Array.from({ length: 1024 }, () => alloc(1n, 15_000n)))
        for (let from = 1; from < 2_150_000; from += 1024) {
          for (let i = 0; i < 1024; i++) batch!.address.words[2 * i] = from + i
          simulator.feed(batch!)
          simulator.next()
        }
      }).toThrow(/fewer than 2\^21 extents/)
    } finally {
      simulator.dispose()
    }
  })

  test('is simulated for one process', () => {
    const calls = [1n, 2n].map((process) => alloc(16n * process, 8n, { process }))
    expect(() => placed(batchesOf(calls))).toThrow(/^[^\n]*jemalloc is simulated for one process/)
    expect(placed(batchesOf(calls.slice(0, 1))).events).toHaveLength(1)
  })

  test.each([
    [{ jemalloc: '3', bits: 32 }, 2n ** 32n],
    [{ jemalloc: '4', bits: 32 }, 2n ** 32n],
    [{ jemalloc: '4' }, 2n ** 47n],
    [{}, 2n ** 47n],
  ] as const)('%j has no more addresses than its words', (options, most) => {
    const calls = Array.from({ length: 100 }, (_, i) => alloc(BigInt(i + 1), most / 16n))
    const simulator = new Simulator({ policy: 'jemalloc', ...options })
    const [batch] = batchesOf(calls)
    simulator.feed(batch!)
    const placedOnes = [...simulator.next()!]
    expect(placedOnes.length).toBeGreaterThan(1)
    for (const { address = 0n } of placedOnes) expect(address > 0n && address + most / 16n <= most).toBe(true)
    expect(() => simulator.next()).toThrow(/addresses of its word size/)
    simulator.dispose()
  })
})

/** The number of blocks at each distance between the address of a trace and the simulated one, the most first. */
function distances(path: string | URL, options: Options): number[] {
  const counts = new Map<bigint, number>()
  const batches = replayFile(path)
  const { events } = placed(batches, options)
  let i = 0
  for (const batch of batches)
    for (const { kind, address = 0n } of batch) {
      // A block whose address is allocated again is freed before.
      while (kind !== 'free' && events[i]?.kind === 'free') i++
      const simulated = events[i++]?.address ?? 0n
      if ((kind !== 'alloc' && kind !== 'realloc') || address === 0n) continue
      counts.set(address - simulated, (counts.get(address - simulated) ?? 0) + 1)
    }
  return [...counts.values()].toSorted((a, b) => b - a)
}

describe('recorded programs', () => {
  const recording = (name: string) => new URL(`../../allocators/recordings/${name}.txt.gz`, import.meta.url)

  // The kernel placed the two regions of the one thread, and others of each thread, 4 MB apart.
  test.each([
    ['jemalloc-5.3-1-thread', 2, 4924, 1],
    ['jemalloc-5.3-4-threads', 4, 4711, 0.88],
  ])('%s has the addresses of the trace', (name, places, blocks, share) => {
    const all = distances(recording(name), {})
    expect(all.reduce((sum, n) => sum + n, 0)).toBe(blocks)
    expect(all.slice(0, places).reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(share * blocks)
  })

  // This trace begins in the middle of a process, whose runs are not known.
  test('few blocks of systemui have those of the trace', { tags: ['corpus', 'slow'] }, () => {
    const all = distances(corpusPath('memory-replay/systemui.txt.gz'), { jemalloc: '3', bits: 32 })
    expect(all.reduce((sum, n) => sum + n, 0)).toBe(421_234)
    expect(all[0]).toBeGreaterThan(8000)
  })
})
