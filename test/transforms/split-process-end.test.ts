import { expect, test } from 'vitest'
import { EventBatch } from '../../lib/event/batch.js'
import type { TraceEvent } from '../../lib/event/trace-event.js'
import { PartMerger } from '../../lib/transforms/merge-parts.js'
import { Partitioner, type PartitionOptions } from '../../lib/transforms/split.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'

const HEADER = { format: 'ndjson', timeUnit: 'ns' } as const

function batchOf(events: readonly TraceEvent[]): EventBatch {
  const batch = new EventBatch(events.length, 0, HEADER)
  for (const event of events) batch.push(event)
  return batch
}

/** 40 blocks of two threads in each of two processes; the second one ends, and its number comes again. */
function* program(): Generator<TraceEvent> {
  for (let i = 1n; i <= 40n; i++) {
    yield { kind: 'alloc', process: 1n, thread: i % 2n, address: 4096n * i, size: i }
    yield { kind: 'alloc', process: 2n, thread: 2n + (i % 2n), address: 4096n * i, size: 100n * i }
  }
  yield { kind: 'process-end', process: 2n }
  yield { kind: 'process-end', process: 3n }
  yield { kind: 'alloc', process: 2n, thread: 2n, address: 4096n, size: 7n }
  yield { kind: 'process-end', process: 1n }
  yield { kind: 'free', process: 2n, thread: 2n, address: 4096n }
}
const EVENTS = [...program()]

function partsOf(options: PartitionOptions): Map<string, EventBatch[]> {
  const partitioner = new Partitioner(options)
  const parts = new Map<string, EventBatch[]>()
  for (let from = 0; from < EVENTS.length; from += 50) {
    for (const { key, batch } of partitioner.partition(batchOf(EVENTS.slice(from, from + 50))))
      parts.set(key, [...(parts.get(key) ?? []), batch])
  }
  return parts
}

/** Bytes live at the end of a trace, as its timeline has them, and bytes that were not freed. */
function figures(batches: Iterable<EventBatch>): readonly [bigint | undefined, bigint] {
  const collector = new StatisticsCollector()
  for (const batch of batches) collector.add(batch)
  const { timeline, leaked } = collector.finish()
  return [timeline.at(-1)?.live.bytes, leaked.bytes]
}

test.each<PartitionOptions>([
  { by: 'shard', shards: 7 },
  { by: 'thread', lifetimes: true },
  { by: 'size-class', lifetimes: true },
  { by: 'kind', lifetimes: true },
  { by: 'process', lifetimes: true },
  { by: 'thread' },
  { by: 'process' },
  { by: 'cpu' },
])('the end of a process ends its blocks in every part of $by', (options) => {
  const parts = [...partsOf(options).values()].map(figures)
  expect(parts.map(([live]) => live)).toEqual(parts.map(() => 0n))
  expect(parts.reduce((sum, [, leaked]) => sum + leaked, 0n)).toBe(82_820n)
})

test.each<PartitionOptions>([
  { by: 'shard', shards: 7, number: true },
  { by: 'thread', lifetimes: true, number: true },
  { by: 'cpu', lifetimes: true, number: true },
  { by: 'thread', number: true },
  { by: 'size-class', number: true },
  { by: 'kind', number: true },
])('numbered parts of $by merge into the trace as it was', (options) => {
  const parts = [...partsOf(options).values()]
  const merger = new PartMerger(parts.length)
  parts.forEach((batches, part) => {
    for (const batch of batches) merger.feed(part, batch)
    merger.end(part)
  })
  const merged: TraceEvent[] = []
  for (let batch = merger.next(); batch !== null; batch = merger.next()) merged.push(...batch)
  expect(merged).toEqual(EVENTS)
  expect(merger.warnings).toEqual([])
})

test('without lifetimes, the end of a process goes where the process allocated since it began', () => {
  const ends = (options: PartitionOptions) =>
    Object.fromEntries(
      [...partsOf(options)].map(([key, batches]) => {
        const all = batches.flatMap((batch) => [...batch])
        return [key, all.filter(({ kind }) => kind === 'process-end').map(({ process }) => process)]
      }),
    )
  expect(ends({ by: 'thread' })).toEqual({ 0: [1n], 1: [1n], 2: [2n], 3: [2n], none: [3n] })
  expect(ends({ by: 'kind' })).toEqual({ alloc: [], free: [], 'process-end': [2n, 3n, 1n] })
  expect(ends({ by: 'process' })).toEqual({ 1: [1n], 2: [2n], 3: [3n] })
})
