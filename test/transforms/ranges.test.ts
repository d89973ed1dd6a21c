import { describe, expect, it } from 'vitest'
import { parseRange, rangeWords } from '../../lib/transforms/ranges.js'

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
  it('gives four words a range', () => {
    const words = rangeWords([{ from: 0x1_0000_0002n, to: 0x3_0000_0004n }, {}])
    expect([...words]).toEqual([2, 1, 4, 3, 0, 0, 0xffff_ffff, 0xffff_ffff])
  })

  it('refuses what is no range of 64-bit integers', () => {
    expect(() => rangeWords([{ from: -1n }])).toThrow(RangeError)
    expect(() => rangeWords([{ from: 2n, to: 1n }])).toThrow('an empty range: 2..1')
  })
})
