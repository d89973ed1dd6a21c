import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Addresses } from '../../lib/generate/addresses.js'
import { codeOf, coarser, FINEST, leastOf, widthOf } from '../../lib/generate/codes.js'
import { Deaths } from '../../lib/generate/deaths.js'
import { Random } from '../../lib/generate/random.js'
import { RowTable } from '../../lib/generate/row-table.js'
import { runs } from '../support/runs.js'

describe('random numbers', () => {
  test('are those of the published generator', () => {
    // xoshiro128** from the state 1, 2, 3, 4, as its authors' program prints them.
    const random = new Random(0)
    Object.assign(random, { a: 1, b: 2, c: 3, d: 4 })
    expect(Array.from({ length: 5 }, () => random.next())).toEqual([11_520, 0, 5_927_040, 70_819_200, 2_031_721_883])
  })

  test('depend on all of the seed', () => {
    const first = [0, 1, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1].map((seed) => new Random(seed).next())
    expect(new Set(first).size).toBe(5)
  })

  test('are evenly distributed', () => {
    const random = new Random(7)
    const counts = Array.from({ length: 10 }, () => 0)
    for (let i = 0; i < 100_000; i++) counts[random.below(10)]!++
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500)
  })
})

test('codes have ranges that follow each other', () => {
  for (let bits = 0; bits <= FINEST; bits++) {
    let next = 0
    for (let code = 0; next < 2 ** 47; code++) {
      expect(leastOf(code, bits)).toBe(next)
      expect(codeOf(next, bits)).toBe(code)
      next += widthOf(code, bits)
      expect(codeOf(next - 1, bits)).toBe(code)
      if (bits > 0) expect(coarser(code, bits)).toBe(codeOf(leastOf(code, bits), bits - 1))
    }
  }
})

test('blocks end at their moments, as in a plain list', () => {
  const lives = fc.oneof(fc.nat(3), fc.nat(600), fc.nat(70_000), fc.nat(20_000_000))
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(5), lives), { maxLength: 200 }), (blocks) => {
      const deaths = new Deaths()
      const model: { block: number; moment: number }[] = []
      let block = 0
      for (const [wait, life] of blocks) {
        for (let i = 0; i < wait; i++) deaths.advance()
        // What ends now is taken before the next moment.
        deaths.add(block, deaths.now + life)
        model.push({ block: block++, moment: deaths.now + life })
        const due = model.filter(({ moment }) => moment === deaths.now).map((one) => one.block)
        const taken: number[] = []
        for (let one = deaths.take(); one >= 0; one = deaths.take()) taken.push(one)
        expect(taken.toSorted((a, b) => a - b)).toEqual(due)
        for (const one of due)
          model.splice(
            model.findIndex((entry) => entry.block === one),
            1,
          )
        expect(deaths.size).toBe(model.length)
        // The moments between are not skipped in the model.
        while (model.some(({ moment }) => moment > deaths.now && moment <= deaths.now + 5)) {
          deaths.advance()
          for (let one = deaths.take(); one >= 0; one = deaths.take()) {
            const at = model.findIndex((entry) => entry.block === one)
            expect(model[at]?.moment).toBe(deaths.now)
            model.splice(at, 1)
          }
        }
      }
      const rest = model.toSorted((a, b) => a.moment - b.moment || a.block - b.block).map((one) => one.block)
      expect(deaths.drain()).toEqual(rest)
    }),
    { numRuns: runs(50) },
  )
})

test('addresses are aligned, and no two live blocks overlap', () => {
  const sizes = fc.oneof(fc.nat(200), fc.nat(100_000), fc.constantFrom(0, 1, 2 ** 30, 2 ** 30 + 1, 2 ** 40 - 1))
  const calls = fc.array(fc.record({ size: sizes, log: fc.constantFrom(0, 0, 0, 5, 6, 12, 20), free: fc.nat() }))
  fc.assert(
    fc.property(calls, (list) => {
      const places = new Addresses()
      const live: { address: number; size: number; list: number }[] = []
      for (const { size, log, free } of list) {
        const address = places.take(size, log === 0 ? 0 : 2 ** log)
        expect(address % Math.max(16, 2 ** log)).toBe(0)
        for (const other of live)
          expect(
            address + Math.max(1, size) <= other.address || other.address + Math.max(1, other.size) <= address,
          ).toBe(true)
        live.push({ address, size, list: places.list })
        if (free % 2 === 0) continue
        const [gone] = live.splice(free % live.length, 1)
        places.give(gone!.address, gone!.list)
      }
    }),
    { numRuns: runs(50) },
  )
})

test('rows are counted as in a map', () => {
  const rows = fc.array(fc.tuple(fc.nat(40), fc.nat(3), fc.nat(2), fc.nat(1)), { maxLength: 800 })
  fc.assert(
    fc.property(rows, (list) => {
      const table = new RowTable()
      const model = new Map<string, number>()
      for (const [a, b, c, d] of list) {
        table.count(a, b, c, d, 1)
        model.set(`${a} ${b} ${c} ${d}`, (model.get(`${a} ${b} ${c} ${d}`) ?? 0) + 1)
      }
      const found = Array.from({ length: table.size }, (_, row) => [
        table.words.slice(4 * row, 4 * row + 4).join(' '),
        table.counts[row],
      ])
      expect(new Map(found as [string, number][])).toEqual(model)
      expect(table.row(99, 0, 0, 0, table.size)).toBe(-1)
    }),
    { numRuns: runs(50) },
  )
})
