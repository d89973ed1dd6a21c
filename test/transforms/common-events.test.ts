import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { PartMerger } from '../../lib/transforms/merge-parts.js'
import { Partitioner, type PartitionOptions } from '../../lib/transforms/split.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { runs } from '../support/runs.js'
import { stopwatch } from '../support/stopwatch.js'
import { eventsOf, HEADER, inBatches } from './events.js'
import { merge, partsOf } from './parts.js'

const thread = fc.bigInt({ min: 1n, max: 6n })
const address = fc.bigInt({ min: 1n, max: 9n }).map((n) => n * 4096n)
const event: fc.Arbitrary<TraceEvent> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('alloc'), thread, address, size: fc.constant(64n) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('free'), thread, address }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lost'), count: fc.constant(3n) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lost'), thread }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'other', code: 69 } as const) },
) as fc.Arbitrary<TraceEvent>
const traces = fc.array(fc.array(event, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 3 })
const options: fc.Arbitrary<PartitionOptions> = fc
  .record({
    by: fc.constantFrom('thread', 'kind', 'shard', 'size-class', 'process'),
    lifetimes: fc.boolean(),
    number: fc.boolean(),
  })
  .map((some) => ({ ...some, ...(some.by === 'shard' && { shards: 3 }) }))

const isEarlyEnd = (one: TraceEvent) => one.kind === 'other'

test('every part of a trace has what concerns all of them, and no more often than other events', () => {
  fc.assert(
    fc.property(traces, options, fc.integer({ min: 1, max: 30 }), (all, given, size) => {
      // A thread's own are in its part only.
      const isLost = (one: TraceEvent) => one.kind === 'lost' && (given.by !== 'thread' || one.thread === undefined)
      const stream = all.flatMap((events, i) =>
        inBatches(events, size, { format: 'recorder', layout: { trace: i } } as const),
      )
      const parts = partsOf(stream, given)
      for (const batches of parts.values()) {
        const found = new Map<number, TraceEvent[]>()
        for (const batch of batches) {
          const trace = batch.header.layout?.['trace'] as number
          found.set(trace, [...(found.get(trace) ?? []), ...batch])
        }
        for (const [trace, events] of found)
          for (const is of [isLost, isEarlyEnd]) {
            const whole = all[trace] as TraceEvent[]
            expect(events.some(is)).toBe(whole.some(is))
            const copies = events.filter(is).length
            expect(copies).toBeLessThanOrEqual(Math.max(whole.filter(is).length, 1))
          }
      }
      if (given.number !== true) return
      const merger = new PartMerger(parts.size)
      const merged = merge(merger, [...parts.values()])
      expect(merger.warnings).toEqual([])
      expect(eventsOf(merged)).toEqual(all.flat())
    }),
    { numRuns: runs(2000) },
  )
})

test('parts do not depend on batches', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), options, fc.integer({ min: 1, max: 9 }), (events, given, size) => {
      const header = { format: 'recorder' } as const
      const parts = (n: number) =>
        [...partsOf(inBatches(events, n, header), given)].map(([key, batches]) => [key, eventsOf(batches)])
      expect(parts(size)).toEqual(parts(50))
    }),
    { numRuns: runs(2000) },
  )
})

test('copies are few, however many events are lost', () => {
  const events = Array.from({ length: 20_000 }, (_, i): TraceEvent =>
    i < 5000 ? { kind: 'alloc', thread: BigInt(i), address: BigInt(i + 1) * 16n, size: 8n } : { kind: 'lost' },
  )
  const parts = partsOf(inBatches(events, 1000, { format: 'test' }), { by: 'thread' })
  const written = [...parts.values()].flat().reduce((sum, { count }) => sum + count, 0)
  expect(written).toBe(25_000)
})

test('many parts take no longer in many small batches', { tags: ['slow'] }, () => {
  const [keys, marks] = [60_000, 20_000]
  const partitioner = new Partitioner({ by: 'thread' })
  let written = 0
  const take = (events: readonly TraceEvent[]) => {
    for (const batch of inBatches(events, 4096, HEADER))
      for (const { batch: part } of partitioner.partition(batch)) written += part.count
  }
  take(Array.from({ length: keys }, (_, i) => ({ kind: 'alloc', thread: BigInt(i), address: BigInt(i + 1), size: 8n })))
  const time = stopwatch()
  for (let i = 0; i < marks; i++) take([{ kind: 'lost' }])
  // The part of events without a thread, and a copy for each other part.
  expect(written).toBe(keys + marks + keys)
  expect(time()).toBeLessThan(10_000)
})

test('the figures of a part are not known where those of the trace are not', () => {
  const events: TraceEvent[] = [
    { kind: 'alloc', address: 0x10n, size: 8n, thread: 1n },
    { kind: 'lost' },
    { kind: 'free', address: 0x10n, thread: 1n },
    { kind: 'alloc', address: 0x20n, size: 8n, thread: 2n },
    { kind: 'other', code: 69 },
  ]
  for (const by of ['thread', 'kind', 'shard'] as const)
    for (const [key, batches] of partsOf(inBatches(events, 2, { format: 'recorder' }), { by })) {
      const collector = new StatisticsCollector()
      for (const batch of batches) collector.add(batch)
      const { kinds, endsEarly } = collector.finish()
      expect([key, kinds.lost, endsEarly]).toEqual([key, 1, true])
    }
})
