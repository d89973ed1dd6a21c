import { describe, expect, test } from 'vitest'
import { U64Map } from '../../lib/bytes/u64-map.js'

const N = 1 << 16

/** Pairs of low and high words, the n-th from n. */
const chosen: Record<string, (n: number) => [number, number]> = {
  'multiples of 2^24 in both words': (n) => [((n & 255) << 24) >>> 0, ((n >>> 8) << 24) >>> 0],
  'equal low words': (n) => [0x7f00_0000, n],
  'equal high words, in steps of 2^16': (n) => [(n << 16) >>> 0, 7],
  'upper bits of the high word': (n) => [0, (n << 16) >>> 0],
  'addresses in steps of 2^20': (n) => [(n << 20) >>> 0, n >>> 12],
  'addresses in steps of 16': (n) => [0x1000 + 16 * n, 0x7f12],
  'equal words': (n) => [n, n],
  'words whose sum is equal': (n) => [n, -n >>> 0],
}

/** The processor time of adding and finding these keys, in microseconds. */
function time(pairOf: (n: number) => [number, number]): number {
  const start = process.cpuUsage()
  const map = new U64Map(0)
  for (let n = 0; n < N; n++) map.add(...pairOf(n))
  for (let n = 0; n < N; n++) map.find(...pairOf(n))
  const { user } = process.cpuUsage(start)
  expect(map.size).toBe(N)
  return user
}

const randomPair = (): [number, number] => [Math.floor(Math.random() * 2 ** 32), Math.floor(Math.random() * 2 ** 32)]

const random = Math.min(time(randomPair), time(randomPair), time(randomPair))

describe('keys that are chosen', () => {
  test.each(Object.entries(chosen))('take no longer than random ones: %s', (_, pairOf) => {
    const best = Math.min(time(pairOf), time(pairOf))
    expect(best).toBeLessThan(8 * random + 20_000)
  })
})
