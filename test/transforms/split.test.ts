import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BATCH_EVENTS, EventBatch, batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import { PARTITIONS } from '../../lib/transforms/option-values.js'
import { Partitioner, type PartitionOptions } from '../../lib/transforms/split.js'
import { HEADER, anyEvent, blockEvents, eventsOf, inBatches, placedEvents, spacedEvents } from './events.js'
import { asFree, follow, overlapped } from './oracle.js'

function parts(options: PartitionOptions, batches: Iterable<EventBatch>): Map<string, TraceEvent[]> {
  const partitioner = new Partitioner(options)
  const all = new Map<string, TraceEvent[]>()
  for (const batch of batches) {
    for (const { key, batch: part } of partitioner.partition(batch)) {
      expect(part.count).toBeGreaterThan(0)
      expect(part.header).toMatchObject({ ...batch.header, part: { trace: 1 } })
      all.set(key, [...(all.get(key) ?? []), ...part])
    }
  }
  return all
}

/** The parts of events, with frees in those whose blocks end where others begin. */
function partsWithFrees(
  events: readonly TraceEvent[],
  keys: readonly (string | undefined)[],
  over: readonly (string | undefined)[],
): Map<string, TraceEvent[]> {
  const groups = new Map<string, TraceEvent[]>()
  const add = (key: string, event: TraceEvent) => groups.set(key, [...(groups.get(key) ?? []), event])
  events.forEach((event, i) => {
    add(keys[i] as string, event)
    if (over[i] !== undefined) add(over[i], asFree(event))
  })
  return groups
}

/** The parts that have each event: the ends of processes are where these allocated. */
function keysOf(by: Exclude<PartitionOptions['by'], 'shard'>, events: readonly TraceEvent[]): string[][] {
  const allocated = new Map<bigint | undefined, Set<string>>()
  return events.map((event) => {
    const own = keyOf(by, event)
    if (by === 'kind') return [own]
    const found = allocated.get(event.process) ?? new Set()
    allocated.set(event.process, found)
    if (['alloc', 'realloc', 'existing'].includes(event.kind)) found.add(own)
    if (event.kind !== 'process-end' || found.size === 0) return [own]
    allocated.delete(event.process)
    return [...found]
  })
}

function keyOf(by: Exclude<PartitionOptions['by'], 'shard'>, event: TraceEvent): string {
  if (by === 'heap') return event.heap === undefined ? 'none' : `0x${event.heap.toString(16)}`
  if (by !== 'size-class') return String(event[by] ?? 'none')
  if (event.size === undefined) return 'none'
  let power = event.size === 0n ? 0n : 1n
  while (power < event.size) power *= 2n
  return String(power)
}

/** Lost events are in several parts: see common-events.test.ts. */
function withoutLost(all: Map<string, TraceEvent[]>): Map<string, TraceEvent[]> {
  return new Map([...all].map(([key, events]) => [key, events.filter(({ kind }) => kind !== 'lost')]))
}

const ways = PARTITIONS.filter((by) => by !== 'shard')

describe('Partitioner', () => {
  it.each(ways)('divides by %s as a grouping of plain events does', (by) => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), fc.integer({ min: 1, max: 50 }), (events, size) => {
        const expected = new Map<string, TraceEvent[]>()
        for (const [i, keys] of keysOf(by, events).entries())
          for (const key of keys) expected.set(key, [...(expected.get(key) ?? []), events[i] as TraceEvent])
        expect(withoutLost(parts({ by }, inBatches(events, size, HEADER)))).toEqual(withoutLost(expected))
      }),
    )
  })

  it.each(ways)('divides by %s of the allocation with lifetimes', (by) => {
    fc.assert(
      fc.property(fc.oneof(blockEvents, spacedEvents), fc.integer({ min: 1, max: 90 }), (events, size) => {
        const keys = follow(events, (event) => keyOf(by, event))
        const over = overlapped(events, (event) => keyOf(by, event))
        const divided = parts({ by, lifetimes: true }, inBatches(events, size, HEADER))
        expect(withoutLost(divided)).toEqual(withoutLost(partsWithFrees(events, keys, over)))
      }),
    )
  })

  it('takes sizes at powers of two to the class below', () => {
    const sizes = [
      0n,
      1n,
      2n,
      3n,
      4n,
      5n,
      2n ** 32n - 1n,
      2n ** 32n,
      2n ** 32n + 1n,
      2n ** 63n,
      2n ** 63n + 1n,
      2n ** 64n - 1n,
    ]
    const events = sizes.map((size): TraceEvent => ({ kind: 'alloc', size }))
    const keys = [...parts({ by: 'size-class' }, inBatches(events, 99, HEADER)).keys()]
    expect(keys).toEqual(['0', '1', '2', '4', '8', '4294967296', '8589934592', `${2n ** 63n}`, `${2n ** 64n}`])
  })

  it('keeps all events of a block in one shard', () => {
    fc.assert(
      fc.property(
        fc.oneof(blockEvents, placedEvents),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 90 }),
        (events, shards, size) => {
          // Which shard a block begins in is the partitioner's choice. It is asked with each event alone, after events
          // without a block that number the processes in the same order.
          const processes = [...new Set(events.flatMap(({ process }) => process ?? []))]
          const before = processes.map((process): TraceEvent => ({ kind: 'free', process, address: 0n }))
          const alone = (event: TraceEvent) => {
            const batches = inBatches([...before, event], 1, HEADER)
            const partitioner = new Partitioner({ by: 'shard', shards })
            return batches.flatMap((batch) => [...partitioner.partition(batch)]).at(-1)?.key
          }
          const keys = follow(events, alone)
          const over = overlapped(events, alone)
          const divided = parts({ by: 'shard', shards }, inBatches(events, size, HEADER))
          expect(divided).toEqual(partsWithFrees(events, keys, over))
          for (const key of divided.keys()) expect(key === 'none' || Number(key) < shards).toBe(true)
        },
      ),
    )
  })

  it('spreads blocks evenly over the shards', () => {
    const addresses = Array.from({ length: 8000 }, (_, i) => 0x5555_0000_0000n + BigInt(i) * 32n)
    const events = addresses.map((address): TraceEvent => ({ kind: 'alloc', address }))
    const sizes = [...parts({ by: 'shard', shards: 8 }, batchesOf(events, HEADER)).values()].map(({ length }) => length)
    expect(sizes).toHaveLength(8)
    for (const size of sizes) expect(Math.abs(size - 1000)).toBeLessThan(200)
  })

  it('has no parts for a batch without events', () => {
    expect([...new Partitioner({ by: 'thread' }).partition(new EventBatch(0, 0, HEADER))]).toEqual([])
  })

  it('divides batches at capacity into many parts', { tags: ['slow'] }, () => {
    const numbers = Array.from({ length: BATCH_EVENTS * 2 }, (_, i) => i)
    const events = numbers.map((i): TraceEvent => ({
      kind: 'alloc',
      thread: BigInt((i * 7919) % 5000),
      size: BigInt(i),
    }))
    const divided = parts({ by: 'thread' }, batchesOf(events, HEADER))
    expect(divided.size).toBe(5000)
    const keys = events.map(({ thread }) => String(thread))
    expect(divided).toEqual(partsWithFrees(events, keys, []))
  })

  it('refuses what it cannot divide by', () => {
    expect(() => new Partitioner({ by: 'line' as 'kind' })).toThrow("cannot divide by 'line'")
    expect(() => new Partitioner({ by: 'thread', shards: 2 })).toThrow(/^split: shards needs by: 'shard'$/)
    for (const shards of [0, 1.5, 65_537]) expect(() => new Partitioner({ by: 'shard', shards })).toThrow(RangeError)
  })

  it('leaves the batches it is given as they were', () => {
    const input = inBatches(
      [
        { kind: 'alloc', thread: 1n, function: 'f' },
        { kind: 'free', thread: 2n },
      ],
      2,
      HEADER,
    )
    const before = eventsOf(input)
    parts({ by: 'thread' }, input)
    expect(eventsOf(input)).toEqual(before)
  })
})
