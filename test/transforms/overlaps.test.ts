import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EventBatch } from '../../lib/event/batch.js'
import type { TraceEvent } from '../../lib/event/trace-event.js'
import { Filter } from '../../lib/transforms/filter.js'
import { PartMerger } from '../../lib/transforms/merge-parts.js'
import { Partitioner, type PartitionOptions } from '../../lib/transforms/split.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { drive } from '../support/drive.js'
import { runs } from '../support/runs.js'
import { blockEvents, HEADER, inBatches, spacedEvents } from './events.js'

/** A block of one thread ends where one of another thread begins: its free is missing. */
const OVERLAP: TraceEvent[] = [
  { kind: 'alloc', thread: 1n, time: 5n, address: 0x10n, size: 100n, stack: ['f'] },
  { kind: 'alloc', thread: 2n, time: 7n, cpu: 3, api: 'malloc', address: 0x10n, size: 8n, stack: ['g'], weight: 2n },
  { kind: 'free', thread: 2n, time: 9n, address: 0x10n },
]
const FREE: TraceEvent = { kind: 'free', thread: 2n, time: 7n, cpu: 3, address: 0x10n }
const WARNING = '1 block ended without a free, where another one begins: a free is written for each'

function statisticsOf(batches: Iterable<EventBatch>) {
  const collector = new StatisticsCollector()
  for (const batch of batches) collector.add(batch)
  return collector.finish()
}

function partsOf(options: PartitionOptions, batches: Iterable<EventBatch>) {
  const partitioner = new Partitioner(options)
  const parts = new Map<string, EventBatch[]>()
  for (const batch of batches) {
    for (const { key, batch: part } of partitioner.partition(batch)) parts.set(key, [...(parts.get(key) ?? []), part])
  }
  for (const { key, batch } of partitioner.end()) parts.set(key, [...(parts.get(key) ?? []), batch])
  return { parts, warnings: partitioner.warnings }
}

describe('a block that ends where another one begins', () => {
  test.each([1, 2, 10])('ends with a free in a filter that keeps only the first, in batches of %i', (size) => {
    const filter = new Filter({ size: { from: 50n }, lifetimes: true })
    const { out } = drive(filter, inBatches(OVERLAP, size, HEADER))
    expect(out.flatMap((batch) => [...batch])).toEqual([OVERLAP[0], FREE])
    expect(filter.warnings).toEqual([WARNING])
    expect(statisticsOf(out)).toMatchObject({ filtered: false, leaked: { blocks: 0 } })
  })

  test('is an overlap where both are kept, and nothing where it is not', () => {
    for (const [options, kept] of [
      [{ thread: [1, 2] }, OVERLAP],
      [{ thread: 2 }, OVERLAP.slice(1)],
    ] as const) {
      const filter = new Filter({ ...options, lifetimes: true })
      const { out } = drive(filter, inBatches(OVERLAP, 10, HEADER))
      expect(out.flatMap((batch) => [...batch])).toEqual(kept)
      expect(filter.warnings).toEqual([])
    }
  })

  test('ends with a free where a realloc that is not kept moves another block there', () => {
    const kept: TraceEvent[] = [
      { kind: 'alloc', thread: 1n, address: 0x10n, size: 100n },
      // A realloc may come after the allocation within it.
      { kind: 'alloc', thread: 1n, address: 0x30n, size: 100n },
    ]
    const events: TraceEvent[] = [
      ...kept,
      { kind: 'alloc', thread: 2n, address: 0x20n, size: 8n },
      { kind: 'realloc', thread: 2n, api: 'realloc', oldAddress: 0x20n, address: 0x10n, size: 9n, outcome: 'moved' },
    ]
    const { out } = drive(new Filter({ thread: 1, lifetimes: true }), inBatches(events, 10, HEADER))
    expect(out.flatMap((batch) => [...batch])).toEqual([...kept, { kind: 'free', thread: 2n, address: 0x10n }])
  })

  test('ends with a free in its part', () => {
    const { parts, warnings } = partsOf({ by: 'thread', lifetimes: true }, inBatches(OVERLAP, 10, HEADER))
    expect([...parts.values()].map((batches) => batches.flatMap((batch) => [...batch]))).toEqual([
      [OVERLAP[0], FREE],
      OVERLAP.slice(1),
    ])
    expect(warnings).toEqual([WARNING])
  })

  const ways = fc.constantFrom<PartitionOptions>(
    { by: 'thread', lifetimes: true },
    { by: 'size-class', lifetimes: true },
    { by: 'kind', lifetimes: true },
    { by: 'shard', shards: 3 },
  )
  const size = fc.integer({ min: 1, max: 90 })

  test('leaks in no part', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(fc.oneof(blockEvents, spacedEvents), ways, size, (events, options, n) => {
        const whole = statisticsOf(inBatches(events, n, HEADER))
        const { parts } = partsOf(options, inBatches(events, n, HEADER))
        const all = [...parts.values()].map(statisticsOf)
        const leaked = all.reduce((sum, one) => sum + one.leaked.blocks, 0)
        expect(leaked).toBe(whole.leaked.blocks)
      }),
      { numRuns: runs(1000) },
    )
  })

  test('is as before when numbered parts are merged', () => {
    fc.assert(
      fc.property(fc.oneof(blockEvents, spacedEvents), ways, size, (events, options, n) => {
        const { parts } = partsOf({ ...options, number: true }, inBatches(events, n, HEADER))
        const inputs = [...parts.values()]
        const merger = new PartMerger(inputs.length)
        inputs.forEach((batches, part) => {
          for (const batch of batches) merger.feed(part, batch)
          merger.end(part)
        })
        const merged: TraceEvent[] = []
        for (let batch = merger.next(); batch !== null; batch = merger.next()) merged.push(...batch)
        expect(merged).toEqual(events)
        expect(merger.warnings).toEqual([])
      }),
      { numRuns: runs(1000) },
    )
  })
})
