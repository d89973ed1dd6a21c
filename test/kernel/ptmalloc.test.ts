// @module-tag slow
import { describe, expect, it } from 'vitest'
import { randomOf } from '../support/model.js'
import { runs } from '../support/runs.js'
import { compileModules, type Parts } from './modules.js'

/** For the many comparisons of a loop, in which `expect` takes most of the time. */
function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what} is ${String(found)}, not ${String(expected)}`)
}

type Values = (number | bigint)[]
const run = (parts: Parts, name: string) => parts.call<Values>(name)

/** A chunk in a bin or a list. */
interface Chunk {
  readonly number: number
  readonly bytes: number
}

describe('allocators/ptmalloc/bins', async () => {
  const make = await compileModules(`
    export { addSmall, addSorted, addUnsorted, bestOf, lastFrom, unlink } from './allocators/ptmalloc/bins'
    import { clearArenas, MAIN_ARENA } from './allocators/ptmalloc/arenas'
    import { clearChunks } from './allocators/ptmalloc/chunks'
    import { clearMap } from './allocators/ptmalloc/chunk-map'
    import { setRules } from './allocators/ptmalloc/rules'
    export { reserveChunks } from './allocators/ptmalloc/chunks'
    export { newChunk, dropChunk } from './allocators/ptmalloc/heap-chunks'
    export { beginLog, undoAll } from './allocators/ptmalloc/log'
    export { binOf, leastLarge } from './allocators/ptmalloc/rules'
    export const ARENA: usize = MAIN_ARENA
    export function start(version: i32, bits: i32): void {
      setRules(version, bits)
      clearMap()
      clearChunks()
      clearArenas(0, false)
    }`)

  /** A chunk in use, of a size that others have, too, or of a large one. */
  const newChunk = (parts: Parts, random: (n: number) => number): Chunk => {
    const bytes =
      16 * [2 + random(70), 2 + random(70), 64 + random(4000), 64 * (1 + random(30)), 1 << random(20)][random(5)]!
    run(parts, 'beginLog')()
    same(run(parts, 'reserveChunks')(), 1, 'room')
    return { number: run(parts, 'newChunk')(0n, BigInt(Math.max(32, bytes)), 0, 0), bytes: Math.max(32, bytes) }
  }

  /** As glibc's malloc.c describes the order of its bins. */
  class Bins {
    readonly lists = new Map<number, Chunk[]>()

    constructor(
      private readonly binOf: (bytes: number) => number,
      private readonly leastLarge: number,
    ) {}

    list(bin: number): Chunk[] {
      let list = this.lists.get(bin)
      if (list === undefined) this.lists.set(bin, (list = []))
      return list
    }

    sort(chunk: Chunk): void {
      const list = this.list(this.binOf(chunk.bytes))
      let i = 0
      if (chunk.bytes >= this.leastLarge) {
        while (i < list.length && list[i]!.bytes > chunk.bytes) i++
        if (list[i]?.bytes === chunk.bytes) i++
      }
      list.splice(i, 0, chunk)
    }

    best(bin: number, bytes: number): number {
      const fits = this.list(bin).filter((chunk) => chunk.bytes >= bytes)
      const least = fits.filter((chunk) => chunk.bytes === fits.at(-1)?.bytes)
      return (least[1] ?? least[0])?.number ?? 0
    }

    lastFrom(bin: number): number {
      for (; bin < 127; bin++) if (this.list(bin).length > 0) return this.list(bin).at(-1)!.number
      return 0
    }
  }

  it.each([
    [23, 64],
    [35, 64],
    [25, 32],
    [43, 32],
  ])('of glibc 2.%i with %i bits are as sorted lists, also after calls were undone', (version, bits) => {
    for (let seed = 1; seed <= runs(20); seed++) {
      const parts = make()
      const random = randomOf(seed)
      run(parts, 'start')(version, bits)
      const arena = parts.number('ARENA')
      const binOf = (bytes: number) => run(parts, 'binOf')(BigInt(bytes))
      const bins = new Bins(binOf, parts.number('leastLarge'))
      const free: { chunk: Chunk; bin: number }[] = []
      for (let step = 0; step < 4000; step++) {
        const isUndone = random(5) === 0
        // It is filled, drained and filled again.
        const isGrowing = (step >> 10) % 2 === 0
        if (random(8) < (isGrowing ? 6 : 2)) {
          const chunk = newChunk(parts, random)
          run(parts, 'beginLog')()
          const isSorted = random(4) > 0
          run(parts, isSorted ? 'addSorted' : 'addUnsorted')(arena, chunk.number)
          if (isUndone) run(parts, 'undoAll')()
          else {
            if (isSorted) bins.sort(chunk)
            else bins.list(1).unshift(chunk)
            free.push({ chunk, bin: isSorted ? binOf(chunk.bytes) : 1 })
          }
        } else if (free.length > 0) {
          const i = random(free.length)
          const { chunk, bin } = free[i]!
          run(parts, 'beginLog')()
          run(parts, 'unlink')(chunk.number)
          if (isUndone) run(parts, 'undoAll')()
          else {
            run(parts, 'dropChunk')(chunk.number)
            free.splice(i, 1)
            bins.list(bin).splice(bins.list(bin).indexOf(chunk), 1)
          }
        }
        run(parts, 'beginLog')()
        const from = 2 + random(126)
        same(run(parts, 'lastFrom')(arena, from), bins.lastFrom(from), `the last chunk from bin ${from} on`)
        const bytes = 16 * (64 + random(1 << (4 + random(12))))
        const bin = binOf(bytes)
        if (bin > 64)
          same(run(parts, 'bestOf')(arena, bin, BigInt(bytes)), bins.best(bin, bytes), `the best for ${bytes}`)
      }
    }
  })
})

describe('allocators/ptmalloc/threads', async () => {
  const make = await compileModules(`
    import { clearMap } from './allocators/ptmalloc/chunk-map'
    import { clearChunks } from './allocators/ptmalloc/chunks'
    import { setRules } from './allocators/ptmalloc/rules'
    import { clearThreads } from './allocators/ptmalloc/threads'
    export { reserveChunks } from './allocators/ptmalloc/chunks'
    export { newChunk } from './allocators/ptmalloc/heap-chunks'
    export { beginLog, undoAll } from './allocators/ptmalloc/log'
    export { cacheDepth } from './allocators/ptmalloc/rules'
    export { cached, clearThreads, endThread, firstCached, knowsThread, pullCached, putCached, takeCached, threadAt }
      from './allocators/ptmalloc/threads'
    export function start(version: i32): void {
      setRules(version, 64)
      clearMap()
      clearChunks()
      clearThreads()
    }`)

  it.each([26, 43])('of glibc 2.%i have caches as lists, also after calls were undone', (version) => {
    for (let seed = 1; seed <= runs(20); seed++) {
      const parts = make()
      const random = randomOf(seed)
      run(parts, 'start')(version)
      run(parts, 'beginLog')()
      const depth = parts.number('cacheDepth')
      // By thread and list, the chunks of which the first was freed last.
      const lists = new Map<string, number[]>()
      const listOf = (thread: number, bin: number) => {
        const name = `${thread} ${bin}`
        if (!lists.has(name)) lists.set(name, [])
        return lists.get(name)!
      }
      const recordOf = (thread: number) => {
        const isNew = run(parts, 'knowsThread')(thread) === 0
        const record = run(parts, 'threadAt')(thread) >>> 0
        // Any chunk is its cache.
        if (isNew) parts.words.setUint32(record + 4, 48, true)
        return record
      }
      const threads = [0, 1, 2, 1023, 1024, 70_000, (1 << 20) - 1]
      for (let step = 0; step < 3000; step++) {
        const thread = threads[random(threads.length)]!
        const record = recordOf(thread)
        const bin = [0, 1, 2, 63][random(4)]!
        const list = listOf(thread, bin)
        const isUndone = random(5) === 0
        run(parts, 'beginLog')()
        same(run(parts, 'reserveChunks')(), 1, 'room')
        if (random(2) === 0) {
          const chunk = run(parts, 'newChunk')(0n, 32n + 16n * BigInt(bin), 0, 0)
          run(parts, 'beginLog')()
          same(run(parts, 'putCached')(record, chunk), list.length < depth ? 1 : 0, 'room in the cache')
          if (isUndone) run(parts, 'undoAll')()
          else if (list.length < depth) list.unshift(chunk)
        } else if (list.length > 0 && random(3) > 0) {
          same(run(parts, 'takeCached')(record, bin), list[0], 'the first chunk')
          if (isUndone) run(parts, 'undoAll')()
          else list.shift()
        } else if (list.length > 0) {
          const i = random(list.length)
          same(run(parts, 'pullCached')(list[i]!), 1, 'that it was there')
          if (isUndone) run(parts, 'undoAll')()
          else list.splice(i, 1)
        } else if (random(9) === 0) {
          run(parts, 'endThread')(thread)
          for (const name of lists.keys()) if (name.startsWith(`${thread} `)) lists.delete(name)
          same(run(parts, 'knowsThread')(thread), 0, 'a thread that ended')
          continue
        }
        for (const some of [0, 1, 2, 63]) {
          same(run(parts, 'cached')(record, some), listOf(thread, some).length, 'the length of a list')
          same(run(parts, 'firstCached')(record, some), listOf(thread, some)[0] ?? 0, 'the first of a list')
        }
      }
      expect(run(parts, 'threadAt')(1 << 20)).toBe(0)
      run(parts, 'clearThreads')()
      for (const thread of threads) expect(run(parts, 'knowsThread')(thread)).toBe(0)
    }
  })
})

describe('allocators/ptmalloc/regions', async () => {
  const make = await compileModules(`
    import { setRules } from './allocators/ptmalloc/rules'
    export { beginLog, undoAll } from './allocators/ptmalloc/log'
    export { baseOf, clearRegions, dropRegion, earlierOf, fits, lengthOf, newRegion, ownerOf, regionAt, setBase, virtual }
      from './allocators/ptmalloc/regions'
    export function start(): void { setRules(35, 64) }`)
  const HEAP = 64n << 20n

  it('are as a map, up to their number, also after calls were undone', () => {
    for (let seed = 1; seed <= runs(20); seed++) {
      const parts = make()
      const random = randomOf(seed)
      run(parts, 'start')()
      run(parts, 'beginLog')()
      run(parts, 'clearRegions')(0n)
      const regions = new Map<number, { base: bigint; arena: number; length: bigint; earlier: number }>()
      const isFree = (base: bigint) => [...regions.values()].every((region) => region.base !== base)
      for (let step = 0; step < (seed === 1 ? 9000 : 2000); step++) {
        const isUndone = random(6) === 0
        run(parts, 'beginLog')()
        const numbers = [...regions.keys()]
        if (regions.size === 0 || random(8) < ((step >> 9) % 2 === 0 || seed === 1 ? 6 : 2)) {
          const base = random(4) === 0 ? 0n : HEAP * BigInt(1 + step)
          const region = { base, arena: random(2000), length: BigInt(4096 * random(99)), earlier: random(9) }
          const number = run(parts, 'newRegion')(region.arena, region.length, region.earlier, base)
          same(number === 0, regions.size === 4094, 'that there are too many')
          if (regions.has(number) || number === 1) throw new Error(`region ${number} is there twice`)
          if (isUndone) run(parts, 'undoAll')()
          else if (number !== 0) regions.set(number, region)
        } else if (random(3) > 0) {
          const number = numbers[random(numbers.length)]!
          run(parts, 'dropRegion')(number)
          if (isUndone) run(parts, 'undoAll')()
          else regions.delete(number)
        } else {
          const number = numbers[random(numbers.length)]!
          const base = HEAP * BigInt(100_000 + step)
          same(run(parts, 'fits')(number, base), isFree(base) ? 1 : 0, 'that it can be there')
          run(parts, 'setBase')(number, base)
          if (isUndone) run(parts, 'undoAll')()
          else regions.get(number)!.base = base
        }
        const number = [...regions.keys()][random(regions.size)]
        if (number === undefined) continue
        const { base, arena, length, earlier } = regions.get(number)!
        same(run(parts, 'baseOf')(number) as unknown as bigint, base, 'the address of a region')
        same(run(parts, 'lengthOf')(number) as unknown as bigint, length, 'the length of a region')
        same(run(parts, 'ownerOf')(number), arena, 'the arena of a region')
        same(run(parts, 'earlierOf')(number), earlier, 'the region before')
        if (base === 0n) continue
        same(run(parts, 'regionAt')(base + BigInt(random(1 << 26)), 0), number, 'the region at an address')
        const beyond = base + HEAP
        if (isFree(beyond)) same(run(parts, 'regionAt')(beyond, 0), 0, 'the region after the last')
      }
    }
  })
})
