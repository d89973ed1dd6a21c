import { describe, it } from 'vitest'
import { checkStatistics as check } from './check.js'
import { shapesOf, type Shape } from './generate.js'

/** Numbers of blocks from `from` to `to` in steps of 1.3. */
function steps(from: number, to: number): number[] {
  const all: number[] = []
  for (let n = from; n <= to; n *= 1.3) all.push(Math.round(n))
  return all
}

describe('figures of shapes of programs equal those of plain code', () => {
  it('for few blocks', () => {
    const numbers = [0, 1, 2, ...steps(10, 3000)]
    for (let seed = 1; seed <= 3; seed++) for (const shape of shapesOf(numbers, seed)) check(shape)
  })

  // More than 131,072 blocks, all of them freed: the list of unused numbers is as long as it gets.
  it.each([145_000, 163_000])('for %d blocks that are freed', (blocks) => {
    check({ ...(shapesOf([blocks], 1)[0] as Shape), deaths: 'birth', reallocs: 'none', reused: false })
  })

  describe('for many blocks', { tags: ['slow'] }, () => {
    it.each(shapesOf(steps(3000, 5_000_000), 4))('$blocks, freed: $deaths, reallocs: $reallocs', check)
  })
})
