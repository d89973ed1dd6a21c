import fc from 'fast-check'
import { expect, test } from 'vitest'
import { topOf } from '../../../lib/cli/report/top-of.js'

test('the first rows are those of a stable sort', () => {
  const rows = fc.array(fc.record({ key: fc.nat(9), number: fc.nat() }), { maxLength: 200 })
  fc.assert(
    fc.property(rows, fc.oneof(fc.nat(70), fc.constant(Infinity)), (all, n) => {
      const compare = (a: { key: number }, b: { key: number }) => b.key - a.key
      expect(topOf(all, compare, n)).toEqual(all.toSorted(compare).slice(0, n))
    }),
  )
})
