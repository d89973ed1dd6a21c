import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRange, rangeWords } from '../../../lib/transforms/predicates/ranges.js'

describe('parseRange', () => {
  it.each([
    ['1..5', { from: 1n, to: 5n }],
    ['4K..1M', { from: 4096n, to: 1_048_576n }],
    ['2g..', { from: 2n ** 31n }],
    ['..0x7fff', { to: 0x7fffn }],
    ['0XfF..0xFFFFFFFFFFFFFFFF', { from: 255n, to: 2n ** 64n - 1n }],
    ['..', {}],
    ['42', { from: 42n, to: 42n }],
    [' 1 .. 2 ', { from: 1n, to: 2n }],
    ['9007199254740993', { from: 9_007_199_254_740_993n, to: 9_007_199_254_740_993n }],
  ])('reads %s', (text, range) => expect(parseRange(text)).toEqual(range))

  it.each(['', 'x', '1..x', '-1..5', '1.5', '0x10K', '1KB', '1...2', '1..2..3', '1,2'])('refuses %j', (text) => {
    expect(() => parseRange(text)).toThrow(/^not a range: /)
  })

  it('refuses ranges that nothing lies in', () => {
    expect(() => parseRange('5..4')).toThrow('an empty range: 5..4')
    expect(() => parseRange('18446744073709551616..')).toThrow(RangeError)
  })
})

describe('rangeWords', () => {
  it('gives first and last values', () => {
    expect([...rangeWords([{ from: 0x1_0000_0002n, to: 0x3_0000_0004n }])]).toEqual([0x1_0000_0002n, 0x3_0000_0004n])
    expect([...rangeWords([{}])]).toEqual([0n, 2n ** 64n - 1n])
    expect([...rangeWords([])]).toEqual([])
  })

  it('puts ranges in order, and joins those that touch', () => {
    const ranges = ['20..30', '5', '1..3', '4', '10..25', '31..', '11'].map(parseRange)
    expect([...rangeWords(ranges)]).toEqual([1n, 5n, 10n, 2n ** 64n - 1n])
  })

  it('keeps what lies in any of the ranges', () => {
    const value = fc.bigInt({ min: 0n, max: 12n })
    const range = fc.tuple(value, value).map(([a, b]) => (a < b ? { from: a, to: b } : { from: b, to: a }))
    fc.assert(
      fc.property(fc.array(range, { maxLength: 6 }), value, (ranges, v) => {
        const bounds = [...rangeWords(ranges)]
        const pairs = bounds.flatMap((from, b) => (b % 2 === 0 ? [[from, bounds[b + 1]] as const] : []))
        expect(pairs.some(([from, to]) => from <= v && v <= to)).toBe(
          ranges.some(({ from, to }) => from <= v && v <= to),
        )
        for (let b = 1; b + 1 < bounds.length; b += 2) expect(bounds[b + 1]).toBeGreaterThan(bounds[b] + 1n)
      }),
    )
  })

  it('refuses what is no range of 64-bit integers', () => {
    expect(() => rangeWords([{ from: -1n }])).toThrow(RangeError)
    expect(() => rangeWords([{ from: 2n, to: 1n }])).toThrow('an empty range: 2..1')
  })
})
