import { describe, expect, test } from 'vitest'
import { hashWord } from '../../lib/bytes/hash.js'
import { U64Map } from '../../lib/bytes/u64-map.js'
import { randomOf } from '../support/model.js'
import { SEED } from '../support/seed.js'

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

const draw = randomOf(SEED)
const randomPair = (): [number, number] => [draw(2 ** 32), draw(2 ** 32)]

const random = Math.min(time(randomPair), time(randomPair), time(randomPair))

describe('keys that are chosen', () => {
  test.each(Object.entries(chosen))('take no longer than random ones: %s', (_, pairOf) => {
    const best = Math.min(time(pairOf), time(pairOf))
    expect(best).toBeLessThan(8 * random + 20_000)
  })
})

test('clearing takes no longer than the entries did', () => {
  const map = new U64Map(1)
  for (let n = 0; n < 8 * N; n++) map.add(n, n)
  const start = process.cpuUsage()
  for (let n = 0; n < N; n++) {
    map.clear()
    if (n % 2 === 0) map.values[map.add(n, 7)] = n
    if (map.size !== 1 - (n % 2)) throw new Error('there are others')
    if (n % 2 === 0 && map.values[map.find(n, 7)] !== n) throw new Error(`${n} is not there`)
  }
  const { user } = process.cpuUsage(start)
  expect(user).toBeLessThan(20 * random + 200_000)
})

test('keys that collide under a secret are spread under another, with their values', { tags: ['slow'] }, () => {
  const keys: [number, number][] = []
  for (let n = 0; keys.length < 500; n++) {
    const key = randomPair()
    if ((hashWord(hashWord(0, key[0]), key[1]) & 0x3fff) === 77) keys.push(key)
  }
  const map = new U64Map(1)
  keys.forEach((key, i) => {
    const slot = map.add(...key)
    map.values[slot] = i
  })
  const slots = keys.map((key) => map.find(...key))
  // Under the secret before, each key was in the slot after that of another one.
  expect(Math.max(...slots) - Math.min(...slots)).toBeGreaterThan(512)
  expect(slots.map((slot) => map.values[slot])).toEqual(keys.map((_, i) => i))
  for (const key of keys.slice(0, 250)) map.remove(map.find(...key))
  expect(keys.map((key) => map.find(...key) >= 0)).toEqual(keys.map((_, i) => i >= 250))
})
