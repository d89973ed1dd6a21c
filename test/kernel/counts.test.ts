// @module-tag slow
import { describe, expect, it } from 'vitest'
import { COUNT, LAST, REST, SLOT_BYTES, SLOTS } from '../../lib/kernel/layouts/pairs.js'
import { KEYS, randomOf } from '../support/model.js'
import { runs } from '../support/runs.js'
import { compileModules, type Parts } from './modules.js'

const MASK = (1n << 64n) - 1n

/** For the many comparisons of a loop, in which `expect` takes most of the time. */
function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what} is ${found}, not ${expected}`)
}

const wide = (parts: Parts, at: number) => parts.words.getBigUint64(at >>> 0, true)

describe('statistics/sums', async () => {
  const make = await compileModules(`
    export { addProduct, addSum, addTo, copySum, raise, record, recordWide, takeFrom } from './statistics/sums'
    export const SUMS: usize = memory.data(32)
    export const COUNTS: usize = memory.data(800)`)

  it('are exact', () => {
    const parts = make()
    const at = [parts.number('SUMS'), parts.number('SUMS') + 16] as const
    const sums = [0n, 0n]
    const histogram = Array.from({ length: 97 }, () => 0)
    let total = 0n
    const random = randomOf(1)
    const values = [0n, 1n, MASK, MASK - 1n, 1n << 63n, (1n << 32n) - 1n, 1n << 32n]
    const read = (place: number) => wide(parts, place) | (wide(parts, place + 8) << 64n)
    const value = () => values[random(values.length * 2)] ?? KEYS['random']!(6 + random(10_000))
    const run = (name: string) => parts.call<(number | bigint)[]>(name)
    for (let step = 0; step < 20_000; step++) {
      const one = random(2)
      const [other, v] = [1 - one, value()]
      const way = random(8)
      if (way < 2) {
        sums[one]! += v
        run('addTo')(at[one]!, v)
      } else if (way === 2 && sums[one]! >= v) {
        sums[one]! -= v
        run('takeFrom')(at[one]!, v)
      } else if (way === 3) {
        const n = v & 0xffff_ffffn
        sums[one]! += n * MASK
        run('addProduct')(at[one]!, MASK, n)
      } else if (way === 4) {
        same(run('raise')(at[one]!, at[other]!), sums[other]! > sums[one]! ? 1 : 0, 'raise')
        if (sums[other]! > sums[one]!) sums[one] = sums[other]!
      } else if (way === 5 && sums[one]! < 1n << 80n) {
        sums[one]! += sums[other]!
        run('addSum')(at[one]!, at[other]!)
      } else if (way === 6) {
        const isWide = random(2) === 0
        const bits = isWide ? v | ((v >> 40n) << 64n) : v
        if (isWide) run('recordWide')(parts.number('COUNTS'), v, v >> 40n)
        else run('record')(parts.number('COUNTS'), v)
        histogram[Math.min(96, bits === 0n ? 0 : bits.toString(2).length)]!++
        total += bits
      } else if (way === 7 && random(20) === 0) {
        sums[one] = sums[other]!
        run('copySum')(at[one]!, at[other]!)
      }
      if (sums[one]! > 1n << 120n) {
        sums[one] = 0n
        parts.words.setBigUint64(at[one]!, 0n, true)
        parts.words.setBigUint64(at[one]! + 8, 0n, true)
      }
      same(read(at[0]), sums[0], 'a sum')
      same(read(at[1]), sums[1], 'a sum')
    }
    const counts = parts.number('COUNTS')
    expect(histogram.map((_, i) => Number(wide(parts, counts + 8 * i)))).toEqual(histogram)
    expect(read(counts + 98 * 8)).toBe(total)
  })
})

describe('report/pairs', async () => {
  const make = await compileModules(`
    import { TABLE_BYTES } from '../lib/kernel/layouts/pairs'
    export { seedHashes } from './shared/hash'
    export { addPair, clearPairs, makePairs } from './report/pairs'
    export const TABLE: usize = memory.data(TABLE_BYTES)`)

  function follow(keyOf: (i: number) => bigint, limit: number, different: number, steps: number): void {
    const parts = make()
    const [table, random] = [parts.number('TABLE'), randomOf(limit)]
    const makePairs = parts.call<[number, number, number]>('makePairs')
    const addPair = parts.call<[number, bigint, bigint]>('addPair')
    parts.call<[number, number]>('seedHashes')(1234, 5678)
    for (let turn = 0; turn < 2; turn++) {
      const known = new Map<bigint, { count: bigint; sum: bigint }>()
      const rest = { count: 0n, sum: 0n }
      for (let step = 0; step < steps; step++) {
        if (step % 100 === 0) expect(makePairs(table, 100, limit)).toBe(1)
        const key = keyOf(random(different))
        let pair = known.get(key)
        if (pair === undefined) {
          if (known.size === limit) pair = rest
          else known.set(key, (pair = { count: 0n, sum: 0n }))
        }
        const size = BigInt(random(2 ** 32)) << 31n
        pair.count++
        pair.sum += size
        addPair(table, key, size)
      }
      const [slots, last] = [parts.words.getUint32(table + SLOTS, true), parts.words.getUint32(table + LAST, true)]
      const read = (at: number) => ({
        count: wide(parts, at),
        sum: wide(parts, at + 8) | (wide(parts, at + 16) << 64n),
      })
      const found = new Map<bigint, ReturnType<typeof read>>()
      for (let slot = slots; slot <= slots + last; slot += SLOT_BYTES)
        if (wide(parts, slot + COUNT) !== 0n) found.set(wide(parts, slot), read(slot + COUNT))
      expect(found.size).toBe(known.size)
      for (const [key, { count, sum }] of known) {
        same(found.get(key)?.count, count, `the count of ${key}`)
        same(found.get(key)?.sum, sum, `the sum of ${key}`)
      }
      expect(read(table + REST)).toEqual(rest)
      parts.call<[number]>('clearPairs')(table)
    }
  }

  it.each(Object.entries(KEYS))('count as a map does: %s', (_, keyOf) => {
    for (const limit of [1, 127, 128, 129, 1000, 1 << 20]) follow(keyOf, limit, 1500, 3000)
  })
  it.each(Object.entries(KEYS))('count as a map does, many: %s', { tags: ['slow'] }, (_, keyOf) => {
    follow(keyOf, 1 << 17, 1 << 16, 1 << 18)
  })
  it.each(Object.entries(KEYS))('count as a map does, very many: %s', { tags: ['large'] }, (_, keyOf) => {
    for (const limit of [1 << 17, 1 << 22]) follow(keyOf, limit, 1 << 18, 1 << 20)
  })
})

describe('statistics/sizes', async () => {
  const make = await compileModules(`
    export { seedHashes } from './shared/hash'
    export { makeSizes, OTHER_SIZES, OTHER_SMALLEST, sizeAt, sizeGains, sizeLoses, sizeRows, sizesLeak }
      from './statistics/sizes'`)

  it('have the counts of a map, up to 65,536 rows', () => {
    const parts = make()
    const [gains, loses] = [parts.call<[bigint]>('sizeGains'), parts.call<[number]>('sizeLoses')]
    const [sizeAt, makeSizes] = [parts.call<[bigint]>('sizeAt'), parts.call('makeSizes')]
    parts.call<[number, number]>('seedHashes')(1234, 5678)
    const random = randomOf(5)
    const known = new Map<bigint, { born: number; live: number }>()
    const rest = { born: 0, live: 0, smallest: MASK }
    let rows = 4097
    for (let step = 0; step < 150_000; step++) {
      if (step % 4096 === 0) expect(makeSizes()).toBe(1)
      const n = random(90_000)
      const size = n < 6000 ? BigInt(n) : KEYS[['addresses', 'equal low words', 'random'][n % 3]!]!(n)
      let one: { born: number; live: number } | undefined = known.get(size)
      if (one === undefined) {
        if (size < 4096n || rows <= 65_536) {
          known.set(size, (one = { born: 0, live: 0 }))
          if (size >= 4096n) rows++
        } else {
          one = rest
          if (size < rest.smallest) rest.smallest = size
        }
      }
      gains(size)
      one.born++
      one.live++
      if (random(3) > 0) continue
      loses(sizeAt(size))
      one.live--
    }
    expect(parts.number('sizeRows')).toBe(rows)
    expect(rows).toBe(65_537)
    const check = (at: number, { born, live }: { born: number; live: number }, what: string) => {
      same(Number(wide(parts, at + 8)), born, `blocks of ${what}`)
      same(parts.words.getUint32((at >>> 0) + 40, true), live, `live blocks of ${what}`)
    }
    for (const [size, counts] of known) check(sizeAt(size), counts, String(size))
    const others = sizeAt(MASK - 77n)
    check(others, rest, 'other sizes')
    expect(wide(parts, parts.number('OTHER_SMALLEST'))).toBe(rest.smallest)
    parts.call('sizesLeak')()
    for (const [size, { live }] of known) {
      same(Number(wide(parts, sizeAt(size) + 16)), live, `leaks of ${size}`)
      same(parts.words.getUint32((sizeAt(size) >>> 0) + 40, true), 0, `live blocks of ${size} at the end`)
    }
  })
})

describe('report/pages', async () => {
  const make = await compileModules(`
    export { seedHashes } from './shared/hash'
    export { endPages, END_PAGES, findSparse, keepPages, makePages, PAGES, PEAK_PAGES, sparseBytes, sparsePages,
      takePages, touched } from './report/pages'`)

  function follow(n: number, space: (i: number) => number, place: (i: number) => bigint, most: number): void {
    const parts = make()
    const take = parts.call<[number, bigint, bigint, number]>('takePages')
    parts.call<[number, number]>('seedHashes')(1234, 5678)
    const random = randomOf(n)
    const pages = new Map<string, { live: number; blocks: number }>()
    const steps = Array.from({ length: 16 }, () => 0)
    const sizes = new Uint32Array(n)
    const ended = Array.from({ length: 16 }, () => 0)
    const each = (i: number, visit: (key: string, bytes: number) => void) => {
      const [from, to] = [place(i), place(i) + BigInt(sizes[i]!)]
      for (let page = from >> 12n; page << 12n < to; page++) {
        const [start, end] = [page << 12n, (page + 1n) << 12n]
        visit(`${space(i)} ${page}`, Number((end < to ? end : to) - (start > from ? start : from)))
      }
    }
    const change = (key: string, bytes: number, blocks: number) => {
      const page = pages.get(key) ?? { live: 0, blocks: 0 }
      if (page.blocks > 0) steps[Math.min(15, (page.live - 1) >> 8)]!--
      page.live += bytes
      page.blocks += blocks
      pages.set(key, page)
      if (page.blocks > 0) steps[Math.min(15, (page.live - 1) >> 8)]!++
      else pages.delete(key)
    }
    const check = (name = 'PAGES', expected = steps) => {
      const at = parts.number(name)
      expect(Array.from({ length: 16 }, (_, i) => Number(wide(parts, at + 8 * i)))).toEqual(expected)
      if (name === 'PAGES') expect(parts.number('touched')).toBe(pages.size)
    }
    for (let turn = 0; turn < 2; turn++) {
      for (let step = 0; step < 4 * n; step++) {
        if (step % 1000 === 0) expect(parts.call<[number]>('makePages')(2000)).toBe(1)
        // It fills up, is drained and filled again.
        const isGain = step < n || step >= 2 * n ? random(3) > 0 : false
        const i = step < n ? step : step < 2 * n ? step - n : random(n)
        if (isGain && sizes[i] === 0) {
          sizes[i] = 1 + random(most)
          take(space(i), place(i), BigInt(sizes[i]!), 1)
          each(i, (key, bytes) => change(key, bytes, 1))
        } else if (!isGain && sizes[i]! > 0) {
          take(space(i), place(i), BigInt(sizes[i]!), 0)
          each(i, (key, bytes) => change(key, -bytes, -1))
          sizes[i] = 0
        }
        if (step === 2 * n - 1) expect(pages.size).toBe(0)
        if (step % 997 === 0 || step === 2 * n - 1) check()
      }
      check()
      parts.call('keepPages')()
      check('PEAK_PAGES')
      for (let i = 0; i < n; i += 5) {
        if (sizes[i] === 0) continue
        parts.call<[number, bigint, bigint]>('findSparse')(space(i), place(i), BigInt(sizes[i]!))
        let [sparse, bytes] = [0, 0]
        const keys: string[] = []
        each(i, (key) => keys.push(key))
        for (const key of new Set([keys[0]!, keys.at(-1)!])) {
          const { live, blocks } = pages.get(key)!
          if (live > 1024) continue
          sparse += 1 / blocks
          bytes += (1 / blocks) * (4096 - live)
        }
        same(parts.number('sparsePages'), sparse, `pages of ${i}`)
        same(parts.number('sparseBytes'), bytes, `bytes of ${i}`)
      }
      steps.forEach((count, i) => (ended[i]! += count))
      parts.call('endPages')()
      check('END_PAGES', ended)
      pages.clear()
      sizes.fill(0)
      steps.fill(0)
      check()
    }
  }

  const SHAPES: [string, (i: number) => number, (i: number) => bigint, number][] = [
    ['small blocks', () => 0, (i) => 0x1000n + 48n * BigInt(i), 48],
    ['blocks of some pages', (i) => i % 3, (i) => (BigInt(i) * 20_008n) & ~7n, 20_000],
    [
      'chosen addresses',
      (i) => i % 4095,
      (i) => ((KEYS['one hash, without a seed']!(i) >> 1n) << 1n) & 0x7fff_ffff_f000n,
      4096,
    ],
    ['the end of the address space', () => 4094, (i) => (1n << 64n) - 64n * BigInt(i + 1), 64],
  ]
  it.each(SHAPES)('are counted as a map does: %s', (_, space, place, most) => {
    for (const n of [1, 300, 641, runs(200_000)]) follow(n, space, place, most)
  })
})
