import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventBatch } from '../../../lib/event/batch.js'
import { FieldBit } from '../../../lib/event/fields.js'
import { byCodes, byRanges } from '../../../lib/transforms/predicates/row-filter.js'

const FIELDS = FieldBit.size | FieldBit.api

/** A batch of random values, of which some are absent, and some of its rows. */
const selection = fc
  .record({ count: fc.integer({ min: 0, max: 9000 }), seed: fc.integer(), share: fc.constantFrom(0, 0.01, 0.5, 1) })
  .map(({ count, seed, share }) => {
    const random = mulberry(seed)
    const batch = new EventBatch(count, FIELDS, { format: 'test' })
    for (let i = 0; i < count; i++) {
      batch.mask[i] = random() < 0.9 ? FIELDS : random() < 0.5 ? FieldBit.size : 0
      batch.kind[i] = Math.floor(random() * 12)
      batch.api[i] = Math.floor(random() * 20)
      batch.size.values[i] = BigInt(Math.floor(random() * 100)) << (random() < 0.5 ? 0n : 57n)
    }
    batch.count = count
    return { batch, rows: Int32Array.from({ length: count }, (_, i) => i).filter(() => random() < share) }
  })

/** Numbers from 0 to 1, the same for the same seed. */
function mulberry(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b_79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const value = fc.oneof(
  fc.bigInt({ min: 0n, max: 100n }),
  fc
    .bigInt({ min: 0n, max: 100n })
    .map((v) => v << 57n)
    .filter((v) => v < 2n ** 64n),
)
const range = fc.tuple(value, value).map(([a, b]) => (a < b ? { from: a, to: b } : { from: b, to: a }))

describe('rows are narrowed in batches of any size', () => {
  it('to those in some ranges', () => {
    fc.assert(
      fc.property(selection, fc.array(range, { maxLength: 9 }), ({ batch, rows }, ranges) => {
        const expected = rows.filter(
          (i) =>
            (batch.mask[i] & FieldBit.size) !== 0 &&
            ranges.some(({ from, to }) => from <= batch.size.values[i] && batch.size.values[i] <= to),
        )
        const kept = rows.slice()
        const n = byRanges('size', ranges)(batch, kept, rows.length)
        expect([...kept.subarray(0, n)]).toEqual([...expected])
      }),
    )
  })

  it('to those with some codes', () => {
    fc.assert(
      fc.property(selection, fc.uint8Array({ minLength: 256, maxLength: 256, max: 1 }), ({ batch, rows }, wanted) => {
        for (const column of ['kind', 'api'] as const) {
          const has = column === 'kind' ? 0 : FieldBit.api
          const expected = rows.filter((i) => (batch.mask[i] & has) === has && wanted[batch[column][i]] === 1)
          const kept = rows.slice()
          const n = byCodes(column, wanted)(batch, kept, rows.length)
          expect([...kept.subarray(0, n)]).toEqual([...expected])
        }
      }),
    )
  })
})

it("two criteria do not see each other's ranges", () => {
  const batch = new EventBatch(3, FIELDS, { format: 'test' })
  batch.mask.fill(FIELDS)
  batch.size.values.set([1n, 2n, 3n])
  batch.count = 3
  const [ones, threes] = [
    byRanges('size', [{ from: 1n, to: 1n }]),
    byRanges('size', [{ from: 3n, to: 3n }, { from: 9n }]),
  ]
  const kept = [ones, threes, ones].map((narrow) => {
    const rows = Int32Array.of(0, 1, 2)
    return [...rows.subarray(0, narrow(batch, rows, 3))]
  })
  expect(kept).toEqual([[0], [2], [0]])
})

it('refuses more ranges than there is room for', () => {
  const apart = (n: number) => Array.from({ length: n }, (_, i) => ({ from: BigInt(2 * i), to: BigInt(2 * i) }))
  expect(() => byRanges('size', apart(65_537))).toThrow(RangeError)
  const rows = Int32Array.of(0, 1)
  const batch = new EventBatch(2, FIELDS, { format: 'test' })
  batch.mask.fill(FIELDS)
  batch.size.values.set([131_071n, 131_070n])
  batch.count = 2
  expect(byRanges('size', apart(65_536))(batch, rows, 2)).toBe(1)
  expect(rows[0]).toBe(1)
})
