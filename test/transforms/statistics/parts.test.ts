import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { StringTable } from '../../../lib/event/strings.js'
import { BoundedKeys, FIRST, NONE, OTHERS } from '../../../lib/blocks/bounded-keys.js'
import { KeyCounts } from '../../../lib/transforms/statistics/key-counts.js'
import { SiteKeys } from '../../../lib/transforms/statistics/site-keys.js'
import { Sum } from '../../../lib/transforms/statistics/sums.js'
import { u64 } from '../../support/random-event.js'
import { HEADER, inBatches } from '../events.js'

const low = (value: bigint) => Number(value & 0xffff_ffffn)
const high = (value: bigint) => Number(value >> 32n)

describe('sums', () => {
  test('are exact', () => {
    fc.assert(
      fc.property(fc.array(u64), (values) => {
        const sum = new Sum()
        for (const value of values) sum.add(low(value), high(value))
        expect(sum.value).toBe(values.reduce((all, value) => all + value, 0n))
      }),
    )
  })

  test('know when they have lost digits', () => {
    const sum = new Sum()
    sum.add(0, 2 ** 53 - 1)
    expect(sum.isExact).toBe(true)
    sum.add(0, 1)
    expect(sum.isExact).toBe(false)
  })
})

describe('keys', () => {
  test('have rows in order of first use, up to the limit', () => {
    const keys = new BoundedKeys(2)
    expect(
      [
        [5, 0],
        [5, 1],
        [5, 0],
        [9, 9],
        [5, 1],
        [9, 9],
      ].map(([lo, hi]) => keys.row(lo!, hi!)),
    ).toEqual([FIRST, FIRST + 1, FIRST, OTHERS, FIRST + 1, OTHERS])
    expect(keys.overflowed).toBe(true)
    expect([keys.key(FIRST), keys.key(FIRST + 1)]).toEqual([5n, 0x1_0000_0005n])
  })

  test('are counted, the most frequent first', () => {
    const counts = new KeyCounts(100)
    for (const value of [3, 1, 2, 3, 1, 3, ...Array.from({ length: 200 }, (_, i) => i + 10)]) counts.add(value, 0)
    expect(counts.entries().slice(0, 4)).toEqual([
      { key: 3n, count: 3 },
      { key: 1n, count: 2 },
      { key: 2n, count: 1 },
      { key: 10n, count: 1 },
    ])
    expect(counts.others).toBe(103)
  })
})

describe('sites', () => {
  const place = fc.record(
    {
      function: fc.constantFrom('a', 'b', ''),
      file: fc.constantFrom('a', 'x.c'),
      line: fc.nat({ max: 2 }),
      stack: fc.array(fc.constantFrom('a', 'b', ''), { maxLength: 3 }),
      callSite: fc.constantFrom(0n, 1n, 2n ** 64n - 1n),
    },
    { requiredKeys: ['callSite'] },
  )

  test('are the same for the same names, in whatever batch', () => {
    fc.assert(
      fc.property(fc.array(place, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (places, batchSize) => {
        const keys = new SiteKeys()
        const rows: number[] = []
        for (const batch of inBatches(
          places.map((one) => ({ kind: 'alloc', ...one }) as TraceEvent),
          batchSize,
          HEADER,
        )) {
          keys.begin(batch)
          for (let i = 0; i < batch.count; i++) rows.push(keys.row(batch, i))
        }
        places.forEach(({ stack, callSite, ...source }, i) => {
          const isSource = Object.keys(source).length > 0
          const isNone =
            stack === undefined
              ? isSource && source.function === undefined && source.file === undefined && !source.line
              : stack.length === 0
          const { line, ...names } = source
          expect(rows[i] === NONE).toBe(isNone)
          expect(keys.site(rows[i]!)).toEqual(
            isNone
              ? { rest: 'none' }
              : stack !== undefined
                ? { stack }
                : isSource
                  ? { ...names, ...(line && { line }) }
                  : { callSite },
          )
        })
        // No two rows stand for the same place.
        const all = Array.from({ length: keys.size - FIRST }, (_, row) =>
          JSON.stringify(keys.site(row + FIRST), (_key, value: unknown) =>
            typeof value === 'bigint' ? String(value) : value,
          ),
        )
        expect(new Set(all).size).toBe(all.length)
      }),
    )
  })

  test('without room for more names, those that are known still make sites', () => {
    const keys = new SiteKeys({ bytes: 5 })
    const rowsOf = (...names: string[]) => {
      const batch = new EventBatch(names.length, 0, HEADER, new StringTable())
      for (const name of names) batch.push({ kind: 'alloc', function: name })
      keys.begin(batch)
      return names.map((_, i) => keys.row(batch, i))
    }
    expect(rowsOf('main', 'main')).toEqual([FIRST, FIRST])
    expect(keys.overflowed).toBe(false)
    expect(rowsOf('main', 'long', 'x')).toEqual([FIRST, OTHERS, FIRST + 1])
    expect(rowsOf('x', 'y', 'main')).toEqual([FIRST + 1, OTHERS, FIRST])
    expect(keys.overflowed).toBe(true)
  })

  test('look for a name for which there is no room once for each batch', () => {
    const keys = new SiteKeys({ bytes: 5 })
    const find = vi.spyOn(keys.names, 'find')
    for (const batches of [1, 2]) {
      const batch = new EventBatch(9, 0, HEADER, new StringTable())
      for (let line = 1; line <= 9; line++) batch.push({ kind: 'alloc', function: 'a long name', line })
      keys.begin(batch)
      for (let i = 0; i < 9; i++) expect(keys.row(batch, i)).toBe(OTHERS)
      expect(find).toHaveBeenCalledTimes(batches)
    }
  })

  test('are too many only if that of an event has no room, not where another stack of its batch has none', () => {
    const keys = new SiteKeys({ bytes: 5 })
    const strings = new StringTable({ parents: Uint32Array.of(0, 0, 0), depths: Uint32Array.of(0, 1, 1) })
    const lists = ['main', 'long'].map((name, i) =>
      strings.addStack(i + 1, Uint32Array.of(strings.internText(name)), 0, 0),
    )
    const batch = new EventBatch(2, 0, HEADER, strings)
    for (const list of lists) {
      batch.push({ kind: 'alloc', stack: [] })
      batch.stack[batch.count - 1] = list
    }
    keys.begin(batch)
    expect([keys.row(batch, 0), keys.overflowed]).toEqual([FIRST, false])
    expect([keys.row(batch, 1), keys.overflowed]).toEqual([OTHERS, true])
  })

  test('find each other again when the table has grown, and when it is full', () => {
    const keys = new SiteKeys({ rows: 5000 })
    const batchOf = (n: number) => {
      const batch = new EventBatch(n, 0, HEADER, new StringTable())
      for (let i = 0; i < n; i++) batch.push({ kind: 'alloc', function: `f${i % 100}`, line: Math.floor(i / 100) })
      return batch
    }
    const first = batchOf(4096)
    keys.begin(first)
    const rows = Array.from({ length: first.count }, (_, i) => keys.row(first, i))
    expect(new Set(rows).size).toBe(4096)
    const second = batchOf(6000)
    keys.begin(second)
    const again = Array.from({ length: second.count }, (_, i) => keys.row(second, i))
    expect(again.slice(0, 4096)).toEqual(rows)
    expect(again.slice(5000).every((row) => row === OTHERS)).toBe(true)
    expect(keys.overflowed).toBe(true)
  })
})
