// @module-tag slow
import { describe, expect, it } from 'vitest'
import { around, compareWithArray, fillMemory, KEYS } from '../support/model.js'
import { isTestedSize, isWhole } from '../support/runs.js'
import { compileModules } from './modules.js'
import { TABLES } from './tables.js'

const QUICK = 1 << 12
/** With fewer keys than this, all patterns of keys are tested. */
const MANY = isWhole() ? 1 << 17 : 1 << 14
/** Where property tests make fewer runs, these patterns are enough for many keys. */
const isUsual = (name: string): boolean => isWhole() || name === 'random' || name.startsWith('one hash')

describe.each(Object.entries(TABLES))('%s', async (_, table) => {
  const { source, structure, growth, isUnique = false, keys = Object.keys(KEYS) } = table
  const make = await compileModules(source)
  const sizes = [1, 2, 3, 100, ...around(growth)]

  it.each(keys)('does as an array does: %s', (name) => {
    const one = structure(make())
    for (const n of sizes) if (n <= QUICK) compareWithArray(one, KEYS[name]!, n, isUnique)
  })

  it('keeps what it has when memory ends', () => {
    for (const bytes of [1 << 16, 1 << 18, 5 << 16, 1 << 20]) {
      const n = fillMemory(structure(make(bytes)), KEYS['addresses']!, 1 << 18)
      expect(n).toBeGreaterThan(bytes >> 11)
    }
  })

  describe('with many keys', { tags: ['slow'] }, () => {
    it.each(keys.filter(isUsual))('%s', (name) => {
      for (const n of sizes) if (n > QUICK && n < MANY) compareWithArray(structure(make()), KEYS[name]!, n, isUnique)
    })
    it.each(growth.filter((n) => n >= 1 << 17 && isTestedSize(n)).flatMap((n) => [n, n + 1]))('%i', (n) => {
      compareWithArray(structure(make()), KEYS['addresses']!, n, isUnique)
    })
  })
})
