import { describe, expect, it } from 'vitest'
import { around, compareWithArray, fillMemory, KEYS, type Structure } from '../support/model.js'
import { compileModules, type Parts } from './modules.js'

/** Tables from keys to numbers. Each kernel has one. */
interface Table {
  /** Exports what `structure` uses of the modules. */
  source: string
  structure(parts: Parts): Structure
  /** The numbers of keys at which the table grows. */
  growth: readonly number[]
  isUnique?: boolean
  /** Keys that it may have; all by default. */
  keys?: readonly string[]
}

type OfKey = [bigint]
const powers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => 2 ** (from + i))

const TABLES: Readonly<Record<string, Table>> = {
  'live/set': {
    source: `export { begin, clearSet, finish, live, numberOf, seedSet } from './live/set'`,
    structure(parts) {
      const begin = parts.call<[bigint, boolean]>('begin')
      const finish = parts.call<[bigint, boolean]>('finish')
      const numberOf = parts.call<[bigint, boolean]>('numberOf')
      parts.call('seedSet')(...([12_345, 6789] as never[]))
      return {
        clear: parts.call('clearSet'),
        // An index and an address of the same value are different keys.
        add: (key) => begin(key, (key & 16n) === 0n),
        get: (key) => (numberOf(key, (key & 16n) !== 0n) === 0 ? numberOf(key, (key & 16n) === 0n) : -1),
        remove: (key) => finish(key, (key & 16n) === 0n),
        size: () => parts.number('live'),
      }
    },
    growth: [...powers(8, 14), ...powers(14, 19).map((n) => 5 * n)],
    isUnique: true,
  },
  'shared/table': {
    source: `export { add, clearTable, count, entryAt, find, raiseFloor, remove, seedTable } from './shared/table'`,
    structure(parts) {
      const [add, find] = [parts.call<OfKey>('add'), parts.call<OfKey>('find')]
      const [entryAt, remove] = [parts.call<[number]>('entryAt'), parts.call<[number]>('remove')]
      const clear = parts.call<OfKey>('clearTable')
      const raise = parts.call<[number]>('raiseFloor')
      parts.call<[number]>('seedTable')(98_765)
      return {
        clear: () => clear(4n),
        add(key, value) {
          // What lies below the table may grow at any time.
          if (value === 7777 && raise(4096) === 0) return 0
          const place = add(key)
          if (place === 0) return 0
          parts.words.setUint32(entryAt(place) + 8, value, true)
          parts.words.setUint32(entryAt(place) + 16, value ^ 0xff, true)
          return value
        },
        get(key) {
          const place = find(key)
          if (place === 0) return 0
          const value = parts.words.getUint32(entryAt(place) + 8, true)
          return parts.words.getUint32(entryAt(place) + 16, true) === (value ^ 0xff) ? value : -1
        },
        remove: (key) => remove(find(key)),
        size: () => parts.number('count'),
      }
    },
    growth: [...powers(6, 16), ...powers(15, 19).map((n) => 5 * n)],
  },
  'mtrc/recent': {
    source: `
      import { clearBlocks } from './mtrc/blocks'
      import { clearRecent } from './mtrc/recent'
      export { addIndexed, findBlock, removeBlock } from './mtrc/recent'
      export { seedBlocks } from './mtrc/blocks'
      export function clear(): bool {
        clearRecent()
        return clearBlocks(true)
      }`,
    structure(parts) {
      const [add, find] = [parts.call<OfKey>('addIndexed'), parts.call<OfKey>('findBlock')]
      const remove = parts.call<[number, bigint]>('removeBlock')
      parts.call<[number]>('seedBlocks')(98_765)
      return {
        clear: parts.call('clear'),
        add(key, value) {
          const entry = add(key)
          if (entry !== 0) parts.words.setUint32(entry + 8, value, true)
          return entry === 0 ? 0 : value
        },
        get(key) {
          const entry = find(key)
          return entry === 0 ? 0 : parts.words.getUint32(entry + 8, true)
        },
        remove: (key) => remove(find(key), key),
      }
    },
    growth: powers(13, 22),
  },
  'allocators/identities': {
    source: `export { clearIdentities, numberOf } from './allocators/identities'`,
    structure(parts) {
      const numberOf = parts.call<OfKey>('numberOf')
      let known = new Map<bigint, number>()
      return {
        clear() {
          parts.call('clearIdentities')()
          known = new Map()
        },
        add(key) {
          const number = numberOf(key) + 1
          if (number !== known.size + 1) return 0
          known.set(key, number)
          return number
        },
        get: (key) => (known.has(key) ? numberOf(key) + 1 : 0),
      }
    },
    growth: powers(7, 19),
    isUnique: true,
    keys: ['addresses', 'indices', 'random'],
  },
  'allocators/blocks': {
    source: `export { clearBlocks, dropBlock, findBlock, putBlock } from './allocators/blocks'`,
    structure(parts) {
      const clear = parts.call<OfKey>('clearBlocks')
      const put = parts.call<[bigint, number]>('putBlock')
      return {
        clear: () => clear(16n),
        add: (key, value) => (put(key, value) === 0 ? 0 : value),
        get: parts.call<OfKey>('findBlock'),
        remove: parts.call<OfKey>('dropBlock'),
      }
    },
    growth: powers(9, 22),
    keys: ['addresses', 'random'],
  },
}

const QUICK = 1 << 12

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
      expect(n).toBeGreaterThan(bytes >> 10)
    }
  })

  describe('with many keys', { tags: ['slow'] }, () => {
    it.each(keys)('%s', (name) => {
      for (const n of sizes) if (n > QUICK && n < 1 << 17) compareWithArray(structure(make()), KEYS[name]!, n, isUnique)
    })
    it.each(growth.filter((n) => n >= 1 << 17).flatMap((n) => [n, n + 1]))('%i', (n) => {
      compareWithArray(structure(make()), KEYS['addresses']!, n, isUnique)
    })
  })
})
