import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { FieldBit } from '../../lib/event/fields.js'
import type { AllocEvent } from '../../lib/event/trace-event.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { KWayMerger } from '../../lib/order/k-way-merge.js'
import { mergeHeaders, Merger, type MergeOptions } from '../../lib/transforms/merge.js'
import { IdOffset } from '../../lib/transforms/id-offset.js'
import { ProcessNumbers } from '../../lib/transforms/process-numbers.js'
import { OrderChecker, orderWarnings } from '../../lib/order/order-check.js'
import { SortKeys } from '../../lib/order/sort-keys.js'
import { NaturalMergeSort } from '../../lib/order/natural-merge-sort.js'
import { drive } from '../support/drive.js'
import { runs } from '../support/runs.js'
import { anyEvent, eventsOf, HEADER, inBatches } from './events.js'
import { stopwatch } from '../support/stopwatch.js'

/** Runs a merger as the streams do, but feeds some inputs ahead of time. */
function merge(
  inputs: readonly (readonly EventBatch[])[],
  options: MergeOptions,
  ahead = 0,
): { batches: EventBatch[]; merger: Merger } {
  const merger = new Merger(
    inputs.map((_, i) => `input ${i}`),
    options,
  )
  const queues = inputs.map((batches) => [...batches])
  const batches: EventBatch[] = []
  const give = (input: number) => {
    const batch = queues[input]?.shift()
    if (batch === undefined) merger.end(input)
    else merger.feed(input, batch)
  }
  for (let i = 0; i < ahead; i++) if (queues[i % inputs.length]?.length) give(i % inputs.length)
  for (;;) {
    for (let batch = merger.next(); batch !== null; batch = merger.next()) batches.push(batch)
    const input = merger.wants()
    if (input < 0) return { batches, merger }
    give(input)
  }
}

function mergeEvents(inputs: readonly (readonly TraceEvent[])[], options: MergeOptions, size = 7, ahead = 0) {
  const { batches, merger } = merge(
    inputs.map((events) => inBatches(events, size, HEADER)),
    options,
    ahead,
  )
  return { events: eventsOf(batches), merger }
}

/** The key of each event of an input: an event without one has that of the event before it. */
function keysOf(events: readonly TraceEvent[], by: 'time' | 'sequence', origin: number): bigint[] {
  let key = by === 'time' ? 0n : -(2n ** 62n)
  let last: number | undefined
  return events.map((event) => {
    if (by === 'time') return (key = event.time ?? key)
    if (event.sequence === undefined) return key
    if (last === undefined) key = BigInt((event.sequence - origin) | 0)
    else key += BigInt((event.sequence - last) | 0)
    last = event.sequence
    return key
  })
}

/** The merge as directly as it can be written down: a window for each input, then always the smallest first event. */
function oracle(inputs: readonly (readonly TraceEvent[])[], by: 'time' | 'sequence', window: number): TraceEvent[] {
  const origin = inputs.flat().find(({ sequence }) => sequence !== undefined)?.sequence ?? 0
  const lanes = inputs.map((events) => {
    const keys = keysOf(events, by, origin)
    const held: { key: bigint; event: TraceEvent }[] = []
    const lane: typeof held = []
    const smallest = () => held.reduce((best, one) => (one.key < best.key ? one : best))
    const release = () => lane.push(...held.splice(held.indexOf(smallest()), 1))
    events.forEach((event, i) => {
      held.push({ key: keys[i], event })
      if (held.length > window) release()
    })
    while (held.length > 0) release()
    return lane
  })
  const merged: TraceEvent[] = []
  for (;;) {
    const heads = lanes.filter((lane) => lane.length > 0)
    if (heads.length === 0) return merged
    const first = heads.reduce((best, lane) => ((lane[0]?.key as bigint) < (best[0]?.key as bigint) ? lane : best))
    merged.push((first.shift() as { event: TraceEvent }).event)
  }
}

/** Events told apart by their addresses. */
function numbered(fields: Omit<AllocEvent, 'kind'>[], input: number): TraceEvent[] {
  return fields.map((field, i) => ({ kind: 'alloc', address: BigInt(input * 10_000 + i), ...field }))
}

const times = fc.option(fc.bigInt({ min: 0n, max: 40n }), { nil: undefined, freq: 8 })
const timed = fc
  .array(
    fc.array(
      times.map((time) => (time === undefined ? {} : { time })),
      { maxLength: 40 },
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((inputs) => inputs.map(numbered))

describe('a merge', () => {
  test('by time of inputs in order is a stable sort', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 60 }), {
          minLength: 1,
          maxLength: 9,
        }),
        fc.integer({ min: 1, max: 20 }),
        (all, size) => {
          const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0)
          const inputs = all.map((values, input) =>
            numbered(
              values.toSorted(ascending).map((time) => ({ time })),
              input,
            ),
          )
          const { events, merger } = mergeEvents(inputs, { by: 'time' }, size)
          expect(events).toEqual(inputs.flat().toSorted((a, b) => ascending(a.time as bigint, b.time as bigint)))
          expect(merger.warnings.filter((text) => text.includes('order') && !text.includes('their own'))).toEqual([])
        },
      ),
    )
  })

  test('of any inputs is what the rules say, whatever the batches and however they come', () => {
    fc.assert(
      fc.property(
        timed,
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 9 }),
        fc.nat({ max: 30 }),
        (inputs, window, size, ahead) => {
          const { events, merger } = mergeEvents(inputs, { by: 'time', window }, size, ahead)
          expect(events).toEqual(oracle(inputs, 'time', window))
          expect(merger.statistics.events).toBe(inputs.flat().length)
        },
      ),
      { numRuns: runs(500) },
    )
  })

  test('by sequence number wraps in the middle, in any input', () => {
    const start = fc.integer({ min: 2 ** 31 - 60, max: 2 ** 31 - 1 })
    fc.assert(
      fc.property(
        start,
        fc.array(fc.nat({ max: 4 }), { minLength: 100, maxLength: 150 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (first, cpus, swaps) => {
          const inputs: TraceEvent[][] = Array.from({ length: 5 }, () => [])
          cpus.forEach((cpu, i) => inputs[cpu]?.push({ kind: 'alloc', cpu, sequence: (first + i) | 0 }))
          const ordered = inputs.flat().toSorted((a, b) => ((a.sequence as number) - (b.sequence as number)) | 0)
          // An interrupt takes its number before the code that it interrupts.
          for (const swap of swaps) {
            const input = inputs[swap % 5]
            const i = swap % (input.length || 1)
            if (i + 1 < input.length) input.splice(i, 2, input[i + 1], input[i])
          }
          const { events, merger } = mergeEvents(inputs, { by: 'sequence', window: 30 })
          expect(events).toEqual(ordered)
          expect(merger.warnings).toEqual([])
          expect(merger.statistics).toEqual({ events: cpus.length, late: 0, duplicates: 0, gaps: 0, missing: 0 })
        },
      ),
    )
  })

  test('by sequence number of any inputs is what the rules say', () => {
    const steps = fc.array(fc.option(fc.integer({ min: -6, max: 20 }), { nil: undefined }), { maxLength: 40 })
    fc.assert(
      fc.property(fc.array(steps, { minLength: 1, maxLength: 5 }), fc.integer({ min: 0, max: 9 }), (all, window) => {
        const inputs = all.map((some, input) => {
          let number = 2 ** 31 - 50
          return numbered(
            some.map((step) => (step === undefined ? {} : { sequence: (number = (number + step) | 0) })),
            input,
          )
        })
        // The first number that is read is the origin of all keys, and that of the first input with numbers when fed in
        // turn.
        const { events } = mergeEvents(inputs, { by: 'sequence', window }, 50)
        expect(events).toEqual(oracle(inputs, 'sequence', window))
      }),
      { numRuns: runs(300) },
    )
  })

  test('counts what is missing, comes twice, and comes too late', () => {
    const inputs = [
      [1, 2, 6, 7, 3],
      [2, 10, 11],
    ].map((numbers, input) =>
      numbered(
        numbers.map((sequence) => ({ sequence })),
        input,
      ),
    )
    const { events, merger } = mergeEvents(inputs, { by: 'sequence', window: 1 })
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 2, 6, 3, 7, 10, 11])
    expect(merger.statistics).toEqual({
      events: 8,
      late: 1,
      firstLate: 5,
      duplicates: 1,
      firstDuplicate: 3,
      gaps: 2,
      missing: 5,
      firstGap: { after: 2, event: 4 },
    })
    expect(merger.warnings).toEqual([
      '5 sequence numbers are missing, in 2 gaps, the first after 2 (event 4): an input is cut or was not given',
      '1 sequence number comes more than once, the first in event 3',
      '1 event stands out of order, the first is event 5: a larger window may help, or hf-sort',
    ])
    expect(mergeEvents(inputs, { by: 'sequence' }).events.map(({ sequence }) => sequence)).toEqual([
      1, 2, 2, 3, 6, 7, 10, 11,
    ])
  })

  test('keeps events without the field behind the one before them', () => {
    const comment = (text: string): TraceEvent => ({ kind: 'comment', text })
    const a: TraceEvent[] = [
      comment('a0'),
      { kind: 'alloc', time: 5n },
      comment('a5'),
      { kind: 'free', time: 3n },
      comment('a3'),
      { kind: 'free', time: 9n },
    ]
    const b: TraceEvent[] = [comment('b0'), { kind: 'alloc', time: 4n }, comment('b4'), { kind: 'free', time: 5n }]
    expect(mergeEvents([a, b], { by: 'time' }, 2).events).toEqual([
      a[0],
      b[0],
      a[3],
      a[4],
      b[1],
      b[2],
      a[1],
      a[2],
      b[3],
      a[5],
    ])
    const { merger } = mergeEvents([a, [comment('only')]], { by: 'time' })
    expect(merger.warnings).toEqual(['input 1: no event has a time: they come first, in their own order'])
  })

  test('events of any sort come out as they went in', () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyEvent, { maxLength: 12 }), { minLength: 1, maxLength: 4 }), (inputs) => {
        const { events } = mergeEvents(inputs, { by: 'time' }, 3)
        const clean = inputs.map((some) =>
          some.map(
            ({ index, ...event }) =>
              (inputs.length > 1 || index === undefined ? event : { index, ...event }) as TraceEvent,
          ),
        )
        expect(events).toEqual(oracle(clean, 'time', 1024))
      }),
    )
  })

  test('without events gives one empty batch with the header, without inputs one without', () => {
    const { batches } = merge([[new EventBatch(0, 0, { format: 'a' })], []], { by: 'time' })
    expect(batches.map(({ count, header }) => [count, header])).toEqual([[0, { format: 'a' }]])
    expect(merge([[], []], { by: 'time' }).batches).toHaveLength(1)
    expect(merge([], { by: 'time' }).batches).toHaveLength(1)
  })

  test('holds no batches for the sake of a few events that come last', { tags: ['slow'] }, () => {
    // Each batch has one event of the far future, which stays in the window.
    const inputs = Array.from({ length: 300 }, (_, b) => {
      const batch = new EventBatch(1000, 0, HEADER)
      for (let i = 0; i < 1000; i++)
        batch.push({
          kind: 'alloc',
          time: i === 500 ? 10n ** 15n + BigInt(b) : BigInt(b * 1000 + i),
          function: `f${i % 3}`,
        })
      return batch
    })
    const merger = new Merger(['a'], { by: 'time' })
    let count = 0
    for (const batch of inputs) {
      merger.feed(0, batch)
      for (let out = merger.next(); out !== null; out = merger.next()) count += out.count
    }
    expect(count).toBe(300_000 - 1024)
    const held = (merger as unknown as { interleaver: { sources: ({ batch: EventBatch } | undefined)[] } }).interleaver
      .sources
    expect(held.reduce((sum, source) => sum + (source?.batch.count ?? 0), 0)).toBeLessThan(30_000)
    merger.end(0)
    const rest: TraceEvent[] = []
    for (let out = merger.next(); out !== null; out = merger.next()) rest.push(...out)
    expect(rest).toHaveLength(1024)
    expect(rest.at(-1)).toEqual({ kind: 'alloc', time: 10n ** 15n + 299n, function: 'f2' })
  })

  describe('whose events have large strings', () => {
    const MB = 1_048_576
    /** How much memory the strings take that a merger holds. */
    const heldBytes = (merger: Merger) =>
      (
        merger as unknown as { interleaver: { sources: ({ batch: EventBatch } | undefined)[] } }
      ).interleaver.sources.reduce((sum, source) => sum + (source?.batch.strings.memory ?? 0), 0)

    function mergeMeasured(inputs: readonly Iterable<EventBatch>[]) {
      const merger = new Merger(
        inputs.map((_, i) => `input ${i}`),
        { by: 'time' },
      )
      const queues = inputs.map((batches) => batches[Symbol.iterator]())
      const seen = { times: [] as bigint[], held: 0, largest: 0 }
      for (;;) {
        for (let out = merger.next(); out !== null; out = merger.next()) {
          seen.times.push(...out.time.values.subarray(0, out.count))
          seen.largest = Math.max(seen.largest, out.strings.byteLength)
        }
        seen.held = Math.max(seen.held, heldBytes(merger))
        const input = merger.wants()
        if (input < 0) return seen
        const next = queues[input]?.next()
        if (next === undefined || next.done === true) merger.end(input)
        else merger.feed(input, next.value)
      }
    }

    function* large(count: number, events: number, timeOf: (b: number, i: number) => number): Generator<EventBatch> {
      for (let b = 0; b < count; b++) {
        const batch = new EventBatch(events, 0, HEADER)
        for (let i = 0; i < events; i++)
          batch.push({
            kind: 'alloc',
            time: BigInt(timeOf(b, i)),
            ...(i === 0 && { function: String(b).padEnd(500_000) }),
          })
        yield batch
      }
    }

    test('holds fewer of them than the window', { tags: ['slow'] }, () => {
      const swapped = (input: number) => large(100, 1, (b) => 2 * (b ^ 1) + input)
      const { times, held, largest } = mergeMeasured([swapped(0), swapped(1)])
      expect(times).toEqual(Array.from({ length: 200 }, (_, i) => BigInt(i)))
      expect(held).toBeLessThan(16 * MB)
      expect(largest).toBeLessThan(2 * MB)
    })

    test('even where the large ones are few among the others, and come last', { tags: ['slow'] }, () => {
      const { times, held } = mergeMeasured([large(200, 50, (b, i) => (i === 0 ? 1_000_000 + b : b * 50 + i))])
      expect(times).toHaveLength(10_000)
      expect(times.slice(0, 300)).toEqual(times.slice(0, 300).toSorted((a, b) => Number(a - b)))
      expect(held).toBeLessThan(24 * MB)
    })

    test('and where they are long lists of few strings', { tags: ['large'] }, () => {
      const lists = function* (): Generator<EventBatch> {
        for (let b = 0; b < 60; b++)
          yield* inBatches(
            [{ kind: 'alloc', time: BigInt(b), stack: Array.from({ length: 100_000 }, () => 'a') }],
            1,
            HEADER,
          )
      }
      const { times, held } = mergeMeasured([lists()])
      expect(times).toEqual(Array.from({ length: 60 }, (_, i) => BigInt(i)))
      expect(held).toBeLessThan(16 * MB)
    })

    test('and where each event has the columns of a whole batch', () => {
      const merger = new Merger(['a'], { by: 'time' })
      for (let b = 0; b < 1000; b++) {
        const batch = new EventBatch(4096, 0, HEADER)
        batch.push({ kind: 'alloc', time: BigInt(b), address: 1n, size: 2n })
        merger.feed(0, batch)
        expect(merger.next()).toBeNull()
      }
      const { sources } = (merger as unknown as { interleaver: { sources: ({ batch: EventBatch } | undefined)[] } })
        .interleaver
      expect(sources.reduce((sum, source) => sum + (source?.batch.capacity ?? 0), 0)).toBeLessThan(1_000_000)
    })
  })

  test('of any inputs gives all events, and those in order in order, however little memory there is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 300 })), { maxLength: 40 }), {
          minLength: 1,
          maxLength: 5,
        }),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(0, 1000, 3000, 9000),
        fc.boolean(),
        (all, size, laneBytes, isSorted) => {
          const inputs = all.map((some, input) => {
            const events = some.map(([time, length]) => ({
              time: BigInt(time),
              function: 'f'.repeat(length),
            }))
            return numbered(isSorted ? events.toSorted((a, b) => Number(a.time - b.time)) : events, input)
          })
          const interleaver = new KWayMerger(inputs.length, 20, laneBytes)
          const queues = inputs.map((events) => inBatches(events, size, HEADER))
          const keys = inputs.map(() => new SortKeys('time'))
          const out: TraceEvent[] = []
          for (;;) {
            for (let batch = interleaver.next(HEADER); batch !== null; batch = interleaver.next(HEADER))
              out.push(...batch)
            const input = interleaver.wants()
            if (input < 0) break
            const batch = queues[input]?.shift()
            if (batch === undefined) interleaver.end(input)
            else interleaver.feed(input, batch, keys[input]?.of(batch) as Uint32Array)
          }
          const byAddress = (a: TraceEvent, b: TraceEvent) => Number((a.address as bigint) - (b.address as bigint))
          expect(out.toSorted(byAddress)).toEqual(inputs.flat().toSorted(byAddress))
          if (isSorted) expect(out).toEqual(oracle(inputs, 'time', 20))
        },
      ),
      { numRuns: runs(300) },
    )
  })

  test('of one long input fed ahead takes time in proportion to it', { tags: ['slow'] }, () => {
    const batches = Array.from({ length: 400 }, (_, b) => {
      const batch = new EventBatch(1000, 0, HEADER)
      for (let i = 0; i < 1000; i++) batch.push({ kind: 'free', time: BigInt(b * 1000 + i) })
      return batch
    })
    const time = stopwatch()
    const { merger } = merge([batches, []], { by: 'time' }, 800)
    expect(merger.statistics.events).toBe(400_000)
    expect(time()).toBeLessThan(3000)
  })
})

describe('the header of a merged trace', () => {
  test.each<[TraceHeader[], TraceHeader]>([
    [
      [
        { format: 'kmemtrace', layout: { byteOrder: 'big', cpu: 0 } },
        { format: 'kmemtrace', layout: { byteOrder: 'big', cpu: 1 } },
      ],
      { format: 'kmemtrace', layout: { byteOrder: 'big' } },
    ],
    [[{ format: 'a', layout: { x: 1 } }, { format: 'a' }], { format: 'a' }],
    [
      [
        { format: 'a', layout: { x: 1 } },
        { format: 'b', layout: { x: 1 }, timeUnit: 'us' },
      ],
      { format: 'merged', timeUnit: 'us', layout: { formats: 'a,b' } },
    ],
    [
      [
        { format: 'merged', layout: { formats: 'a,heaptrack', raw: true } },
        { format: 'b' },
        { format: 'heaptrack', layout: { raw: true } },
      ],
      { format: 'merged', layout: { formats: 'a,heaptrack,b', raw: true } },
    ],
    [
      [{ format: 'merged', layout: { formats: 'heaptrack,a', raw: false } }, { format: 'a' }],
      { format: 'merged', layout: { formats: 'heaptrack,a', raw: false } },
    ],
    [
      [
        { format: 'heaptrack', layout: { raw: false } },
        { format: 'heaptrack', layout: { raw: true } },
      ],
      { format: 'heaptrack' },
    ],
    [
      [
        { format: 'a', timeUnit: 'us' },
        { format: 'a', timeUnit: 'ns' },
      ],
      { format: 'a', timeUnit: 'ns' },
    ],
    [[{ format: 'a', timeUnit: 'us', layout: { y: true } }], { format: 'a', timeUnit: 'us', layout: { y: true } }],
    [[], { format: 'unknown' }],
  ])('%j is %j', (headers, merged) => {
    expect(mergeHeaders(headers)).toEqual(merged)
  })

  test('converts times to the finer unit, and says what it takes for granted', () => {
    const input = (header: TraceHeader, time: bigint) =>
      inBatches([{ kind: 'alloc', time, endTime: time + 1n }], 1, header)
    const { batches, merger } = merge(
      [
        input({ format: 'a', timeUnit: 'us' }, 2n ** 33n),
        input({ format: 'b', timeUnit: 'ns' }, 7n),
        input({ format: 'c' }, 8n),
        input({ format: 'a', timeUnit: 'us' }, 2n ** 63n),
      ],
      { by: 'time' },
    )
    const max = 2n ** 64n - 1n
    expect(eventsOf(batches).map(({ time, endTime }) => [time, endTime])).toEqual([
      [7n, 8n],
      [8n, 9n],
      [2n ** 33n * 1000n, (2n ** 33n + 1n) * 1000n],
      [max, max],
    ])
    expect(batches[0]?.header).toEqual({ format: 'merged', timeUnit: 'ns', layout: { formats: 'a,b,c' } })
    expect(merger.warnings).toEqual([
      'input 2: its times have no unit: taken for ns',
      'times too large for ns, set to the largest value: 2',
    ])
  })

  test('another trace inside an input is told, and an error where its times do not fit', () => {
    const [first, second] = [
      { format: 'a', timeUnit: 'us' },
      { format: 'a', timeUnit: 'us' },
    ] as const
    const parts = [
      ...inBatches([{ kind: 'alloc', time: 1n }], 1, first),
      ...inBatches([{ kind: 'alloc', time: 2n }], 1, second),
      ...inBatches([{ kind: 'free' }], 1, second),
    ]
    const { batches, merger } = merge([parts], { by: 'time' })
    expect(eventsOf(batches)).toHaveLength(3)
    expect(merger.warnings).toEqual(['input 0: more than one trace: they are merged as if they were one'])
    const fine = inBatches([{ kind: 'alloc', time: 2n }], 1, { format: 'a', timeUnit: 'ns' })
    expect(() => merge([[...parts, ...fine]], { by: 'time' })).toThrow(
      'a: event 4: malformed: a trace in ns begins where those before are in us',
    )
  })
})

test.each<[string, TraceHeader['layout'], TraceHeader['layout'], Partial<TraceEvent>, boolean]>([
  ['of different processes', { process: 7 }, { process: 8 }, {}, true],
  ['of one process', { process: 7 }, { process: 7 }, {}, false],
  ['of processes with numbers', { process: 7 }, { process: 8 }, { process: 1n }, false],
  ['of unknown processes', undefined, { process: 8 }, {}, false],
])('blocks without a process that may have equal addresses are a warning: %s', (_, one, other, more, isWarned) => {
  const events: TraceEvent[] = [
    { kind: 'comment', text: 'c' },
    { kind: 'alloc', time: 1n, address: 16n, ...more } as TraceEvent,
  ]
  const inputs = [one, other].map((layout) => inBatches(events, 1, { format: 'recorder', ...(layout && { layout }) }))
  const { warnings } = merge(inputs, { by: 'time' }).merger
  expect(warnings.filter((text) => text.includes('--number-processes'))).toHaveLength(isWarned ? 1 : 0)
  expect(warnings.filter((text) => text.includes('process'))).toHaveLength(isWarned ? 1 : 0)
})

test('allocation indices are left out of interleaved traces, and kept in one alone', () => {
  const events: TraceEvent[] = [
    { kind: 'alloc', time: 1n, index: 1n, address: 16n },
    { kind: 'free', time: 2n, index: 1n },
  ]
  const { events: two, merger } = mergeEvents([events, events], { by: 'time' })
  expect(two).toEqual([
    { kind: 'alloc', time: 1n, address: 16n },
    { kind: 'alloc', time: 1n, address: 16n },
    { kind: 'free', time: 2n },
    { kind: 'free', time: 2n },
  ])
  expect(merger.warnings).toEqual(['allocation indices of different traces clash: left out of 4 events'])
  const again = new Merger(['a', 'b'], { by: 'time' })
  for (const input of [0, 1]) {
    for (const batch of inBatches(events, 2, HEADER)) again.feed(input, batch)
    again.end(input)
  }
  expect((again.next() as EventBatch).columns & FieldBit.index).toBe(0)
  expect(mergeEvents([events], { by: 'time' }).events).toEqual(events)
})

describe('IdOffset', () => {
  const events: TraceEvent[] = [
    { kind: 'alloc', thread: 2n ** 64n - 1n, process: 3n },
    { kind: 'free', thread: 5n },
    { kind: 'free' },
  ]
  const moved = (options: ConstructorParameters<typeof IdOffset>[0]) =>
    eventsOf(drive(new IdOffset(options), inBatches(events, 2, HEADER)).out)

  test('adds to the ids that are there, modulo 2^64', () => {
    expect(moved({ thread: 2n ** 32n, process: -1n })).toEqual([
      { kind: 'alloc', thread: 2n ** 32n - 1n, process: 2n },
      { kind: 'free', thread: 5n + 2n ** 32n },
      { kind: 'free' },
    ])
  })

  test('gives events a process that have none', () => {
    expect(moved({ process: 100n, defaultProcess: 7n })).toEqual([
      { kind: 'alloc', thread: 2n ** 64n - 1n, process: 103n },
      { kind: 'free', thread: 5n, process: 107n },
      { kind: 'free', process: 107n },
    ])
  })

  describe('with process numbers', () => {
    const run = (options: ConstructorParameters<typeof IdOffset>[0], own: TraceEvent[]) =>
      drive(new IdOffset(options), inBatches(own, 4, HEADER))
    const first: TraceEvent[] = [{ kind: 'alloc' }, { kind: 'free' }, { kind: 'alloc', process: 2n }]
    const second: TraceEvent[] = [{ kind: 'alloc' }]

    test('refuses an event with the number of the first process of another trace, in either order', () => {
      const numbers = new ProcessNumbers([1n, 2n])
      run({ defaultProcess: 2n, numbers }, second)
      const { out, error } = run({ defaultProcess: 1n, numbers }, [...first, { kind: 'free' }])
      expect(error?.message).toMatch(/^test: event 3: malformed: process 2 is also/)
      expect(eventsOf(out)).toHaveLength(2)
      const others = new ProcessNumbers([1n, 2n])
      run({ defaultProcess: 1n, numbers: others }, first)
      expect(run({ defaultProcess: 2n, numbers: others }, second).error?.message).toMatch(
        /^test: event 1: .*process 2 is also/,
      )
    })

    test('keeps traces apart by an offset', () => {
      const numbers = new ProcessNumbers([1n, 1001n])
      const moves = [0n, 1000n].map((process) =>
        eventsOf(run({ process, defaultProcess: 1n, numbers }, first).out).map((event) => event.process),
      )
      expect(moves).toEqual([
        [1n, 1n, 2n],
        [1001n, 1001n, 1002n],
      ])
    })

    test('passes on numbers that no event has got, and comments', () => {
      const numbers = new ProcessNumbers([1n, 2n, 2n ** 63n + 1n])
      const own: TraceEvent[] = [{ kind: 'comment' }, { kind: 'alloc', process: 2n ** 63n }]
      expect(run({ defaultProcess: 2n ** 63n + 1n, numbers }, [...own, ...second]).error).toBeUndefined()
      const processes: TraceEvent[] = [
        { kind: 'comment' },
        { kind: 'alloc', process: 1n },
        { kind: 'alloc', process: 2n },
      ]
      expect(run({ defaultProcess: 1n, numbers }, processes).error).toBeUndefined()
    })
  })

  test('passes on what it need not change', () => {
    const [batch] = inBatches(events, 3, HEADER) as [EventBatch]
    const offset = new IdOffset({})
    offset.feed(batch)
    expect(offset.next()).toBe(batch)
    expect(offset.next()).toBeNull()
  })
})

describe('the audit of an order', () => {
  test('of times counts those that go back', () => {
    const audit = new OrderChecker('time')
    for (const batch of inBatches(
      numbered([{ time: 5n }, {}, { time: 2n ** 40n }, { time: 2n ** 40n }, { time: 6n }, { time: 2n ** 40n + 1n }], 0),
      2,
      HEADER,
    ))
      audit.take(batch)
    expect(audit.statistics).toEqual({ events: 6, late: 1, firstLate: 5, duplicates: 0, gaps: 0, missing: 0 })
  })

  test('has nothing to tell when all is well, and one number when one is missing', () => {
    const audit = new OrderChecker('sequence')
    const take = (...numbers: number[]) =>
      inBatches(
        numbered(
          numbers.map((sequence) => ({ sequence })),
          0,
        ),
        9,
        HEADER,
      ).forEach((batch) => audit.take(batch))
    take(2 ** 31 - 1, -(2 ** 31))
    expect(orderWarnings(audit.statistics)).toEqual([])
    take(-(2 ** 31) + 2)
    expect(orderWarnings(audit.statistics)).toEqual([
      '1 sequence number is missing, after -2147483648 (event 3): an input is cut or was not given',
    ])
  })
})

describe('keys', () => {
  test.each(['time', 'address', 'size', 'line', 'cpu', 'gfpFlags', 'count'] as const)(
    'of %s order events as its values do',
    (field) => {
      fc.assert(
        fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
          const keys = new SortKeys(field)
          const words = inBatches(events, 4, HEADER).flatMap((batch) =>
            Array.from(keys.of(batch).subarray(0, 2 * batch.count)),
          )
          const order = [...new NaturalMergeSort().of(Uint32Array.from(words), events.length)]
          let value: bigint | number | undefined
          const values = events.map((event) => (value = event[field] ?? value))
          const rank = (i: number) => (values[i] === undefined ? -1n * 2n ** 40n : BigInt(values[i]))
          expect(order).toEqual(
            events.map((_, i) => i).toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : a - b)),
          )
          expect(keys.keyed).toBe(events.filter((event) => event[field] !== undefined).length)
        }),
      )
    },
  )

  test('are sorted with equal ones in their order, whatever runs there are', () => {
    const order = new NaturalMergeSort()
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 30 }), { maxLength: 200 }), fc.boolean(), (values, descending) => {
        if (descending) values.sort((a, b) => b - a)
        const keys = new Uint32Array(values.flatMap((value) => [value, value]))
        expect([...order.of(keys, values.length)]).toEqual(
          values.map((_, i) => i).toSorted((a, b) => values[a] - values[b]),
        )
      }),
      { numRuns: runs(300) },
    )
  })
})
