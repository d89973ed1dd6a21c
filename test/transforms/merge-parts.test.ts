import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { ndjson } from '../../lib/formats/ndjson/index.js'
import { NumberKeys } from '../../lib/order/number-keys.js'
import { mergeHeaders, Merger } from '../../lib/transforms/merge.js'
import { PartMerger, partsOfOne } from '../../lib/transforms/merge-parts.js'
import { PartHeaders } from '../../lib/transforms/part-headers.js'
import { Partitioner, type PartitionOptions } from '../../lib/transforms/split.js'
import { decodeAll, encodeAll } from '../support/drive.js'
import { anyEvent, eventsOf, HEADER, inBatches } from './events.js'
import { merge, partsOf } from './parts.js'

/** The parts of a trace by key, in the order of their keys' names. */
function split(batches: Iterable<EventBatch>, options: PartitionOptions): EventBatch[][] {
  const parts = partsOf(batches, { number: true, ...options })
  return [...parts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part)
}

/** What the parts are on the way from one process to another. */
const throughWire = (part: readonly EventBatch[], size?: number) =>
  decodeAll(ndjson.decoder(), encodeAll(ndjson.encoder(), part), size).batches

const mergeParts = (parts: readonly (readonly EventBatch[])[]) => {
  const merger = new PartMerger(parts.length)
  return { merged: merge(merger, parts), warnings: merger.warnings }
}

const text = (batches: Iterable<EventBatch>) => Buffer.from(encodeAll(ndjson.encoder(), batches)).toString()

// Of one process: the addresses are any, so that blocks of several could not be told apart.
const unnumbered = anyEvent.map(({ sequence: _sequence, process: _process, ...event }) => event as TraceEvent)
const headers: TraceHeader[] = [
  { format: 'test' },
  { format: 'mtrc', layout: { version: 10_501, follows: 'cut' } },
  { format: 'replay', timeUnit: 'ns', filtered: true },
]
/** Traces of one stream, some of them without events. */
const traces = fc.array(fc.tuple(fc.constantFrom(...headers), fc.array(unnumbered, { maxLength: 12 })), {
  minLength: 1,
  maxLength: 4,
})

const events = (n: number): TraceEvent[] =>
  Array.from({ length: n }, (_, i) => ({ kind: 'alloc', thread: BigInt(i % 3), index: BigInt(i + 1), size: BigInt(i) }))

describe('Numbered parts', () => {
  it('of any traces are put together exactly, also after a way through pipes', () => {
    const by = fc.constantFrom('thread' as const, 'kind' as const, 'size-class' as const, 'shard' as const)
    fc.assert(
      fc.property(
        traces,
        by,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 400 }),
        (all, key, size, chunk) => {
          const stream = all.flatMap(([header, some]) => {
            const own = { ...header }
            return [new EventBatch(0, 0, own), ...inBatches(some, size, own)]
          })
          const parts = split(stream, { by: key }).map((part) => throughWire(part, chunk))
          const { merged, warnings } = mergeParts(parts)
          expect(text(merged)).toBe(text(stream))
          expect(warnings).toEqual([])
        },
      ),
    )
  })

  it('of parts are parts of the same trace', () => {
    const stream = inBatches(events(50), 7, HEADER)
    const parts = split(stream, { by: 'thread' }).flatMap((part, i) =>
      split(part, { by: 'shard', shards: 3, number: i === 0 }),
    )
    expect(parts.length).toBeGreaterThan(6)
    expect(text(mergeParts(parts).merged)).toBe(text(stream))
  })

  it('keep their order where numbers go beyond 32 bits, and where little is in a part', () => {
    for (const gap of [2 ** 31 - 2, 2 ** 31, 2 ** 32 + 5, 2 ** 40]) {
      const part = new PartHeaders(false, true)
      const [batch] = inBatches(events(2), 2, HEADER) as [EventBatch]
      const numbers = (rows: readonly number[]) => {
        const some = part.select(batch, 'key', Int32Array.from(rows))
        const keys = new BigUint64Array(new NumberKeys().of(some).slice().buffer)
        return { header: some.header, numbers: [...keys], some }
      }
      part.begin(batch)
      const before = numbers([0, 1])
      part.begin({ header: HEADER, count: gap, columns: 0 } as EventBatch)
      part.begin(batch)
      const after = numbers([1])
      expect(before.numbers).toEqual([1n, 2n])
      expect(after.header === before.header).toBe(gap + 2 < 2 ** 31)
      const keys = new NumberKeys()
      keys.of(before.some)
      expect(new BigUint64Array(keys.of(after.some).slice().buffer)[0]).toBe(BigInt(gap) + 4n)
    }
  })

  it('that are missing or in another order are told, and a part that is given twice is refused', () => {
    const stream = inBatches(events(30), 7, HEADER)
    const [first, second, third] = split(stream, { by: 'thread' }) as [EventBatch[], EventBatch[], EventBatch[]]
    expect(mergeParts([first, third]).warnings).toEqual([
      '10 events of the trace that was split are missing, the first is event 2: give all parts to restore the trace',
    ])
    const lost = (parts: EventBatch[][]) =>
      mergeParts(parts)
        .merged.flatMap((batch) => [...batch])
        .filter(({ kind }) => kind === 'lost')
    expect(lost([first, third])).toEqual([{ kind: 'lost', count: 10n }])
    const marked = split(inBatches(events(30), 7, { ...HEADER, filtered: true }), { by: 'thread' }).slice(1)
    expect(lost(marked)).toEqual([])
    const sorted = [...second.slice(1), ...second.slice(0, 1)]
    expect(mergeParts([first, sorted, third]).warnings).toEqual([
      expect.stringMatching(
        /^\d+ events are out of order, for a part was put in another order: sort it by sequence first$/,
      ),
    ])
    expect(() => mergeParts([first, second, third, second])).toThrow(
      'event 2 of the trace that was split comes twice: give each part once',
    )
    expect(() => mergeParts([first, [...second, ...stream]])).toThrow('more than numbered parts of one trace')
  })

  it('are not made of events that have sequence numbers', () => {
    const some = events(20).map((event, i) => (i === 12 ? ({ ...event, sequence: 3 } as TraceEvent) : event))
    expect(() => split(inBatches(some, 5, HEADER), { by: 'thread' })).toThrow(
      'test: event 13: it has a sequence number already: merge the parts by these, and do not number them',
    )
    const partitioner = new Partitioner({ by: 'thread', number: true })
    const parts: EventBatch[] = []
    const divide = () => {
      for (const batch of inBatches(some, 5, HEADER))
        for (const part of partitioner.partition(batch)) parts.push(part.batch)
    }
    expect(divide).toThrow('event 13')
    expect(eventsOf(parts)).toHaveLength(12)
  })

  it('that are given twice are put together as far as they can be', () => {
    const [first, second] = split(inBatches(events(50), 50, HEADER), { by: 'thread' }) as [EventBatch[], EventBatch[]]
    const merger = new PartMerger(3)
    for (const [input, part] of [first, second, second].entries()) {
      for (const batch of part) merger.feed(input, batch)
      merger.end(input)
    }
    expect(eventsOf([merger.next() as EventBatch]).map(({ index }) => index)).toEqual([1n, 2n])
    expect(() => merger.next()).toThrow('test: event 3: malformed: event 2 of the trace that was split comes twice')
  })
})

describe('Parts without numbers', () => {
  const timed = events(30).map((event, i): TraceEvent => ({ ...event, time: BigInt(i >> 1) }))
  const parts = () => split(inBatches(timed, 7, HEADER), { by: 'thread', number: false })

  it('are merged by time with their indices, and a warning', () => {
    const merger = new Merger(['a', 'b', 'c'], { by: 'time' })
    const merged = merge(merger, parts())
    expect(eventsOf(merged).map(({ index }) => index)).toHaveLength(30)
    expect(new Set(eventsOf(merged).map(({ index }) => index)).size).toBe(30)
    expect(merged[0]?.header).toEqual({ ...HEADER, filtered: true })
    expect(merger.warnings).toEqual([
      'the inputs are parts of one trace, without numbers: events of equal time may change places; split with --number',
    ])
  })

  it('of several traces are not parts of one: indices are left out', () => {
    const merger = new Merger(['a', 'b'], { by: 'time' })
    const merged = merge(merger, [parts()[0], parts()[1]])
    expect(eventsOf(merged).every(({ index }) => index === undefined)).toBe(true)
    expect(merged[0]?.header).toEqual({ ...HEADER, filtered: true })
  })

  it('are told by their headers', () => {
    const part = (of: string, first?: number): TraceHeader => ({
      ...HEADER,
      part: { of, trace: 1, ...(first !== undefined && { first }) },
    })
    expect(partsOfOne([part('x', 1), part('x', 9)])).toBe('numbered')
    expect(partsOfOne([part('x', 1), undefined])).toBe('numbered')
    expect(partsOfOne([part('x', 1), part('x')])).toBe('unnumbered')
    expect(partsOfOne([part('x', 1), part('y', 1)])).toBe(undefined)
    expect(partsOfOne([part('x', 1), HEADER])).toBe(undefined)
    expect(partsOfOne([undefined])).toBe(undefined)
    const whole = { ...part('x'), part: { of: 'x', trace: 1, whole: true } } as const
    expect(mergeHeaders([whole, whole])).toEqual(HEADER)
    // Whether these are all is not known.
    expect(mergeHeaders([part('x'), part('x')])).toEqual({ ...HEADER, filtered: true })
    expect(mergeHeaders([part('x'), HEADER])).toEqual({ ...HEADER, filtered: true })
    expect(mergeHeaders([whole, HEADER])).toEqual(HEADER)
  })
})
