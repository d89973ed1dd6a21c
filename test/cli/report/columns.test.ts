import { expect, test } from 'vitest'
import { bytes, tableLines } from '../../../lib/cli/report/columns.js'

test.each([
  [1_048_575n, '1,048,575 bytes'],
  [1_048_576n, '1,048,576 bytes (1.0 MiB)'],
  [1_073_688_000n, '1,073,688,000 bytes (1023.9 MiB)'],
  [1_073_741_823n, '1,073,741,823 bytes (1.0 GiB)'],
  [2n ** 64n - 1n, '18,446,744,073,709,551,615 bytes (16.0 EiB)'],
])('%i bytes are in the unit in which they are less than 1024, as rounded', (n, text) => {
  expect(bytes(n)).toBe(text)
})

test('headers take two lines, and rows only where that is not enough', () => {
  const table = {
    title: 'Title',
    heads: [' thread', 'temporary (heaptrack)', 'cross-thread'],
    rows: [['1', '12,345', '7']],
  }
  const lines = (columns: number) => tableLines(table, columns).slice(1)
  expect(lines(45)).toEqual([
    '  thread  temporary (heaptrack)  cross-thread',
    '  1                      12,345             7',
  ])
  expect(lines(44)).toEqual([
    '            temporary  cross-',
    '  thread  (heaptrack)  thread',
    '  1            12,345       7',
  ])
  expect(lines(28)).toEqual([
    '            temporary',
    '      cross-',
    '  thread  (heaptrack)',
    '      thread',
    '  1            12,345',
    '           7',
  ])
})
