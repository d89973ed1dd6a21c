import { describe, expect, it } from 'vitest'
import { HashIndex } from '../../lib/bytes/hash-index.js'
import { U64Map } from '../../lib/bytes/u64-map.js'
import { compareWithArray, KEYS, type Structure } from '../support/model.js'

/** The low word of a key, and the high one. */
const wordsOf = (key: bigint): [number, number] => [Number(key & 0xffff_ffffn), Number(key >> 32n)]

/** A map whose values are two words. */
function mapStructure(): Structure {
  const map = new U64Map(2, 16)
  return {
    clear: () => map.clear(),
    add(key, value) {
      const slot = map.add(...wordsOf(key))
      if (map.values[2 * slot] !== 0 || map.values[2 * slot + 1] !== 0) throw new Error('a new slot is not empty')
      map.values[2 * slot] = value
      map.values[2 * slot + 1] = value ^ 0xff
      return value
    },
    get(key) {
      const slot = map.find(...wordsOf(key))
      if (slot < 0) return 0
      const value = map.values[2 * slot]!
      return map.values[2 * slot + 1] === (value ^ 0xff) ? value : -1
    },
    remove: (key) => map.remove(map.find(...wordsOf(key))),
    size: () => map.size,
    check() {
      let visited = 0
      map.forEach(() => visited++)
      if (visited !== map.size) throw new Error(`${visited} slots are visited, not ${map.size}`)
    },
  }
}

/** An index of keys that are in an array. @param hashOf the hash of a key */
function indexStructure(hashOf: (key: bigint) => number): Structure {
  const index = new HashIndex()
  const keys: bigint[] = []
  const values: number[] = []
  const find = (key: bigint) => {
    let number = index.first(hashOf(key))
    while (number >= 0 && keys[number] !== key) number = index.next(number)
    return number
  }
  return {
    clear() {
      index.clear()
      keys.length = values.length = 0
    },
    add(key, value) {
      index.put(keys.length, hashOf(key))
      keys.push(key)
      values.push(value)
      return value
    },
    get(key) {
      const number = find(key)
      return number < 0 ? 0 : values[number]!
    },
    size: () => keys.length,
  }
}

const HASHES: Record<string, (key: bigint) => number> = {
  'the low word': (key) => Number(key & 0xffff_ffffn) | 0,
  'a product': (key) => Math.imul(Number(key & 0xffff_ffffn) ^ Number(key >> 32n), 0x9e37_79b1),
  'one of 64 hashes': (key) => Number((key * 0x9e37_79b9_7f4a_7c15n) & 63n) - 32,
}
const SIZES = [1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 639, 640, 641, 2000]

describe('U64Map', () => {
  it.each(Object.entries(KEYS))('does as an array does: %s', (_, keyOf) => {
    for (const n of SIZES) compareWithArray(mapStructure(), keyOf, n)
  })
  it.each(Object.entries(KEYS))('does as an array does, many: %s', { tags: ['large'] }, (_, keyOf) => {
    for (const n of [40_959, 40_960, 40_961, 300_000]) compareWithArray(mapStructure(), keyOf, n)
  })
})

describe.each(Object.entries(HASHES))('HashIndex, by %s', (name, hashOf) => {
  it.each(['addresses', 'random', 'indices'])('does as an array does: %s', (keys) => {
    for (const n of SIZES) compareWithArray(indexStructure(hashOf), KEYS[keys]!, n)
  })
  it('does as an array does, many', { tags: ['slow'] }, () => {
    const most = name === 'one of 64 hashes' ? 8193 : 262_145
    for (const n of [most - 1, most]) compareWithArray(indexStructure(hashOf), KEYS['random']!, n)
  })

  it('has numbers that are put in any order, the last of equal hashes first', () => {
    const index = new HashIndex()
    for (const number of [70, 3, 1000, 0, 5]) index.put(number, number % 2)
    const all = (hash: number) => {
      const found: number[] = []
      for (let n = index.first(hash); n >= 0; n = index.next(n)) found.push(n)
      return found
    }
    expect([all(0), all(1), all(2)]).toEqual([[0, 1000, 70], [5, 3], []])
    index.clear()
    expect([all(0), all(1)]).toEqual([[], []])
  })
})
