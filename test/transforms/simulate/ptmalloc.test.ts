import { createReadStream } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { AllocatorReplay, Prediction } from '../../../lib/allocators/replay.js'
import { batchesOf, type EventBatch } from '../../../lib/event/batch.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { decodeAny } from '../../../lib/streams/decode.js'
import { decompress } from '../../../lib/streams/decompress.js'
import type { SimulateOptions } from '../../../lib/transforms/simulate/policies.js'
import { Simulator } from '../../../lib/transforms/simulate/simulator.js'
import type { SimulationResult } from '../../../lib/transforms/simulate/result.js'
import { corpusPath } from '../../support/corpus.js'

/** The events of batches with their simulated addresses, and the figures. */
function placed(
  batches: Iterable<EventBatch>,
  options: Partial<SimulateOptions> = {},
): { events: TraceEvent[]; result: SimulationResult } {
  const simulator = new Simulator({ policy: 'ptmalloc', ...options })
  const events: TraceEvent[] = []
  try {
    for (const batch of batches) {
      simulator.feed(batch)
      for (let next = simulator.next(); next !== null; next = simulator.next()) events.push(...next)
    }
    return { events, result: simulator.results()[0] }
  } finally {
    simulator.dispose()
  }
}

async function batchesOfFile(path: string): Promise<EventBatch[]> {
  const batches: EventBatch[] = []
  for await (const batch of createReadStream(path).pipe(decompress()).pipe(decodeAny({ path })))
    batches.push(batch as EventBatch)
  return batches
}

/** Of each distance between the address of a trace and the simulated one, the number of blocks, the most first. */
function distances(batches: readonly EventBatch[], glibc: string): [bigint, number][] {
  const counts = new Map<bigint, number>()
  const { events } = placed(batches, { glibc })
  let i = 0
  for (const batch of batches)
    for (const { kind, address = 0n } of batch) {
      const simulated = events[i++]!.address ?? 0n
      if ((kind !== 'alloc' && kind !== 'realloc') || address === 0n) continue
      const distance = address - simulated
      counts.set(distance, (counts.get(distance) ?? 0) + 1)
    }
  return [...counts].toSorted(([, a], [, b]) => b - a)
}

const alloc = (address: bigint, size: bigint, more: object = {}): TraceEvent => ({
  kind: 'alloc',
  address,
  size,
  ...more,
})

describe('ptmalloc as a policy', () => {
  test('caches what a thread frees, splits the last chunk, and maps large blocks', () => {
    const { events, result } = placed(
      batchesOf([
        alloc(1n, 24n),
        alloc(2n, 24n),
        { kind: 'free', address: 1n },
        alloc(3n, 20n),
        alloc(4n, 200_000n),
        { kind: 'free', address: 4n },
      ]),
    )
    const [first, second, , third, large] = events.map(({ address = 0n }) => address)
    // The cache of the thread is the first chunk of the heap.
    expect(first! & 0xfffn).toBe(0x2a0n)
    expect([second! - first!, third]).toEqual([32n, first])
    expect([large! & 0xfffn, large! > first! + 2n ** 40n]).toEqual([0x10n, true])
    // 132 KiB of the heap, and 200,000 bytes with a header in whole pages, which are the block's.
    expect(result.largestHeap).toMatchObject({ event: 5, granted: 64 + 200_704, heap: 135_168 + 200_704 })
    expect(result.timeline.at(-1)).toMatchObject({ blocks: 2, heap: 135_168 })
  })

  test('other threads have arenas, and their blocks go back there', () => {
    const { events } = placed(
      batchesOf([
        alloc(1n, 2000n, { thread: 1n }),
        alloc(2n, 2000n, { thread: 2n }),
        { kind: 'free', thread: 1n, address: 2n },
        alloc(3n, 2000n, { thread: 2n }),
        { kind: 'thread-destroy', thread: 2n },
        alloc(4n, 2000n, { thread: 3n }),
      ]),
    )
    const [first, second, , third, , fourth] = events.map(({ address = 0n }) => address)
    expect([second! >> 26n === first! >> 26n, third! >> 26n === second! >> 26n]).toEqual([false, true])
    // A new thread takes the arena of one that has ended.
    expect(fourth! >> 26n).toBe(second! >> 26n)
  })

  test('comments and other events before the first block take no arena', () => {
    const blocks = [alloc(1n, 24n, { thread: 7n }), alloc(2n, 24n, { thread: 8n })]
    const others: TraceEvent[] = [
      { kind: 'comment', text: 'module' },
      { kind: 'other', code: 82, present: 4096n },
      { kind: 'comment', thread: 9n, text: 'thread name' },
    ]
    const of = (events: TraceEvent[]) => placed(batchesOf(events)).events.flatMap(({ address }) => address ?? [])
    expect(of([...others, ...blocks])).toEqual(of(blocks))
  })

  test('keeps nothing in caches without them', () => {
    const places = (options: Partial<SimulateOptions>) => {
      const calls = [alloc(1n, 600n), alloc(2n, 600n), { kind: 'free', address: 1n } as const, alloc(3n, 100n)]
      const [first, , , third] = placed(batchesOf(calls), options).events
      return third!.address === first!.address
    }
    // A chunk in a cache is not divided.
    expect([places({}), places({ tcache: 'off' }), places({ glibc: '2.25' })]).toEqual([false, true, true])
    expect(places({ glibc: '2.25', tcache: 'off' })).toBe(true)
    expect(() => placed([], { glibc: '2.25', tcache: 'on' })).toThrow(/threads of glibc 2\.25 have no caches/)
  })

  test.each(['ptmalloc', 'jemalloc'] as const)('%s: threads of other processes that end take no caches', (policy) => {
    const calls = (process: object): TraceEvent[] => [
      alloc(1n, 24n, { process: 1n, thread: 7n }),
      alloc(2n, 24n, { process: 1n, thread: 7n }),
      { kind: 'free', process: 1n, thread: 7n, address: 1n },
      { kind: 'free', process: 1n, thread: 7n, address: 2n },
      { kind: 'thread-destroy', thread: 7n, ...process },
      alloc(3n, 24n, { process: 1n, thread: 7n }),
    ]
    /** Which block's place the last one has: a cache gives what was freed last, and else the first place is taken. */
    const taken = (process: object) => {
      const { events } = placed(batchesOf(calls(process)), { policy })
      return events.findIndex(({ address }) => address === events.at(-1)!.address)
    }
    expect([taken({ process: 2n }), taken({}), taken({ process: 1n })]).toEqual([1, 1, 0])
  })

  test('says why a block has no room', () => {
    const reason = (...calls: TraceEvent[]) => {
      try {
        placed(batchesOf(calls))
        return ''
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(reason(alloc(1n, 8n, { alignment: 1n << 26n }))).toBe('')
    expect(reason(alloc(1n, 8n, { alignment: 1n << 27n }))).toMatch(/alignments of up to 2\^26$/)
    expect(reason(alloc(1n, 8n, { alignment: 1n << 40n }))).toMatch(/alignments of up to 2\^26$/)
    expect(reason(alloc(1n, 1n << 46n))).toMatch(/more than 2\^45 bytes$/)
    expect(reason(alloc(1n, 1n << 44n), alloc(2n, 1n << 44n), alloc(3n, 1n << 44n))).toMatch(/more than 2\^45 bytes$/)
  })

  test.each([
    ['2.36', '2.41'],
    ['2.25', '2.26'],
  ])('glibc %s and %s differ', (one, other) => {
    const random = (i: number) => (Math.imul(i, 0x9e37_79b1) >>> 8) % 700
    const calls = Array.from({ length: 600 }, (_, i): TraceEvent[] => [
      alloc(BigInt(i + 1), BigInt(random(i)), { api: i % 3 === 0 ? 'calloc' : 'malloc' }),
      ...(i > 40 && i % 2 === 0 ? [{ kind: 'free', address: BigInt(i - 39) } as const] : []),
    ]).flat()
    const of = (glibc: string) => placed(batchesOf(calls), { glibc }).events.map(({ address }) => address)
    expect(of(one)).not.toEqual(of(other))
    expect(of(one)).toEqual(of(one))
  })

  test('is simulated for one process, and pages or objects of a kernel', () => {
    const calls = [1n, 2n].map((process) => alloc(16n * process, 8n, { process }))
    const reason = /simulated for one process, .*: hf-filter --process or --api keeps one$/
    expect(() => placed(batchesOf(calls))).toThrow(reason)
    const kernel = (['pages', 'kmalloc'] as const).map((api) => alloc(16n, 8n, { api }))
    expect(() => placed(batchesOf(kernel))).toThrow(reason)
    expect(placed(batchesOf(calls.slice(0, 1))).events).toHaveLength(1)
  })

  test('a real trace of one thread has the distances that it has in the simulation', async () => {
    const path = fileURLToPath(new URL('../../fixtures/replay/mstress-head.txt.gz', import.meta.url))
    const batches = await batchesOfFile(path)
    const replay = new AllocatorReplay({ allocator: 'ptmalloc', version: 36, bits: 64 })
    let wrong = 0
    for (const batch of batches)
      replay.add(batch, (_, results) => {
        wrong += results.filter((result) => result === Prediction.wrong).length
      })
    replay.dispose()
    // The heaps of threads, and mappings, are where the kernel put them: each has a distance of its own.
    const all = distances(batches, '2.36')
    expect(all.length).toBeLessThanOrEqual(wrong + 1)
    expect(all[0]![1] / all.reduce((sum, [, n]) => sum + n, 0)).toBeGreaterThan(0.5)
  })

  // Recorded under glibc 2.36, with one thread: the heap and the area for mappings are each at one random place.
  test.each([
    ['twolf-map9v3', 1, 222_527],
    ['git', 4, 148_047],
    ['python', 2, 655_849],
  ])('%s has the addresses of the trace', { tags: ['corpus', 'slow'] }, async (name, places, inHeap) => {
    const all = distances(await batchesOfFile(corpusPath(`memory-replay/${name}.txt.gz`)), '2.36')
    expect(all.length).toBeLessThanOrEqual(places)
    expect(all[0]![1]).toBe(inHeap)
  })
})
