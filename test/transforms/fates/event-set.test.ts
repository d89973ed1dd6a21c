import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventSet } from '../../../lib/transforms/fates/event-set.js'
import { runs } from '../../support/runs.js'

const anyNumber = fc.oneof(
  fc.nat({ max: 200_000 }),
  fc.integer({ min: 2 ** 32 - 9, max: 2 ** 32 + 9 }),
  fc.integer({ min: 2 ** 53 - 20, max: 2 ** 53 - 1 }),
)

/** The numbers of a window that are marked. */
function marked(set: EventSet, first: number, count: number): number[] {
  const marks = new Uint32Array(count + 1)
  set.mark(marks, first, count)
  expect(marks[count]).toBe(0)
  return Array.from(marks.subarray(0, count)).flatMap((mark, i) => (mark === 1 ? [first + i] : []))
}

test('has the numbers that were added, in whatever order', () => {
  const windows = fc.tuple(fc.nat({ max: 5000 }), fc.integer({ min: 1, max: 5000 }))
  fc.assert(
    fc.property(fc.uniqueArray(anyNumber, { maxLength: 50 }), fc.array(windows, { maxLength: 5 }), (numbers, some) => {
      const set = new EventSet()
      for (const number of numbers) set.add(number)
      for (const number of numbers) {
        for (const [before, count] of some) {
          const first = Math.max(0, number - before)
          const expected = numbers.filter((one) => one >= first && one < first + count).toSorted((a, b) => a - b)
          expect(marked(set, first, count)).toEqual(expected)
        }
      }
    }),
    { numRuns: runs(200) },
  )
})

test('has many as it has few', () => {
  const set = new EventSet()
  const numbers = Array.from({ length: 60_000 }, (_, i) => (i * 7919) % 131_072).filter((number) => number % 3 !== 0)
  for (const number of numbers) set.add(number)
  const expected = numbers.toSorted((a, b) => a - b)
  expect(marked(set, 0, 131_072)).toEqual(expected)
  expect(marked(set, 60_000, 10_000)).toEqual(expected.filter((number) => number >= 60_000 && number < 70_000))
})
