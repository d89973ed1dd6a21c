import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BatchArena } from '../../lib/event/arena.js'
import { batchesOf, EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { gatherRows } from '../../lib/event/gather.js'
import {
  packColumns,
  packedLength,
  packedStringsLength,
  packStrings,
  unpackStrings,
  viewColumns,
} from '../../lib/event/pack.js'
import { anyEvent } from '../support/random-event.js'
import { runs } from '../support/runs.js'

const HEADER = { format: 'test' }
const OTHER = { format: 'other' }

function batchOf(events: readonly TraceEvent[]): EventBatch {
  return batchesOf(events, HEADER)[0]
}

const parts = fc.array(fc.array(anyEvent, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 5 })

describe('gatherRows', () => {
  test('copies any events of several batches in any order', () => {
    fc.assert(
      fc.property(parts, fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 40 }), (all, picks) => {
        const chosen = picks.map(([k, i]) => [k % all.length, i % all[k % all.length].length] as const)
        const from = Int32Array.from(chosen, ([k]) => k)
        const rows = Int32Array.from(chosen, ([, i]) => i)
        const batch = gatherRows(OTHER, all.map(batchOf), from, rows, chosen.length)
        expect([...batch]).toEqual(chosen.map(([k, i]) => all[k]?.[i]))
        expect(batch.header).toBe(OTHER)
      }),
      { numRuns: runs(300) },
    )
  })

  test('takes each string that is used once, and none that is not', () => {
    const [a, b] = ['one', 'two'].map((other) =>
      batchOf([
        { kind: 'alloc', function: 'main', stack: ['main', 'f'] },
        { kind: 'free', function: other },
      ]),
    ) as [EventBatch, EventBatch]
    const batch = gatherRows(HEADER, [a, b], Int32Array.of(0, 1, 0), Int32Array.of(0, 0, 0), 3)
    expect(batch.strings.size).toBe(2)
    expect(batch.strings.listCount).toBe(2)
  })

  test('a table with many more strings than events costs only the strings used', () => {
    const large = new EventBatch(1, 0, HEADER)
    for (let i = 0; i < 1000; i++) large.strings.internText(`name ${i}`)
    for (let i = 0; i < 1000; i++) large.strings.addList([i, i])
    large.push({ kind: 'alloc', function: 'name 7', stack: ['name 8', 'name 7'] })
    const batch = gatherRows(HEADER, [large], Int32Array.of(0, 0), Int32Array.of(0, 0), 2)
    expect([...batch]).toEqual([large.event(0), large.event(0)])
    expect(batch.strings.size).toBe(2)
    // A list that many events have is there once.
    expect(batch.strings.listCount).toBe(1)
  })

  test('no rows make an empty batch', () => {
    expect(gatherRows(HEADER, [], new Int32Array(0), new Int32Array(0), 0).count).toBe(0)
  })
})

describe('what a string table says of its memory', () => {
  test('counts strings, room for more, and lists', () => {
    const { strings } = new EventBatch(1, 0, HEADER)
    expect(strings.memory).toBe(0)
    strings.add(new Uint8Array(100_000))
    strings.add(new Uint8Array(1))
    expect(strings.memory).toBeGreaterThan(200_000)
    const before = strings.memory
    strings.addList(Array.from({ length: 10_000 }, () => 0))
    expect(strings.memory - before).toBeGreaterThan(80_000)
    expect(strings.copy().memory).toBeLessThan(strings.memory)
    expect(strings.copy().memory).toBeGreaterThan(180_000)
    const packed = new ArrayBuffer(packedStringsLength(strings))
    packStrings(strings, packed, 0)
    // Those that are read back have no room that they do not need.
    expect(unpackStrings(packed, 0).memory).toBe(strings.copy().memory)
  })
})

describe('packed batches', () => {
  test('hold any events', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 20 }), fc.nat({ max: 3 }), (events, gap) => {
        const batch = batchOf(events)
        const offset = gap * 8
        const stringsAt = offset + packedLength(batch)
        const buffer = new ArrayBuffer(stringsAt + packedStringsLength(batch.strings))
        packColumns(batch, buffer, offset)
        packStrings(batch.strings, buffer, stringsAt)
        expect([...viewColumns(buffer, offset, OTHER, unpackStrings(buffer, stringsAt))]).toEqual(events)
      }),
      { numRuns: runs(300) },
    )
  })

  test('copies in an arena stay as they are until it is cleared, and then its memory is used again', () => {
    const arena = new BatchArena()
    const events = Array.from({ length: 4000 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      address: BigInt(i),
      size: 1n,
      function: `f${i % 9}`,
    }))
    const copies = Array.from({ length: 40 }, () => arena.copy(batchOf(events)))
    expect(copies.every((copy) => copy.event(3999).address === 3999n && copy.event(5).function === 'f5')).toBe(true)
    const { bytes } = arena
    expect(bytes).toBeGreaterThan(40 * 4000 * 20)
    expect(bytes).toBeLessThan(2 * 40 * 4000 * 29)
    const before = copies[0].mask.buffer
    arena.clear()
    expect(arena.bytes).toBe(0)
    expect(arena.copy(batchOf(events)).mask.buffer).toBe(before)
  })
})
