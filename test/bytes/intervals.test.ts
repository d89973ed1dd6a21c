import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Intervals } from '../../lib/bytes/intervals.js'
import { runs } from '../support/runs.js'

const hi = (value: bigint) => Number(value >> 32n)
const lo = (value: bigint) => Number(value & 0xffff_ffffn)

/** Few starts in a small space around the edge of a word, so that intervals meet. */
const step = fc.record({
  start: fc.bigInt({ min: 0xffff_e000n, max: 0x1_0000_2000n }),
  length: fc.bigInt({ min: 0n, max: 12n }),
  remove: fc.boolean(),
})

test('finds what an interval overlaps, as a search of all of them does', { tags: ['slow'] }, () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1200, maxLength: 1500 }), (steps) => {
      const intervals = new Intervals()
      const all = new Map<bigint, bigint>()
      for (const { start, length, remove } of steps) {
        const end = start + length
        const expected = [...all]
          .filter(([from, to]) => from === start || (from < end && start < to))
          .map(([from]) => from)
        const found = intervals.overlap(hi(start), lo(start), hi(end), lo(end))
        expect(found).toBe(expected.length > 0)
        if (found) {
          const from = (BigInt(intervals.startHi) << 32n) | BigInt(intervals.startLo)
          expect(expected).toContain(from)
          expect((BigInt(intervals.keyHi) << 32n) | BigInt(intervals.keyLo)).toBe(from * 2n)
          if (remove) {
            expect(intervals.remove(hi(from), lo(from))).toBe(true)
            all.delete(from)
          }
        } else {
          // Only intervals that overlap nothing: then neighbours are enough.
          intervals.put(hi(start), lo(start), hi(end), lo(end), hi(start * 2n), lo(start * 2n))
          all.set(start, end)
        }
        expect(intervals.size).toBe(all.size)
      }
      expect(intervals.remove(0, 0)).toBe(false)
    }),
    { numRuns: runs(30) },
  )
})

test('an interval with the same start is replaced', () => {
  const intervals = new Intervals()
  intervals.put(0, 16, 0, 32, 0, 1)
  intervals.put(0, 16, 0, 24, 0, 2)
  expect(intervals.size).toBe(1)
  expect(intervals.overlap(0, 24, 0, 40)).toBe(false)
  expect(intervals.overlap(0, 23, 0, 40)).toBe(true)
  expect(intervals.keyLo).toBe(2)
})

test('finds the others when all that lay side by side are gone', () => {
  const intervals = new Intervals()
  const n = 2000
  for (let i = 0; i < n; i++) intervals.put(0, 16 * i, 0, 16 * i + 8, 0, i)
  for (let i = 300; i < 1700; i++) expect(intervals.remove(0, 16 * i)).toBe(true)
  expect(intervals.size).toBe(600)
  for (let i = 0; i < n; i++) {
    expect(intervals.overlap(0, 16 * i + 4, 0, 16 * i + 5)).toBe(i < 300 || i >= 1700)
    expect(intervals.remove(0, 16 * i)).toBe(i < 300 || i >= 1700)
  }
})

/** Places in an order: `at(n)` for n from 0 gives each once. */
const orders: Record<string, (n: number, places: number) => number> = {
  ascending: (n) => n,
  descending: (n, places) => places - 1 - n,
  'from the middle': (n, places) => (n & 1 ? places / 2 + (n >> 1) : places / 2 - 1 - (n >> 1)),
  'from both ends': (n, places) => (n & 1 ? places - 1 - (n >> 1) : n >> 1),
  mixed: (n, places) => (n * 0x9e37_79b1) % places,
}

/** Adds an interval at each place in one order, removes all but each `kept`-th, and adds them again. */
function followModel(places: number, order: (n: number, places: number) => number, kept: number): void {
  const intervals = new Intervals()
  const there = new Uint8Array(places)
  const put = (place: number) => {
    // Sixteen bytes each, so that high words differ as well.
    const at = place * 4096
    intervals.put(Math.floor(at / 2 ** 32), at >>> 0, Math.floor((at + 16) / 2 ** 32), (at + 16) >>> 0, 0, place)
    there[place] = 1
  }
  const check = (place: number) => {
    const at = place * 4096
    const found = intervals.overlap(
      Math.floor(at / 2 ** 32),
      (at + 15) >>> 0,
      Math.floor(at / 2 ** 32),
      (at + 17) >>> 0,
    )
    if (found !== (there[place] === 1) || (found && intervals.keyLo !== place)) throw new Error(`place ${place}`)
  }
  for (let n = 0; n < places; n++) put(order(n, places))
  expect(intervals.size).toBe(places)
  for (let n = 0; n < places; n++) check((n * 0x85eb_ca6b) % places)
  for (let n = 0; n < places; n++) {
    const place = order(n, places)
    const at = place * 4096
    if (place % kept === 0) continue
    if (!intervals.remove(Math.floor(at / 2 ** 32), at >>> 0)) throw new Error(`no ${place}`)
    there[place] = 0
  }
  expect(intervals.size).toBe(Math.ceil(places / kept))
  for (let n = 0; n < places; n += 3) check(n)
  for (let n = 0; n < places; n++) if (there[n] === 0) put(order(n, places))
  for (let n = 0; n < places; n++) check(n)
}

describe('does as a plain array of places does', () => {
  test.each(Object.entries(orders))('%s', (_, order) => {
    followModel(1 << 15, order, 200)
    followModel(1 << 15, order, 1 << 15)
  })
  test.each(Object.entries(orders))('%s, with a million intervals', { tags: ['large'] }, (_, order) => {
    followModel(1 << 20, order, 200)
  })
})
