import { expect, test } from 'vitest'
import { mappingOf } from '../../lib/metatf/mapping.js'
import { parseDtd } from '../../lib/metatf/index.js'
import { takeName } from '../../lib/metatf/names.js'
import { stopwatch } from '../support/stopwatch.js'

test('each name once, with the next number that is free', () => {
  const taken = new Map<string, number>()
  const names = ['x', 'x_3', 'x', 'x', 'x', 'x_3', 'x_3_2', 'y'].map((name) => takeName(name, taken, '_'))
  expect(names).toEqual(['x', 'x_3', 'x_2', 'x_4', 'x_5', 'x_3_2', 'x_3_2_2', 'y'])
  expect(new Set(names).size).toBe(names.length)
})

test('many equal names take no longer than others', { tags: ['slow'] }, () => {
  const records = Array.from({ length: 10 }, (_, i) => `r${i} : (tag${', x'.repeat(9000)}) { tag.value = ${4 + i}; }`)
  const dtd = parseDtd(`tag.width = 1; x.width = 1; x.interpretation = none; ${records.join('\n')}`, 'x.dtd')
  const time = stopwatch()
  const mapping = mappingOf(dtd)
  // With a search from the first number on, this takes half a minute.
  expect(time()).toBeLessThan(5000)
  expect([...(mapping.records.at(-1)?.keys.values() ?? [])].slice(-1)).toEqual(['x_9000'])
})
