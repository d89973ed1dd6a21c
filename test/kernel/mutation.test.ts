import { afterEach, describe, expect, it, vi } from 'vitest'
import { CHECKED } from '../../lib/kernel/checked.js'
import { shapesOf, type Shape } from '../shapes/shape.js'
import { compareWithArray, KEYS } from '../support/model.js'
import { compileKernel, compileModules, type Edit } from './modules.js'
import { TABLES } from './tables.js'

/** The live set has room for half as many free numbers as its table has slots, but a large table fills to 5/8. */
const halfTheRoom: Edit = (path, text) => {
  if (path !== 'live/set.ts') return text
  const mutated = text?.replace('const UNUSED: u32 = 2\n', 'const UNUSED: u32 = 1\n') ?? ''
  expect(mutated).not.toBe(text)
  return mutated
}

const { source, structure } = TABLES['live/set']!
/** As many keys as the smallest table that is filled to 5/8 has room for. */
const N = 5 << 14

describe('a live set with half the room for free numbers is noticed', { tags: ['slow'] }, () => {
  it('by the comparison with an array', async () => {
    const [make, makeMutated] = [await compileModules(source, false), await compileModules(source, false, halfTheRoom)]
    compareWithArray(structure(make()), KEYS['addresses']!, N, true)
    expect(() => compareWithArray(structure(makeMutated()), KEYS['addresses']!, N, true)).toThrow(
      /was changed|key \d+ of/,
    )
  })

  it('by the checked kernel', async () => {
    const make = await compileModules(source, true, halfTheRoom)
    const { clear, add, remove } = structure(make())
    clear()
    for (let i = 0; i < N; i++) expect(add(KEYS['addresses']!(i), 1)).toBeGreaterThan(0)
    expect(() => {
      for (let i = 0; i < N; i++) remove?.(KEYS['addresses']!(i))
    }).toThrow(/an access is not in a room \(kernel\/live\/set\.ts:\d+\)/)
  })

  it('by shapes of programs', async () => {
    const shape: Shape = { ...shapesOf([145_000], 1)[0]!, deaths: 'birth', reallocs: 'none', reused: false }
    const check = async (edit?: Edit) => {
      const bytes = await compileKernel('statistics', CHECKED, edit)
      vi.resetModules()
      vi.doMock('../../lib/kernel/read-kernel.js', () => ({ readKernel: () => bytes }))
      const { checkStatistics } = await import('../shapes/check.js')
      checkStatistics(shape)
    }
    await check()
    await expect(check(halfTheRoom)).rejects.toThrow(
      CHECKED ? 'an access is not in a room' : 'memory access out of bounds',
    )
  })
})

afterEach(() => {
  vi.doUnmock('../../lib/kernel/read-kernel.js')
  vi.resetModules()
})
