import { expect, test } from 'vitest'
import {
  bytes,
  counted,
  duration,
  exactBytes,
  grouped,
  rounded,
  share,
  short,
  withNoun,
} from '../../page/parts/format.js'

test('bytes are in binary units, and in full', () => {
  expect([0, 1, 1023, 1024, 1536, 1_048_575, 1_048_576, 107_042_242].map((n) => bytes(n))).toEqual([
    '0 B',
    '1 B',
    '1,023 B',
    '1 KiB',
    '1.5 KiB',
    '1 MiB',
    '1 MiB',
    '102 MiB',
  ])
  expect([1_048_063, 1_048_064].map((n) => bytes(n))).toEqual(['1023 KiB', '1 MiB'])
  expect(bytes('18446744073709551615')).toBe('16 EiB')
  expect(bytes(-2048n)).toBe('-2 KiB')
  expect(exactBytes('18446744073709551615')).toBe('18,446,744,073,709,551,615 bytes')
  expect(exactBytes(1)).toBe('1 byte')
})

test('counts are short, rounded or in full', () => {
  expect([0, 9999, 12_345, 12_000, 999_499, 999_500, 1_500_000, 2e12].map((n) => short(n))).toEqual([
    '0',
    '9,999',
    '12.3 k',
    '12 k',
    '999 k',
    '1 M',
    '1.5 M',
    '2 T',
  ])
  expect([0.042, 1.234, 12.34, 1234.5, 7].map((n) => rounded(n))).toEqual(['0.04', '1.23', '12.3', '1,235', '7'])
  expect(grouped(-1234)).toBe('-1,234')
  expect(counted(1, 'block')).toBe('1 block')
  expect(counted(1234, 'block')).toBe('1,234 blocks')
  expect([1, 10_000].map((n) => withNoun(short(n), 'event'))).toEqual(['1 event', '10 k events'])
})

test('parts of a whole are percentages, unless the whole is nothing', () => {
  expect(share(1, 8)).toBe('12.5 %')
  expect(share(0, 0)).toBe('–')
})

test('durations are in a fitting unit', () => {
  expect(duration(1_500, 'us')).toBe('1.50 ms')
  expect(duration(0, 'ns')).toBe('0 s')
  expect(duration(250, 'ns')).toBe('250 ns')
  expect(duration('90000000000', 'us')).toBe('25 h 0 min')
  expect(duration(150_000_000, 'us')).toBe('2 min 30 s')
  expect([179_400, 179_700, 3_599_400, 3_599_700, 7_199_000].map((ms) => duration(ms, 'ms'))).toEqual([
    '2 min 59 s',
    '3 min 0 s',
    '59 min 59 s',
    '1 h 0 min',
    '2 h 0 min',
  ])
  expect(duration(12_345, undefined)).toBe('12.3 k units')
  expect(duration(1, undefined)).toBe('1 unit')
})

test('durations have as many digits as a step needs', () => {
  expect(duration(1_520_400, 'us', 100)).toBe('1.5204 s')
  expect(duration(1_520_400, 'us', 200_000)).toBe('1.52 s')
  expect(duration(12_345, undefined, 5)).toBe('12,345')
})
