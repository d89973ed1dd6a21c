import { describe, it } from 'vitest'
import { isWhole } from '../support/runs.js'
import { checkStatistics as check } from './check.js'
import { shapesOf, type Shape } from './shape.js'

/** The largest number of blocks. */
const MOST = Number(process.env['HEAPFLOW_SHAPE_BLOCKS'] ?? (isWhole() ? 250_000 : 40_000))

/** Numbers of blocks from `from` to `to` in steps of 1.3. */
function steps(from: number, to: number): number[] {
  const all: number[] = []
  for (let n = from; n <= to; n *= 1.3) all.push(Math.round(n))
  return all
}

describe('figures of shapes of programs equal those of plain code', () => {
  it('for few blocks', () => {
    for (const shape of shapesOf([0, 1, 2, ...steps(10, 400)], 1)) check(shape)
  })

  it('for few blocks, in many ways', { tags: ['slow'] }, () => {
    for (let seed = 2; seed <= (isWhole() ? 6 : 2); seed++)
      for (const shape of shapesOf([0, 1, 2, ...steps(10, 3000)], seed)) check(shape)
  })

  // More than 131,072 blocks, all of them freed: the list of unused numbers is as long as it gets.
  it.each([145_000])('for %d blocks that are freed', (blocks) => {
    check({ ...(shapesOf([blocks], 1)[0] as Shape), deaths: 'birth', reallocs: 'none', reused: false, faulty: false })
  })

  describe('for many blocks', { tags: ['slow'] }, () => {
    it.each(shapesOf(steps(3000, MOST), 4))('$blocks, freed: $deaths, reallocs: $reallocs', check)
  })
})
