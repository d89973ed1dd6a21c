import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { FieldBit } from '../../lib/event/fields.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { isWritable } from '../../lib/event/format.js'
import { Collisions } from '../../lib/blocks/collisions.js'
import { drive, type Outcome } from '../support/drive.js'
import { formatNamed } from '../support/formats.js'
import { runs } from '../support/runs.js'
import { HEADER, inBatches, placedEvents } from '../transforms/events.js'
import { blocksByMap, type Deed } from './blocks.js'

/** The number of the first event that collides, from 0; undefined for none. */
function firstCollision(
  told: number,
  events: readonly TraceEvent[],
  batchSize: number,
  header: TraceHeader = HEADER,
): number | undefined {
  const collisions = new Collisions(told)
  let before = 0
  for (const batch of inBatches(events, batchSize, header)) {
    const row = collisions.find(batch)
    if (row < batch.count) return before + row
    before += batch.count
  }
  return undefined
}

const seen = ({ did }: Deed) => did.filter((one) => one !== 'again').join()

describe('Collisions', () => {
  const told = fc.constantFrom(0, FieldBit.process, FieldBit.api, FieldBit.process | FieldBit.api)
  it('are where a plain map sees another effect without processes and pages', () => {
    fc.assert(
      fc.property(placedEvents, told, fc.integer({ min: 1, max: 70 }), (some, fields, batchSize) => {
        // All events are of a kernel, so that all are followed.
        const events = some.map((event): TraceEvent => ({ ...event, api: event.api === 'pages' ? 'pages' : 'kfree' }))
        const written = events.map(({ process, api, ...event }) => ({
          ...event,
          api: (fields & FieldBit.api) !== 0 ? api : 'kfree',
          ...((fields & FieldBit.process) !== 0 && { process }),
        })) as TraceEvent[]
        const [is, becomes] = [blocksByMap(events).deeds, blocksByMap(written).deeds]
        const expected = is.findIndex((deed, i) => seen(deed) !== seen(becomes[i]))
        expect(firstCollision(fields, events, batchSize)).toBe(expected < 0 ? undefined : expected)
      }),
      { numRuns: runs(500) },
    )
  })

  it('are assumed where blocks came before the first process, and only in other processes', () => {
    const block = (address: bigint, process?: bigint): TraceEvent => ({
      kind: 'alloc',
      address,
      size: 1n,
      ...(process !== undefined && { process }),
    })
    const events = [block(16n), block(32n), block(48n, 1n), block(64n, 1n), block(80n, 2n)]
    for (const batchSize of [1, 2, 3, 5]) expect(firstCollision(0, events, batchSize)).toBe(4)
    expect(firstCollision(0, events.slice(2), 1)).toBe(undefined)
    expect(firstCollision(0, [...events.slice(0, 4), block(0n, 2n)], 1)).toBe(undefined)
  })

  it('do not depend on where batches end', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', address: 16n, size: 1n },
      { kind: 'free', process: 1n, address: 16n },
      { kind: 'free', process: 2n, address: 16n },
    ]
    for (const batchSize of [1, 2, 3]) expect(firstCollision(0, events, batchSize)).toBe(2)
  })

  it('do not depend on where batches end if a process ends that has no number', () => {
    const events: TraceEvent[] = [
      { kind: 'free', process: 1n, address: 32n },
      { kind: 'alloc', address: 16n, size: 1n },
      { kind: 'process-end' },
      { kind: 'alloc', address: 16n, size: 1n },
    ]
    for (const batchSize of [1, 2, 3, 4]) expect(firstCollision(0, events, batchSize)).toBe(3)
  })

  it('are the same however events of several processes, and their ends, are cut', { tags: ['slow'] }, () => {
    const process = fc.constantFrom(undefined, undefined, 1n)
    const address = fc.constantFrom(16n, 32n)
    const kind = fc.constantFrom('alloc', 'free', 'process-end')
    const event = fc
      .record({ kind, process, address })
      .map(({ process, ...one }) => ({ ...one, ...(process !== undefined && { process }) }) as TraceEvent)
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), told, fc.integer({ min: 1, max: 5 }), (events, fields, size) => {
        expect(firstCollision(fields, events, size)).toBe(firstCollision(fields, events, 12))
      }),
      { numRuns: runs(5000) },
    )
  })

  it('are where a plain map sees another effect in a recording, whose first process has no number', () => {
    const process = fc.constantFrom(undefined, undefined, 2n, 3n)
    const address = fc.constantFrom(16n, 32n, 48n, 64n)
    const event = fc
      .record({ kind: fc.constantFrom('alloc', 'alloc', 'free', 'existing', 'process-end'), process, address })
      .map(({ process, kind, address }) => ({
        kind,
        ...(kind !== 'process-end' && { address }),
        ...(process !== undefined && { process }),
      })) as fc.Arbitrary<TraceEvent>
    const alone = fc.record({ kind: fc.constantFrom('alloc', 'free'), address }) as fc.Arbitrary<TraceEvent>
    fc.assert(
      fc.property(
        fc.array(alone, { maxLength: 12 }),
        fc.array(event, { maxLength: 20 }),
        fc.integer({ min: 1, max: 40 }),
        (first, rest, size) => {
          const events = [...first, ...rest]
          const written = events.map(({ kind, address }) =>
            kind === 'process-end' ? { kind: 'comment' } : { kind, address },
          ) as TraceEvent[]
          const [is, becomes] = [blocksByMap(events).deeds, blocksByMap(written).deeds]
          const expected = events.findIndex(
            ({ kind }, i) => kind !== 'process-end' && seen(is[i]!) !== seen(becomes[i]!),
          )
          const header = { format: 'recorder', layout: { version: 2, process: 4711 } }
          expect(firstCollision(0, events, size, header)).toBe(expected < 0 ? undefined : expected)
        },
      ),
      { numRuns: runs(2000) },
    )
  })

  it('are found among more blocks than are copied at a time', () => {
    const address = (i: number) => BigInt(0x1000 + 16 * i)
    const blocks = Array.from({ length: 10_000 }, (_, i): TraceEvent => ({ kind: 'alloc', address: address(i) }))
    const header = { format: 'recorder', layout: { process: 1 } }
    for (const i of [0, 4095, 4096, 9_999]) {
      const free: TraceEvent = { kind: 'free', address: address(i) }
      const other: TraceEvent = { kind: 'existing', process: 2n, address: address(i), size: 1n }
      expect(firstCollision(0, [...blocks, other], 4096, header)).toBe(10_000)
      expect(firstCollision(0, [...blocks, free, other], 4096, header)).toBe(undefined)
    }
  })

  it('are none between one trace and the next', () => {
    const collisions = new Collisions(0)
    for (const process of [1n, 2n, 3n]) {
      const [batch] = inBatches([{ kind: 'alloc', process, address: 16n, size: 1n }], 1, { ...HEADER })
      expect(collisions.find(batch!)).toBe(1)
    }
  })
})

describe('Encoders of traces in which blocks collide', () => {
  const two = (second: bigint): TraceEvent[] => [
    { kind: 'alloc', process: 1n, thread: 1n, time: 1n, address: 0x1000n, size: 8n },
    { kind: 'alloc', process: 2n, thread: 1n, time: 2n, address: second, size: 8n },
    { kind: 'free', process: 2n, thread: 1n, time: 3n, address: second },
    { kind: 'free', process: 1n, thread: 1n, time: 4n, address: 0x1000n },
  ]
  const kernel: TraceEvent[] = [
    { kind: 'alloc', api: 'pages', address: 0x1000n, size: 4096n },
    { kind: 'alloc', api: 'kmalloc', address: 0x1000n, size: 8n },
    { kind: 'free', api: 'kfree', address: 0x1000n },
    { kind: 'free', api: 'pages', address: 0x1000n },
  ]

  function encode(name: string, events: readonly TraceEvent[], options = {}): Outcome<Uint8Array> & { lost: string[] } {
    const format = formatNamed(name)
    if (format === undefined || !isWritable(format)) throw new Error(`${name} cannot be written`)
    const encoder = format.encoder(options)
    const outcome = drive(encoder, inBatches(events, 9, HEADER))
    return { ...outcome, lost: [...encoder.losses.counts.keys()] }
  }

  test.each(['hatf', 'replay', 'kmemtrace', 'glibc-mtrace', 'hatf-ascii'])(
    '%s refuses those of two processes',
    (name) => {
      expect(encode(name, two(0x1000n)).error).toMatchObject({
        code: 'ERR_TRACE_UNENCODABLE',
        message: expect.stringMatching(
          /: event 2: the format has no processes, and another has a block at this address: use hf-split --by process first$/,
        ) as unknown,
      })
      const { error, lost } = encode(name, two(0x2000n))
      expect(error).toBe(undefined)
      expect(lost).toContain('process')
    },
  )

  test.each([1, 2, 9])(
    'the blocks that the first process of a recording had before a fork stay its own: %d',
    (size) => {
      const events: TraceEvent[] = [
        { kind: 'alloc', api: 'malloc', thread: 1n, time: 1n, address: 0x1000n, size: 8n },
        { kind: 'alloc', api: 'malloc', thread: 1n, time: 2n, address: 0x2000n, size: 8n },
        { kind: 'alloc', api: 'malloc', process: 2n, thread: 2n, time: 3n, address: 0x3000n, size: 8n },
        { kind: 'existing', process: 2n, thread: 2n, time: 3n, address: 0x1000n, size: 24n },
        { kind: 'free', api: 'free', process: 2n, thread: 2n, time: 4n, address: 0x1000n },
      ]
      const header = { format: 'recorder', layout: { version: 2, process: 4711 } }
      const format = formatNamed('glibc-mtrace')
      if (format === undefined || !isWritable(format)) throw new Error('glibc-mtrace cannot be written')
      const refused = (some: readonly TraceEvent[]) => drive(format.encoder({}), inBatches(some, size, header)).error
      expect(refused(events)?.message).toMatch(/: event 4: the format has no processes, and another has a block/)
      expect(refused(events.slice(0, 3))).toBe(undefined)
    },
  )

  test('the first process of a recording has no number, and is named as a process', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', api: 'malloc', process: 2n, address: 0x1000n, size: 8n },
      { kind: 'alloc', api: 'calloc', address: 0x1000n, size: 9n },
    ]
    expect(encode('hatf', events).error?.message).toMatch(/: event 2: the format has no processes, and another/)
  })

  test.each(['hatf', 'replay', 'heapmon', 'glibc-mtrace', 'hatf-ascii'])(
    '%s refuses pages with an object in them',
    (name) => {
      expect(encode(name, kernel).error?.message).toMatch(
        /: event 2: the format has no api, and this address has pages and an object in them: use hf-split --by api --lifetimes first$/,
      )
      expect(
        encode(
          name,
          kernel.filter(({ api }) => api !== 'pages'),
        ).error,
      ).toBe(undefined)
    },
  )

  test.each([
    ['ndjson', {}],
    ['hatf', { attributes: true }],
  ] as [string, object][])('%s has a place for both', (name, options) => {
    expect(encode(name, two(0x1000n), options).error).toBe(undefined)
    expect(encode(name, kernel, options).error).toBe(undefined)
  })

  test('heapmon has one for processes, kmemtrace one for pages', () => {
    expect(encode('heapmon', two(0x1000n)).error).toBe(undefined)
    expect(encode('kmemtrace', kernel).error).toBe(undefined)
  })
})
