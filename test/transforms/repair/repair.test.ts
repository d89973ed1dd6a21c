import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import type { AllocEvent, FreeEvent } from '../../../lib/event/trace-event.js'
import { Repair, type RepairOptions } from '../../../lib/transforms/repair/repair.js'
import { FAULTS } from '../../../lib/transforms/option-values.js'
import { Verifier } from '../../../lib/transforms/verify.js'
import { drive } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { blockEvents, HEADER, inBatches, spacedEvents } from '../events.js'

const A = 0x1000n
const B = 0x2000n

function repair(
  input: readonly EventBatch[],
  options?: RepairOptions,
): { events: TraceEvent[]; changes: Record<string, number> } {
  const stage = new Repair(options)
  const { out, error } = drive(stage, input)
  expect(error).toBeUndefined()
  return { events: out.flatMap((batch) => [...batch]), changes: Object.fromEntries(stage.changes) }
}

function repaired(events: readonly TraceEvent[], options?: RepairOptions) {
  return repair(batchesOf(events, { format: 'test', timeUnit: 'ns' }), options)
}

function faults(events: readonly TraceEvent[]): Record<string, number> {
  const verifier = new Verifier()
  for (const batch of batchesOf(events, { format: 'test' })) verifier.check(batch)
  return Object.fromEntries(verifier.counts)
}

const alloc = (address: bigint, size: bigint, more: Partial<AllocEvent> = {}): TraceEvent => ({
  kind: 'alloc',
  address,
  size,
  ...more,
})
const free = (address: bigint, more: Partial<FreeEvent> = {}): TraceEvent => ({ kind: 'free', address, ...more })

describe('Repair', () => {
  it('moves a free that was recorded behind the reuse of its address, with the time of its new place', () => {
    const events = [
      alloc(A, 8n, { time: 1n }),
      alloc(A, 16n, { time: 2n, thread: 7n }),
      free(A, { time: 3n, endTime: 4n }),
      free(A, { time: 9n }),
    ]
    expect(repaired(events)).toEqual({
      events: [events[0], free(A, { time: 1n, endTime: 1n }), events[1], events[3]],
      changes: { 'free-moved': 1 },
    })
  })

  it('looks for it as far as its window goes, and else adds one', () => {
    const between = Array.from({ length: 20 }, (_, i) => alloc(0x10_0000n + BigInt(i) * 64n, 8n))
    const events = [alloc(A, 8n), alloc(A, 16n, { thread: 7n, cpu: 1 }), ...between, free(A), free(A)]
    expect(repaired(events, { window: 23 }).changes).toEqual({ 'free-moved': 1 })
    expect(repaired(events, { window: 22 })).toEqual({
      events: [events[0], free(A, { thread: 7n, cpu: 1 }), events[1], ...between, free(A)],
      changes: { 'free-added': 1, 'free-dropped': 1 },
    })
  })

  it('adds a free where one is missing, and leaves those of later blocks alone', () => {
    const pairs = Array.from({ length: 1000 }, () => [alloc(A, 8n), free(A)]).flat()
    const { events, changes } = repaired([alloc(A, 8n), ...pairs])
    expect(changes).toEqual({ 'free-added': 1 })
    expect(events).toEqual([alloc(A, 8n), free(A), ...pairs])
  })

  it('finds late frees in a row, and the last one by its thread', () => {
    const by = (thread: bigint) => ({ thread })
    const chain = [alloc(A, 1n), alloc(A, 2n), free(A), alloc(A, 3n), free(A), free(A)]
    expect(repaired(chain)).toEqual({
      events: [chain[0], chain[2], chain[1], chain[4], chain[3], chain[5]],
      changes: { 'free-moved': 2 },
    })
    const last = [alloc(A, 1n, by(1n)), alloc(A, 2n, by(2n)), free(A, by(1n))]
    expect(repaired(last)).toEqual({ events: [last[0], last[2], last[1]], changes: { 'free-moved': 1 } })
    const own = [alloc(A, 1n, by(1n)), alloc(A, 2n, by(2n)), free(A, by(2n))]
    expect(repaired(own).changes).toEqual({ 'free-added': 1 })
  })

  it('never takes a free by the thread that got the block', () => {
    const by = { thread: 1n }
    const events = [
      alloc(A, 64n, by),
      alloc(A, 128n, by),
      alloc(B, 8n, by),
      free(A, by),
      alloc(A, 32n, by),
      free(A, by),
      free(A, by),
    ]
    const { changes, events: fixed } = repaired(events)
    expect(changes).toEqual({ 'free-added': 1, 'free-dropped': 1 })
    expect(fixed).toEqual([events[0], free(A, by), ...events.slice(1, -1)])
  })

  it('leaves alone what is allowed', () => {
    const events = [
      alloc(A, 0n, { time: 5n }),
      alloc(A, 8n, { time: 4n }),
      alloc(A - 8n, 16n),
      free(B),
      free(A),
      free(A),
      { kind: 'realloc', oldAddress: B, address: B, size: 2n ** 50n } as const,
    ]
    expect(repaired(events, { allow: FAULTS })).toEqual({ events, changes: {} })
    expect(repaired([alloc(A, 0n)], { allow: ['zero-size'] }).changes).toEqual({})
  })

  it('holds large strings only up to a limit, and small batches joined', { tags: ['slow'] }, () => {
    const long = Array.from({ length: 200 }, (_, i) =>
      alloc(BigInt(i + 1) * 64n, 8n, { function: `${i}`.padEnd(400_000, 'x') }),
    )
    const stage = new Repair()
    let given = 0
    for (const batch of inBatches(long, 1, HEADER)) {
      stage.feed(batch)
      for (let out = stage.next(); out !== null; out = stage.next()) given += out.count
    }
    // 80 MB of names went in.
    expect(given).toBeGreaterThan(80)
    stage.end()
    for (let out = stage.next(); out !== null; out = stage.next()) given += out.count
    expect(given).toBe(200)
  })

  it('counts sequence numbers on behind a free that it moved, until there is a gap', () => {
    const at = (sequence: number) => ({ sequence })
    const events = [alloc(A, 8n, at(1)), alloc(A, 16n, at(2)), alloc(B, 1n, at(3)), free(A, at(4)), free(A, at(8))]
    expect(repaired(events).events.map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ['alloc', 1],
      ['free', 2],
      ['alloc', 3],
      ['alloc', 4],
      ['free', 8],
    ])
  })

  it('frees whatever a block runs into, on both sides', () => {
    const events = [alloc(A, 16n), alloc(A + 32n, 16n), alloc(A + 8n, 64n), free(A + 32n), free(A + 8n)]
    expect(repaired(events)).toEqual({
      events: [events[0], events[1], free(A), events[3], events[2], events[4]],
      changes: { 'free-added': 1, 'free-moved': 1 },
    })
  })

  it.each<[string, TraceEvent[], TraceEvent[], Record<string, number>]>([
    [
      'frees of unknown blocks, but not of null',
      [free(A), free(0n), alloc(A, 1n), free(A), free(A)],
      [free(0n), alloc(A, 1n), free(A)],
      { 'free-dropped': 2 },
    ],
    [
      'reallocs of unknown blocks',
      [{ kind: 'realloc', api: 'realloc', oldAddress: B, address: A, size: 2n, outcome: 'moved' }],
      [alloc(A, 2n)],
      { 'realloc-replaced': 1 },
    ],
    [
      'reallocs of unknown blocks that stayed where they were',
      [{ kind: 'realloc', oldAddress: B, size: 2n, outcome: 'none' }, free(B)],
      [alloc(B, 2n), free(B)],
      { 'realloc-replaced': 1 },
    ],
    [
      'reallocs of unknown blocks that have an index alone',
      [{ kind: 'realloc', index: 7n, size: 2n }],
      [{ kind: 'alloc', index: 7n, size: 2n }],
      { 'realloc-replaced': 1 },
    ],
    [
      'reallocs of unknown blocks that have an index and an old address',
      [{ kind: 'realloc', index: 7n, oldAddress: A, address: B, size: 2n }, alloc(A, 1n)],
      [{ kind: 'alloc', index: 7n, address: B, size: 2n }, alloc(A, 1n)],
      { 'realloc-replaced': 1 },
    ],
    [
      'nothing where a realloc of a block with an index failed',
      [{ kind: 'realloc', index: 7n, oldAddress: A, size: 2n }, alloc(A, 1n)],
      [{ kind: 'realloc', index: 7n, oldAddress: A, size: 2n }, alloc(A, 1n)],
      {},
    ],
    [
      'nothing in the way of a block that a realloc of pages left',
      [alloc(A, 1n), { kind: 'realloc', api: 'pages', address: B, oldAddress: A, size: 1n }, alloc(A, 2n)],
      [alloc(A, 1n), { kind: 'realloc', api: 'pages', address: B, oldAddress: A, size: 1n }, alloc(A, 2n)],
      {},
    ],
    [
      'reallocs of blocks with index 0',
      [{ kind: 'realloc', index: 0n, address: A, size: 2n }],
      [],
      { 'realloc-dropped': 1 },
    ],
    [
      'reallocs to nothing of unknown blocks',
      [{ kind: 'realloc', oldAddress: B, address: 0n, size: 0n }],
      [],
      { 'realloc-dropped': 1 },
    ],
    ['sizes of 0', [alloc(A, 0n), free(A)], [alloc(A, 1n), free(A)], { 'size-set': 1 }],
    [
      'absurd sizes, with their frees',
      [alloc(A, 2n ** 60n), free(A), alloc(2n ** 64n - 8n, 16n), alloc(2n ** 64n - 8n, 8n)],
      [alloc(2n ** 64n - 8n, 8n)],
      { 'allocation-dropped': 2, 'free-dropped': 1 },
    ],
    [
      'times',
      [alloc(A, 1n, { time: 5n }), alloc(B, 1n, { time: 3n, endTime: 4n })],
      [alloc(A, 1n, { time: 5n }), alloc(B, 1n, { time: 5n, endTime: 5n })],
      { 'time-set': 1 },
    ],
    [
      'indices that are live',
      [alloc(A, 1n, { index: 1n }), alloc(B, 1n, { index: 1n })],
      [alloc(A, 1n, { index: 1n }), { kind: 'free', index: 1n }, alloc(B, 1n, { index: 1n })],
      { 'free-added': 1 },
    ],
    [
      'blocks with indices at addresses that are live',
      [alloc(A, 1n, { index: 1n }), alloc(A, 1n, { index: 2n }), { kind: 'free', index: 1n }],
      [alloc(A, 1n, { index: 1n }), { kind: 'free', index: 1n }, alloc(A, 1n, { index: 2n })],
      { 'free-moved': 1 },
    ],
    [
      'nothing where a process has a block at the address of one without a process',
      [free(B, { process: 1n }), alloc(A, 8n), alloc(A, 8n, { process: 2n }), free(A), free(A, { process: 2n })],
      [alloc(A, 8n), alloc(A, 8n, { process: 2n }), free(A), free(A, { process: 2n })],
      { 'free-dropped': 1 },
    ],
    [
      'nothing where processes have blocks with indices at the same address',
      [
        free(B, { process: 1n }),
        alloc(A, 64n, { process: 4n }),
        alloc(A - 16n, 64n, { process: 5n, index: 1n }),
        alloc(A + 16n, 64n, { process: 6n, index: 2n }),
        alloc(A + 8n, 64n, { index: 3n }),
      ],
      [
        alloc(A, 64n, { process: 4n }),
        alloc(A - 16n, 64n, { process: 5n, index: 1n }),
        alloc(A + 16n, 64n, { process: 6n, index: 2n }),
        alloc(A + 8n, 64n, { index: 3n }),
      ],
      { 'free-dropped': 1 },
    ],
  ])('repairs %s', (_, events, expected, changes) => {
    expect(repaired(events)).toEqual({ events: expected, changes })
    expect(faults(expected)).toEqual({})
  })

  it('leaves a trace of several processes without faults', () => {
    fc.assert(
      fc.property(spacedEvents, (events) => {
        expect(faults(repaired(events).events)).toEqual({})
      }),
      { numRuns: runs(300) },
    )
  })

  it('lets failed allocations, growing blocks, other processes and pages be', () => {
    const events: TraceEvent[] = [
      alloc(0n, 2n ** 62n),
      alloc(A, 8n, { process: 1n }),
      alloc(A, 8n, { process: 2n }),
      free(A, { process: 1n }),
      free(A, { process: 2n }),
      { kind: 'realloc', oldAddress: 0n, address: A, size: 8n },
      { kind: 'realloc', oldAddress: A, address: A, size: 64n },
      { kind: 'realloc', oldAddress: A, address: A + 16n, size: 64n },
      { kind: 'realloc', oldAddress: A + 16n, address: 0n, size: 64n },
      free(A + 16n),
      alloc(B, 4096n, { api: 'pages' }),
      alloc(B, 32n, { api: 'kmalloc' }),
      free(B, { api: 'kfree' }),
      free(B, { api: 'pages' }),
    ]
    expect(faults(events)).toEqual({})
    expect(repaired(events)).toEqual({ events, changes: {} })
  })

  it('takes windows of a whole number of events, up to a limit', () => {
    for (const window of [0, -1, 2.5, NaN, Infinity, 2 ** 24 + 1, '5' as unknown as number])
      expect(() => new Repair({ window }), String(window)).toThrow(RangeError)
    for (const window of [1, 2 ** 24]) expect(() => new Repair({ window })).not.toThrow()
  })

  it('leaves nothing that a Verifier finds, whatever it is given', () => {
    fc.assert(
      fc.property(blockEvents, fc.constantFrom(1, 3, 1000), fc.constantFrom(1, 7, 100), (input, window, size) => {
        const { events } = repair(inBatches(input, size, HEADER), { window })
        expect(faults(events)).toEqual({})
      }),
      { numRuns: runs(300) },
    )
  })

  it('treats each trace by itself', () => {
    const first = batchesOf([alloc(A, 8n)], { format: 'one' })
    const second = batchesOf([alloc(A, 8n), free(A)], { format: 'two' })
    const { out } = drive(new Repair(), [...first, ...second])
    // The header of a trace goes ahead, for its events may be long in coming.
    expect(out.map((batch) => [batch.header.format, batch.count])).toEqual([
      ['one', 0],
      ['one', 1],
      ['two', 0],
      ['two', 2],
    ])
  })
})
