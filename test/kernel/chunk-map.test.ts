// @module-tag slow
import { describe, expect, it } from 'vitest'
import { randomOf } from '../support/model.js'
import { runs } from '../support/runs.js'
import { compileModules, type Parts } from './modules.js'
import { stopwatch } from '../support/stopwatch.js'

/** Pages, each a number below 2^52 with the same product of 32 bits: the hash of a map without a key is the same. */
function chosenPages(n: number): bigint[] {
  const [lowStep, highStep] = [0x9937_733d, 0xf1de_83e1]
  const pages: bigint[] = []
  let [low, high] = [0, 0]
  // Multiples of the inverse of the golden ratio, by numbers below 2^32: the upper half of the product is 0.
  while (pages.length < n) {
    const sum = low + lowStep
    high = (high + highStep + (sum > 0xffff_ffff ? 1 : 0)) >>> 0
    low = sum >>> 0
    if (high < 1 << 20) pages.push((BigInt(high) << 32n) | BigInt(low))
  }
  return pages
}

interface Chunk {
  at: bigint
  bytes: bigint
  readonly number: number
  /** Chunks of different heaps are not neighbours, wherever they are. */
  readonly heap: number
}

describe('allocators/ptmalloc/chunk-map', async () => {
  const make = await compileModules(`
    export { clearChunks, reserveChunks } from './allocators/ptmalloc/chunks'
    export { absorb, dropChunk, newChunk, split } from './allocators/ptmalloc/heap-chunks'
    export { chunkAt, clearMap, dropMap, isKeyed, mapBegins, needMap } from './allocators/ptmalloc/chunk-map'
    export { beginLog, mark, undoAll } from './allocators/ptmalloc/log'
    export { seed } from './allocators/hash'`)

  /** Chunks in the order of their addresses, and the same in a kernel. */
  class Model {
    readonly chunks: Chunk[] = []
    readonly random: (n: number) => number
    private heaps = 0

    constructor(
      private readonly parts: Parts,
      seed: number,
      key: number,
    ) {
      this.random = randomOf(seed)
      this.run('seed')(key, key)
      this.run('clearMap')()
      this.run('clearChunks')()
      this.run('beginLog')()
    }

    run(name: string) {
      return this.parts.call<(number | bigint)[]>(name)
    }

    /** What precedes a call. */
    begin(): void {
      this.run('mapBegins')()
      this.run('beginLog')()
      if (this.run('reserveChunks')() !== 1) throw new Error('there is no memory')
    }

    /** The number of chunks before an address, or at it. */
    search(at: bigint): number {
      let [from, to] = [0, this.chunks.length]
      while (from < to) {
        const middle = (from + to) >> 1
        if (this.chunks[middle]!.at <= at) from = middle + 1
        else to = middle
      }
      return from
    }

    add(at: bigint, bytes: bigint): void {
      const number = this.run('newChunk')(BigInt.asIntN(64, at), bytes, 0, 0)
      this.chunks.splice(this.search(at), 0, { at, bytes, number, heap: this.heaps++ })
    }

    /** Does something to a chunk: divides it, joins it with the next one, or removes one that has no neighbours. */
    change(i: number, isUndone: boolean): void {
      const chunk = this.chunks[i]!
      const next = this.chunks[i + 1]
      const before = this.chunks[i - 1]
      const isAlone = next?.heap !== chunk.heap && before?.heap !== chunk.heap
      const way = this.random(3)
      if (way > 0 && chunk.bytes >= 64n) {
        const bytes = 16n * BigInt(1 + this.random(Number(chunk.bytes / 16n) - 1))
        const number = this.run('split')(chunk.number, bytes)
        if (isUndone) return
        const rest = { at: chunk.at + bytes, bytes: chunk.bytes - bytes, number, heap: chunk.heap }
        chunk.bytes = bytes
        this.chunks.splice(i + 1, 0, rest)
      } else if (next?.heap === chunk.heap) {
        this.run('absorb')(chunk.number)
        if (isUndone) return
        chunk.bytes += next.bytes
        this.chunks.splice(i + 1, 1)
      } else if (isAlone && this.chunks.length > 9) {
        this.run('dropChunk')(chunk.number)
        if (!isUndone) this.chunks.splice(i, 1)
      }
    }

    check(at: bigint): void {
      const chunk = this.chunks[this.search(at) - 1]
      const expected = chunk !== undefined && at < chunk.at + chunk.bytes ? chunk.number : 0
      const found = this.run('chunkAt')(BigInt.asIntN(64, at))
      if (found !== expected) throw new Error(`the chunk at ${at} is ${found}, not ${expected}`)
    }
  }

  it('finds chunks as a sorted list does, also after calls were undone', () => {
    for (let seed = 1; seed <= runs(30); seed++) {
      const model = new Model(make(), seed, seed)
      const { random } = model
      for (let heap = 0; heap < 6; heap++) model.add((BigInt(heap + 1) << 48n) + 16n, 1n << BigInt(12 + random(9)))
      for (let step = 0; step < 3000; step++) {
        model.begin()
        if (step % 900 === 0) model.run('dropMap')()
        const isUndone = random(4) === 0
        if (random(200) === 0 && !isUndone) model.add((BigInt(9 + step) << 40n) + 16n, 1n << BigInt(8 + random(9)))
        else model.change(random(model.chunks.length), isUndone)
        if (isUndone) model.run('undoAll')()
        if (random(2) === 0) continue
        model.run('needMap')()
        const chunk = model.chunks[random(model.chunks.length)]!
        for (const at of [chunk.at - 1n, chunk.at, chunk.at + BigInt(random(Number(chunk.bytes)))]) model.check(at)
        model.check(chunk.at + chunk.bytes + BigInt(random(1 << 20)))
      }
    }
  })

  /** @returns the length of the log after each call */
  function followChosen(pages: readonly bigint[], key: number, rounds: number): number[] {
    const parts = make()
    const model = new Model(parts, 7, key)
    const logged: number[] = []
    const start = model.run('mark')()
    for (let round = 0; round < rounds; round++) {
      for (const page of pages) {
        model.begin()
        model.add(page << 12n, 48n)
        model.run('needMap')()
        logged.push(model.run('mark')() - start)
        if (logged.length % 64 === 0) model.check((page << 12n) + 40n)
      }
      model.begin()
      if (pages.length > 257) expect(parts.number('isKeyed')).toBe(1)
      for (let i = 0; i < pages.length; i += 1 + (pages.length >> 8)) model.check((pages[i]! << 12n) + 47n)
      // All go, and come again.
      while (model.chunks.length > 0) {
        model.begin()
        const i = model.random(model.chunks.length)
        const [{ at, number }] = model.chunks.splice(i, 1) as [Chunk]
        model.run('dropChunk')(number)
        if (model.random(5) === 0) {
          model.run('undoAll')()
          model.chunks.splice(i, 0, { at, bytes: 48n, number, heap: i })
        } else if (model.random(64) === 0) model.check(at)
        logged.push(model.run('mark')() - start)
      }
    }
    return logged
  }

  it('finds chunks whose pages were chosen, and logs the same whatever the key is', () => {
    const pages = chosenPages(3000)
    for (const n of [1, 255, 256, 257, 258, 1000, 3000]) {
      const logged = followChosen(pages.slice(0, n), 1, 3)
      for (const key of [2, 0xffff_fff1]) expect(followChosen(pages.slice(0, n), key, 3)).toEqual(logged)
    }
  })

  it('takes little time for many chosen pages', { tags: ['slow'] }, () => {
    const pages = chosenPages(60_000)
    const parts = make()
    const model = new Model(parts, 7, 7)
    const run = (name: string) => model.run(name)
    const time = stopwatch()
    for (let turn = 0; turn < 4; turn++) {
      const numbers: number[] = []
      for (const page of pages) {
        model.begin()
        numbers.push(run('newChunk')(page << 12n, 48n, 0, 0))
        run('needMap')()
      }
      for (const number of numbers) {
        model.begin()
        run('dropChunk')(number)
      }
    }
    // Without a key, each page is compared with all others: that takes minutes.
    expect(time()).toBeLessThan(40_000)
  })
})
