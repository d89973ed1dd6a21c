import { expect, test } from 'vitest'
import { EventBatch } from '../../lib/event/batch.js'
import type { TraceEvent } from '../../lib/event/trace-event.js'
import { BlockTable } from '../../lib/transforms/block-table/block-table.js'
import { Filter } from '../../lib/transforms/filter.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { Verifier } from '../../lib/transforms/verify.js'
import { blockRows } from '../support/block-rows.js'
import { drive } from '../support/drive.js'

function batchOf(events: readonly TraceEvent[]): EventBatch {
  const batch = new EventBatch(Math.max(1, events.length), 0, { format: 'ndjson', timeUnit: 'ns' })
  for (const event of events) batch.push(event)
  return batch
}

const block = (process: bigint | undefined, address: bigint, size: bigint, time: bigint): TraceEvent => ({
  kind: 'alloc',
  ...(process !== undefined && { process }),
  thread: 1n,
  address,
  size,
  time,
})

/** The first process lives on; the second one ends with two blocks, and another one gets its number. */
const EVENTS: TraceEvent[] = [
  block(undefined, 0x1000n, 100n, 1n),
  block(2n, 0x1000n, 200n, 2n),
  block(2n, 0x2000n, 300n, 3n),
  { kind: 'process-end', process: 2n, time: 10n },
  block(2n, 0x1000n, 50n, 11n),
  { kind: 'process-end', process: 7n, time: 12n },
  { kind: 'free', process: 2n, thread: 1n, address: 0x2000n, time: 13n },
  { kind: 'free', thread: 1n, address: 0x1000n, time: 14n },
]

test('blocks of a process that ends are live no more, and leaked', () => {
  const collector = new StatisticsCollector()
  collector.add(batchOf(EVENTS))
  const { leaked, freed, peakBytes, timeline, faults, threads, lifetimes } = collector.finish()
  expect(leaked).toEqual({ blocks: 3, bytes: 550n })
  expect(freed).toEqual({ blocks: 1, bytes: 100n })
  expect(peakBytes).toMatchObject({ bytes: 600n, event: 3 })
  expect(timeline.map(({ live }) => live.bytes)).toEqual([100n, 300n, 600n, 100n, 150n, 150n, 150n, 50n])
  // It was not freed before: its process ended.
  expect(faults).toMatchObject({ unknownFrees: 1, doubleFrees: 0, overlaps: { blocks: 0 } })
  expect(threads.map(({ leaked: own }) => own.bytes).toSorted()).toEqual([0n, 0n, 0n, 550n])
  expect(lifetimes.events.count).toBe(1)
})

test('without a process, the end is about events without one', () => {
  const collector = new StatisticsCollector()
  collector.add(batchOf([...EVENTS.slice(0, 3), { kind: 'process-end', time: 4n }, ...EVENTS.slice(7)]))
  const { leaked, timeline, faults } = collector.finish()
  expect(timeline.map(({ live }) => live.bytes)).toEqual([100n, 300n, 600n, 500n, 500n])
  expect([leaked.bytes, faults.unknownFrees]).toEqual([600n, 1])
})

test('blocks known by their index are those of the process of their event', () => {
  const collector = new StatisticsCollector()
  const indexed = EVENTS.slice(0, 4).map((event, i) => ({ ...event, index: BigInt(i + 1) }) as TraceEvent)
  delete (indexed[3] as { index?: bigint }).index
  collector.add(batchOf(indexed))
  const { leaked, timeline } = collector.finish()
  expect([leaked.bytes, timeline.at(-1)?.live.bytes]).toEqual([600n, 100n])
})

test('rows of blocks have the end of their process, and the ending of blocks that are never freed', () => {
  const table = new BlockTable()
  table.feed(batchOf(EVENTS))
  const rows = table.next()
  const ended = Array.from({ length: rows?.count ?? 0 }, (_, i) => rows?.row(i)).filter((row) => row?.until === 4n)
  expect(ended.map((row) => [row?.size, row?.ending, row?.endTime, row?.lifetimeEvents])).toEqual(
    expect.arrayContaining([
      [200n, 'live', 10n, undefined],
      [300n, 'live', 10n, undefined],
    ]),
  )
  expect(ended).toHaveLength(2)
})

test('a process with more blocks than rows are written at a time', { tags: ['slow'] }, () => {
  const many = Array.from({ length: 20_000 }, (_, i) => block(3n, BigInt(16 * i + 16), 1n, 1n))
  const events = [...many, { kind: 'process-end', process: 3n } as TraceEvent, block(3n, 16n, 5n, 2n)]
  const sizes = blockRows([batchOf(events)]).map(({ until }) => until)
  expect(sizes.filter((until) => until === 20_001n)).toHaveLength(20_000)
  expect(sizes).toHaveLength(20_001)
})

test('a filter that keeps lifetimes keeps the ends of processes with blocks that it keeps', () => {
  const kept = (options: object) =>
    drive(new Filter(options), [batchOf(EVENTS)]).out.flatMap((batch) => [...batch].map(({ kind }) => kind))
  expect(kept({ size: { from: 300n }, lifetimes: true })).toEqual(['alloc', 'process-end'])
  expect(kept({ size: { to: 100n }, lifetimes: true })).toEqual(['alloc', 'alloc', 'free'])
})

test('what another process of the number does is no fault', () => {
  const verifier = new Verifier()
  verifier.check(batchOf([...EVENTS.slice(0, 6), EVENTS[7]]))
  expect([...verifier.counts]).toEqual([])
})

/** A child frees what it has from its parent, as recorders write it. */
const INHERITED: TraceEvent[] = [
  { kind: 'alloc', process: 2n, thread: 1n, address: 0x100n, size: 1n, time: 1n },
  { kind: 'existing', process: 2n, thread: 1n, address: 0x1000n, size: 100n, time: 2n },
  { kind: 'free', process: 2n, thread: 1n, address: 0x1000n, time: 2n },
  { kind: 'existing', process: 2n, thread: 1n, address: 0x2000n, size: 200n, time: 3n },
  { kind: 'realloc', process: 2n, thread: 1n, oldAddress: 0x2000n, address: 0x3000n, size: 300n, time: 3n },
  { kind: 'free', process: 2n, thread: 1n, address: 0x3000n, time: 9n },
  { kind: 'free', process: 2n, thread: 1n, address: 0x100n, time: 9n },
]

test('a block that was there before is not temporary until it is resized, and has no lifetime', () => {
  const collector = new StatisticsCollector()
  collector.add(batchOf(INHERITED))
  const { allocated, freed, temporary, lifetimes } = collector.finish()
  expect([allocated.blocks, freed.blocks]).toEqual([4, 4])
  // The realloc gives a block that the next call frees.
  expect(temporary.heaptrack).toEqual({ blocks: 1, bytes: 300n })
  // The block of the first call was freed after one other allocation of its thread: the realloc.
  expect(temporary.memray).toEqual({ blocks: 2, bytes: 301n })
  expect([lifetimes.events.count, lifetimes.bytes.count, lifetimes.time?.count]).toEqual([1, 1, 1])
})

test('the same in rows of blocks', () => {
  const all = blockRows([batchOf(INHERITED)], new BlockTable({ spans: true }))
  expect(all.map((row) => [row?.size, row?.ending, row?.temporary, row?.temporaryMemray, row?.lifetimeEvents])).toEqual(
    [
      [100n, 'free', 0, 0, undefined],
      [200n, 'resize', 0, 0, undefined],
      [300n, 'free', 1, 1, undefined],
      [1n, 'free', 0, 1, 6n],
    ],
  )
})

test('a process without live blocks that ends first leaves room for those of later ones', () => {
  const collector = new StatisticsCollector()
  const many = Array.from({ length: 3000 }, (_, i) => block(3n, BigInt(16 * i + 16), 1n, 1n))
  collector.add(batchOf([block(undefined, 16n, 1n, 1n), { kind: 'free', address: 16n }, { kind: 'process-end' }]))
  collector.add(batchOf([...many, { kind: 'process-end', process: 3n }, block(3n, 16n, 5n, 2n)]))
  const { leaked, timeline } = collector.finish()
  expect([leaked.blocks, timeline.at(-1)?.live.blocks]).toEqual([3001, 1])
})
