import { expect, test } from 'vitest'
import { NameTable } from '../../../lib/formats/arrow/name-table.js'

const strings = (text: string) => ({ bytes: Buffer.from(text), starts: Uint32Array.of(0, text.length) })

test('batches with the same dictionaries share a table, and those with others do not', () => {
  const names = new NameTable()
  const [first, second, third] = ['malloc', 'calloc', 'realloc'].map(strings)
  const table = (...parts: (typeof first)[]) => {
    names.begin()
    for (const part of parts) names.add(part)
    return names.table(undefined)
  }
  const both = table(first, second)
  expect(both.text(1)).toBe('calloc')
  expect(table(first, second)).toBe(both)
  expect(table(first, third).text(1)).toBe('realloc')
  expect(table(third).text(0)).toBe('realloc')
})
