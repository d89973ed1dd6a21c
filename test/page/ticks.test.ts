import { describe, expect, test } from 'vitest'
import { csv, fileName, fileNumber } from '../../page/parts/csv.js'
import { visible, withoutMiddle } from '../../page/parts/text.js'
import { ticks, type Quantity } from '../../page/parts/ticks.js'
import { inNumbers } from '../../page/filter/times.js'

const MS: Quantity = { kind: 'duration', seconds: 1e-3 }
const NS: Quantity = { kind: 'duration', seconds: 1e-9 }

describe('marks of an axis', () => {
  test.each<[number, number, number, Quantity, string[]]>([
    [0, 1, 6, { kind: 'count' }, ['0', '1']],
    [0, 60_000, 7, { kind: 'count' }, ['0', '10,000', '20,000', '30,000', '40,000', '50,000', '60,000']],
    [0, 4e6, 4, { kind: 'count' }, ['0 M', '1 M', '2 M', '3 M', '4 M']],
    [0, 120, 6, MS, ['0 ms', '20 ms', '40 ms', '60 ms', '80 ms', '100 ms', '120 ms']],
    [75, 125, 5, MS, ['80 ms', '90 ms', '100 ms', '110 ms', '120 ms']],
    [0, 2500, 5, MS, ['0.0 s', '0.5 s', '1.0 s', '1.5 s', '2.0 s', '2.5 s']],
    [0, 900e9, 3, NS, ['0 min', '5 min', '10 min', '15 min']],
    [0, 3e6, 4, { kind: 'bytes' }, ['0 MiB', '1 MiB', '2 MiB']],
    [0, 1000, 4, { kind: 'bytes' }, ['0 B', '256 B', '512 B', '768 B']],
    [0, 10, 5, { kind: 'duration' }, ['0', '2', '4', '6', '8', '10']],
    [2, 105, 2, { kind: 'count' }, ['50', '100']],
    [1, 86_288, 2, { kind: 'count' }, ['20,000', '60,000']],
    [5, 5, 5, { kind: 'count' }, ['5']],
  ])('from %d to %d, at most %d of %j', (from, to, most, quantity, texts) => {
    expect(ticks(from, to, most, quantity).texts).toEqual(texts)
  })

  test('are round, in one unit, and no two are alike', () => {
    const quantities: Quantity[] = [{ kind: 'bytes' }, { kind: 'count' }, MS, NS, { kind: 'duration' }]
    let seed = 7
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
    for (let n = 0; n < 3000; n++) {
      const quantity = quantities[n % quantities.length]
      const from = random() < 0.5 ? 0 : 10 ** (random() * 9)
      const to = from + Math.max(1, 10 ** (random() * 15 - 2))
      const most = [2, 3, 8][n % 3]!
      const { at, texts } = ticks(from, to, most, quantity)
      expect(at.length).toBeLessThanOrEqual(most + 1)
      expect(new Set(texts).size, `${from} to ${to}: ${texts.join()}`).toBe(texts.length)
      expect(new Set(texts.map((text) => text.replace(/^[\d.,]+/, ''))).size).toBeLessThanOrEqual(1)
      expect(at.every((one) => one >= from - 1e-6 * to && one <= to * (1 + 1e-6))).toBe(true)
    }
  })
})

test('characters that change the direction of a text are shown by their numbers', () => {
  expect(visible('a\u202egnp.exe\0')).toBe('a⟨U+202E⟩gnp.exe⟨U+0000⟩')
  expect(visible('שלום\tx\n')).toBe('שלום\tx\n')
})

test('cells of CSV files are quoted, and are no formulas', () => {
  expect(csv([['a', 'b,c', 'd"e', 'f\ng']])).toBe('a,"b,c","d""e","f\ng"\r\n')
  expect(csv([['=1+1', '+1', '-1', '-x', '@SUM(A1)', '\tx', '5.5', '%x']])).toBe(
    "'=1+1,'+1,-1,'-x,'@SUM(A1),'\tx,5.5,'%x\r\n",
  )
  expect(csv([['=cmd|"/c calc"!A0']])).toBe('"\'=cmd|""/c calc""!A0"\r\n')
  expect(['1,234 bytes', '▲ +1,234', '▼ −5', '= 0', '12.3 %', '–'].map(fileNumber)).toEqual([
    '1234',
    '1234',
    '-5',
    '0',
    '12.3 %',
    '–',
  ])
  expect(fileName('../a b<c>.csv', 'csv')).toBe('a-b-c-csv.csv')
})

test('long names lose their middle', () => {
  expect(withoutMiddle('short', 5)).toBe('short')
  expect(withoutMiddle('/lib/x86_64-linux-gnu/libc.so.6+0x5a7184', 16)).toBe('/lib/x…+0x5a7184')
})

test('times with units count from the first event, and become those of the trace', () => {
  const time = { unit: 'us' as const, first: 1_000_000, last: 3_000_000, span: 2_000_000 }
  expect(inNumbers('time', '10ms..20ms', time)).toBe('1010000..1020000')
  expect(inNumbers('time', '10 ms..', time)).toBe('1010000..')
  expect(inNumbers('part', '0.5s..1s', time)).toBe('time:1500000..2000000')
  expect(inNumbers('live-at', '1s', time)).toBe('time:2000000')
  expect(inNumbers('live-at', 'peak', time)).toBe('peak')
  expect(inNumbers('time', '5..7', time)).toBe('5..7')
  expect(inNumbers('function', '10ms', time)).toBe('10ms')
  const { unit: _, ...unknown } = time
  expect(() => inNumbers('time', '10ms..', unknown)).toThrow(
    'the trace does not say the unit of its times: give its own numbers in place of "10ms.."',
  )
})
