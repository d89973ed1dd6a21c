// @module-tag slow
import { describe, expect, it } from 'vitest'
import { KEYS, randomOf, type KeyOf } from '../support/model.js'
import { runs } from '../support/runs.js'
import { compileModules, type Parts } from './modules.js'

/** For the many comparisons of a loop, in which `expect` takes most of the time. */
function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what} is ${found}, not ${expected}`)
}

type Values = (number | bigint | boolean)[]
const run = (parts: Parts, name: string) => parts.call<Values>(name)

describe('allocators/jemalloc/sets', async () => {
  const make = await compileModules(`
    export { addExtent, clearExtents, dropExtent, exists } from './allocators/jemalloc/extents'
    export { first, firstFrom, insert, remove } from './allocators/jemalloc/sets'
    export const ROOT: usize = memory.data(16)`)

  /** Extents in the order of the set: by their order, their address and their number. */
  function follow(n: number, orders: number, bases: KeyOf): void {
    const parts = make()
    const [root, random] = [parts.number('ROOT'), randomOf(n)]
    const list: { order: bigint; base: bigint; number: number }[] = []
    const search = (order: bigint, base: bigint, number: number) => {
      let [from, to] = [0, list.length]
      while (from < to) {
        const middle = (from + to) >> 1
        const at = list[middle]!
        if ((at.order - order || at.base - base || BigInt(at.number - number)) < 0n) from = middle + 1
        else to = middle
      }
      return from
    }
    for (let turn = 0; turn < 2; turn++) {
      run(parts, 'clearExtents')()
      parts.words.setUint32(root, 0, true)
      list.length = 0
      for (let step = 0; step < 4 * n; step++) {
        // It fills up, is drained and is filled again.
        if (step < n || (step >= 2 * n && random(3) > 0)) {
          const [order, base] = [BigInt(random(orders)), bases(random(2 * n)) & ~4095n]
          const number = run(parts, 'addExtent')(4, 0, BigInt.asIntN(64, base), 1, order)
          run(parts, 'insert')(root, number)
          list.splice(search(order, base, number), 0, { order, base, number })
        } else if (list.length > 0) {
          const [{ number }] = list.splice(step % 3 === 0 ? 0 : random(list.length), 1) as [(typeof list)[number]]
          run(parts, 'remove')(root, number)
          run(parts, 'remove')(root, number)
          run(parts, 'dropExtent')(number)
          same(run(parts, 'exists')(number), 0, 'an extent')
        }
        same(run(parts, 'first')(root), list[0]?.number ?? 0, 'the first')
        const order = BigInt(random(orders + 1))
        same(run(parts, 'firstFrom')(root, order), list[search(order, 0n, 0)]?.number ?? 0, `the first from ${order}`)
      }
    }
  }

  it.each(Object.entries(KEYS))('are as a sorted list: %s', (_, bases) => {
    for (const [n, orders] of [
      [1, 1],
      [300, 1],
      [1023, 20],
      [1025, 2000],
    ] as const)
      follow(n, orders, bases)
  })
  it.each(Object.entries(KEYS))('are as a sorted list, many: %s', { tags: ['large'] }, (_, bases) => {
    follow(20_000, 5000, bases)
  })
})

describe('allocators/jemalloc/page-map', async () => {
  const make = await compileModules(`
    export { addExtent, clearExtents, dropExtent } from './allocators/jemalloc/extents'
    export { clearPageMap, dropEnd, dropStart, endingAt, putEnd, putStart, startingAt }
      from './allocators/jemalloc/page-map'`)

  /** @param isComplete whether no page may be forgotten */
  function follow(n: number, pageOf: KeyOf, isComplete: boolean): void {
    const parts = make()
    const random = randomOf(n)
    for (let turn = 0; turn < 2; turn++) {
      run(parts, 'clearExtents')()
      run(parts, 'clearPageMap')()
      const starts = new Map<bigint, number>()
      const check = (page: bigint) => {
        const [number, start, end] = [
          starts.get(page) ?? 0,
          run(parts, 'startingAt')(page),
          run(parts, 'endingAt')(page + 1n),
        ]
        if (start !== 0 || isComplete) same(start, number, `the extent from ${page}`)
        if (end !== 0 || isComplete) same(end, number, `the extent before ${page + 1n}`)
      }
      for (let step = 0; step < 4 * n; step++) {
        const page = pageOf(step < 2 * n ? step % n : random(n))
        if (starts.has(page)) {
          const number = starts.get(page)!
          // What another extent has put there stays.
          run(parts, 'dropStart')(page, number + 1)
          run(parts, 'dropStart')(page, number)
          run(parts, 'dropEnd')(page + 1n, number)
          run(parts, 'dropExtent')(number)
          starts.delete(page)
        } else {
          const number = run(parts, 'addExtent')(4, 0, BigInt.asIntN(64, page << 12n), 1, 0n)
          run(parts, 'putStart')(page, number)
          run(parts, 'putEnd')(page + 1n, number)
          starts.set(page, number)
        }
        check(page)
        check(pageOf(random(n)))
        if (step === n - 1) for (let i = 0; i < n; i++) check(pageOf(i))
      }
    }
  }

  const below = (i: number) => KEYS['random']!(i + 6) >> 13n
  it('is as a map', () => {
    for (const n of [1, 255, 256, 257, 511, 2000]) {
      follow(n, (i) => 0x7f000n + BigInt(i), true)
      follow(n, below, true)
      follow(n, (i) => KEYS['one hash, without a seed']!(i) >> 13n, false)
      follow(n, (i) => BigInt(i) << 32n, false)
    }
  })
  it('is as a map, with many pages', { tags: ['large'] }, () => {
    follow((1 << 17) + 1, (i) => 0x7f000n + BigInt(i), true)
    follow((1 << 17) + 1, below, false)
    follow((1 << 16) + 1, (i) => BigInt(i) << 32n, false)
  })
})

describe('allocators/ptmalloc/gaps', async () => {
  const make = await compileModules(`
    export { clearGaps, extendMapping, gapCount, isUnmapped, mapBytes, seeMapping, unmapBytes }
      from './allocators/ptmalloc/gaps'
    export { beginLog, undoAll } from './allocators/ptmalloc/log'`)
  const PAGES = 4000
  const addressOf = (page: number) => 0x7f00_0000_0000n + (BigInt(page) << 12n)

  it('are as an array of pages, and as before when a call is undone', () => {
    for (let seed = 1; seed <= runs(40); seed++) {
      const parts = make()
      const random = randomOf(seed)
      run(parts, 'beginLog')()
      run(parts, 'clearGaps')(addressOf(PAGES))
      const used = new Uint8Array(PAGES)
      let lowest = PAGES
      /** The place for a mapping: the top end of the highest gap, otherwise below all others. */
      const placeFor = (length: number) => {
        for (let end = PAGES, page = PAGES - 1; page >= lowest; page--) {
          if (used[page] === 1) end = page
          // The whole gap has been seen when what is below it is used.
          else if ((page === lowest || used[page - 1] === 1) && end - page >= length) return end - length
        }
        return lowest - length
      }
      for (let step = 0; step < 1500; step++) {
        run(parts, 'beginLog')()
        const length = 1 + random(random(8) === 0 ? 60 : 6)
        const page = lowest + random(PAGES - lowest)
        const way = random(5)
        if (way < 2 && lowest > 200) {
          const place = placeFor(length)
          if (random(3) === 0) {
            run(parts, 'mapBytes')(BigInt(length) << 12n)
            run(parts, 'undoAll')()
          }
          const found = run(parts, 'mapBytes')(BigInt(length) << 12n) as unknown as bigint
          same(found, addressOf(place), 'a mapping')
          used.fill(1, place, place + length)
          lowest = Math.min(lowest, place)
        } else if (way === 2 && page < PAGES && used[page] === 1) {
          let end = page
          while (end < PAGES && end < page + length && used[end] === 1) end++
          run(parts, 'unmapBytes')(addressOf(page), BigInt(end - page) << 12n)
          used.fill(0, page, end)
          while (lowest < PAGES && used[lowest] === 0) lowest++
        } else if (way === 3 && page < PAGES && used[page] === 1) {
          let [end, free] = [page, 0]
          while (end < PAGES && used[end] === 1) end++
          while (end + free < PAGES && used[end + free] === 0) free++
          same(run(parts, 'extendMapping')(addressOf(end), BigInt(length) << 12n), free >= length ? 1 : 0, 'room')
          if (free >= length) used.fill(1, end, end + length)
        } else if (page < PAGES) {
          const isFree = !used.subarray(page, Math.min(PAGES, page + length)).includes(1) && page + length <= PAGES
          same(run(parts, 'isUnmapped')(addressOf(page), BigInt(length) << 12n), isFree ? 1 : 0, `page ${page}`)
        }
      }
    }
  })
})

describe('compact/best/ranks', async () => {
  const make = await compileModules(`
    export { clearRank, countBetween, fillRanks, giveRanks, setRank, takeRanks } from './compact/best/ranks'`)

  function follow(room: number): void {
    const parts = make()
    const random = randomOf(room)
    for (let turn = 0; turn < 3; turn++) {
      const bits = run(parts, 'takeRanks')(room)
      const there = new Uint8Array(room)
      const filled = turn === 0 ? 0 : random(room + 1)
      if (turn > 0) run(parts, 'fillRanks')(bits, room, filled)
      there.fill(1, 0, filled)
      const before = new Uint32Array(room + 1)
      for (let round = 0; round < 10; round++) {
        for (let step = 0; step < Math.min(room, 2000); step++) {
          const position = random(room)
          run(parts, there[position] === 1 ? 'clearRank' : 'setRank')(bits, room, position)
          there[position]! ^= 1
        }
        for (let i = 0; i < room; i++) before[i + 1] = before[i]! + there[i]!
        for (let step = 0; step < 500; step++) {
          const [from, to] = [random(room + 1), random(room + 1)]
          const expected = from < to ? before[to]! - before[from]! : 0
          same(run(parts, 'countBetween')(bits, room, from, to), expected, `blocks from ${from} to ${to} of ${room}`)
        }
      }
      run(parts, 'giveRanks')(bits, room)
    }
  }

  it('are as an array of positions', () => {
    for (const room of [1, 63, 64, 65, 4095, 4096, 4097, 8192, 12_345, 65_536]) follow(room)
  })
  it('are as an array of positions, many', { tags: ['slow'] }, () => {
    for (const room of [1 << 20, (1 << 22) - 1, 1 << 22]) follow(room)
  })
})

describe('compact/kept-numbers', async () => {
  const make = await compileModules(`
    import { addWord, clearWords, wordAt, Words } from './compact/kept-numbers'
    const words = changetype<Words>(memory.data(12))
    export function add(word: u32): bool { return addWord(words, word) }
    export function clear(): void { clearWords(words) }
    export function get(i: u32): u32 { return wordAt(words, i) }
    export function count(): u32 { return words.count }`)

  it('keeps lists of words as an array does, until memory ends', () => {
    const parts = make(1 << 23)
    const [add, get] = [parts.call<[number]>('add'), parts.call<[number]>('get')]
    for (const most of [1023, 1024, 1025, 1 << 22]) {
      let n = 0
      while (n < most && add((n * 0x9e37_79b1) | 0) !== 0) n++
      if (most === 1 << 22) expect(n).toBeLessThan(most)
      else expect(n).toBe(most)
      expect(parts.call('count')()).toBe(n)
      for (let i = 0; i < n; i++) same(get(i), (i * 0x9e37_79b1) | 0, `word ${i}`)
      parts.call('clear')()
      expect(parts.call('count')()).toBe(0)
    }
  })
})
