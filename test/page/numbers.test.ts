import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstRows, numbersOf, rowsWhere, sumOf } from '../../page/flame/numbers.js'
import { runs } from '../support/runs.js'

const LARGE = 2 ** 53

test('columns are numbers, and sums of their rows are exact beyond 2^53', () => {
  const values = [3, String(LARGE + 2), 0, 5, String(BigInt(LARGE) * 4n + 1n)]
  expect(Array.from(numbersOf(values))).toEqual([3, LARGE + 2, 0, 5, LARGE * 4])
  expect(numbersOf(values)).toBe(numbersOf(values))
  expect(sumOf(values, [0, 2, 3])).toBe(8)
  expect(sumOf(values, [])).toBe(0)
  const sums = fc.array(fc.tuple(fc.bigInt(0n, BigInt(LARGE) * 8n), fc.boolean()), { maxLength: 20 })
  fc.assert(
    fc.property(sums, (column) => {
      const integers = column.map(([value]) => (value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value)))
      const rows = Uint32Array.from([...column.keys()].filter((n) => column[n]![1]))
      const sum = column.reduce((all, [value, isTaken]) => (isTaken ? all + value : all), 0n)
      expect(BigInt(sumOf(integers, rows))).toBe(sum)
    }),
    { numRuns: runs(200) },
  )
})

test('the first rows are those of the whole order, also where many are equal', () => {
  const columns = fc.array(fc.tuple(fc.nat(4), fc.nat(3)), { maxLength: 60 })
  fc.assert(
    fc.property(columns, fc.nat(70), fc.boolean(), (values, count, isPart) => {
      const by = Float64Array.from(values, ([first]) => first)
      const compare = (a: number, b: number) => by[b]! - by[a]! || values[b]![1] - values[a]![1] || a - b
      const all = Uint32Array.from(values.keys())
      const rows = rowsWhere(all, (row) => !isPart || row % 3 > 0)
      expect(rows).toEqual(all.filter((row) => !isPart || row % 3 > 0))
      expect(firstRows(rows, count, by, compare)).toEqual(Array.from(rows).toSorted(compare).slice(0, count))
    }),
    { numRuns: runs(300) },
  )
})
