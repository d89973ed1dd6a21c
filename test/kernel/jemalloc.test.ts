// @module-tag slow
import { describe, it } from 'vitest'
import { EXHAUSTED, TOO_LARGE } from '../../lib/kernel/layouts/simulate.js'
import { randomOf } from '../support/model.js'
import { runs } from '../support/runs.js'
import { compileModules, type Parts } from './modules.js'

/** For the many comparisons of a loop, in which `expect` takes most of the time. */
function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what} is ${String(found)}, not ${String(expected)}`)
}

type Values = (number | bigint | boolean)[]
const run = (parts: Parts, name: string) => parts.call<Values>(name)

const MODULES = `
  import { clearBins } from './allocators/jemalloc/bins'
  import { clearCaches } from './allocators/jemalloc/caches'
  import { clearExtents } from './allocators/jemalloc/extents'
  import { clearPageMap } from './allocators/jemalloc/page-map'
  import { clearPages } from './allocators/jemalloc/pages'
  import { setRules } from './allocators/jemalloc/rules'
  import { extent } from './allocators/jemalloc/extents'
  export { isFree, setLive, isLive, exists } from './allocators/jemalloc/extents'
  export function baseOf(n: u32): u64 { return extent(n).base }
  export function extentPages(n: u32): u32 { return extent(n).pages }
  export function orderOf(n: u32): u64 { return extent(n).order }
  export function arenaOf(n: u32): u32 { return extent(n).arena }
  export function stateOf(n: u32): u32 { return extent(n).state }
  export { claim, currentRun, returnRegion, takeRegion, takeAfter, passOver, makeCurrent }
    from './allocators/jemalloc/bins'
  export { cacheOf, countOf, blockIn, flush, push, pop, threadAt, endThread } from './allocators/jemalloc/caches'
  export { freePages, takePages } from './allocators/jemalloc/pages'
  import { sizeClass } from './allocators/jemalloc/rules'
  export { smallClasses, mostArenas } from './allocators/jemalloc/rules'
  export function pagesOf(c: u32): u32 { return sizeClass(c).pages }
  export function regionsOf(c: u32): u32 { return sizeClass(c).regions }
  export function start(version: i32): void {
    setRules(version, 64, 4)
    clearCaches()
    clearExtents()
    clearPageMap()
    clearPages()
    clearBins()
  }`

/** A run of a class: which of its regions are free, and its place in the order of runs. */
interface Run {
  readonly free: Set<number>
  readonly live: Set<number>
}

describe('allocators/jemalloc/bins', async () => {
  const make = await compileModules(MODULES)

  /** Runs of an arena and class as plain sets. */
  class Bin {
    readonly runs = new Map<number, Run>()
    current = 0

    constructor(
      private readonly parts: Parts,
      private readonly arena: number,
      private readonly c: number,
    ) {}

    private call(name: string, ...values: Values) {
      return run(this.parts, name)(...values)
    }

    get regions(): number {
      return this.call('regionsOf', this.c)
    }

    isBefore(a: number, b: number): boolean {
      const of = (n: number, what: string) => BigInt.asUintN(64, this.call(what, n) as unknown as bigint)
      const [orderA, orderB] = [of(a, 'orderOf'), of(b, 'orderOf')]
      if (orderA !== orderB) return orderA < orderB
      const [baseA, baseB] = [of(a, 'baseOf'), of(b, 'baseOf')]
      return baseA !== baseB ? baseA < baseB : a < b
    }

    /** The first run with free regions, without the current one. */
    first(): number {
      let found = 0
      for (const [number, { free }] of this.runs)
        if (number !== this.current && free.size > 0 && (found === 0 || this.isBefore(number, found))) found = number
      return found
    }

    take(): number {
      if ((this.runs.get(this.current)?.free.size ?? 0) === 0) this.current = this.first()
      const handle = this.call('takeRegion', this.arena, this.c)
      const number = handle >>> 11
      if (this.current === 0) {
        if (this.runs.has(number)) throw new Error(`run ${number} is not new`)
        const free = new Set(Array.from({ length: this.regions }, (_, i) => i))
        this.runs.set(number, { free, live: new Set() })
        this.current = number
      }
      const one = this.runs.get(this.current)!
      const lowest = Math.min(...one.free)
      same(handle, this.current * 2048 + lowest, 'the region')
      one.free.delete(lowest)
      return handle
    }

    give(handle: number): void {
      const number = handle >>> 11
      const region = handle & 2047
      this.call('returnRegion', handle)
      const one = this.runs.get(number)
      if (one === undefined || one.free.has(region) || one.live.has(region)) return
      const had = one.free.size
      one.free.add(region)
      if (one.free.size === this.regions) {
        this.runs.delete(number)
        if (this.current === number) this.current = 0
      } else if (had === 0 && number !== this.current && this.current !== 0 && this.isBefore(number, this.current)) {
        this.current = number
      }
    }

    check(random: (n: number) => number): void {
      for (const [number, { free, live }] of this.runs) {
        const region = random(this.regions)
        same(this.call('isFree', number, region), free.has(region) ? 1 : 0, 'that a region is free')
        same(this.call('isLive', number, region), live.has(region) ? 1 : 0, 'that a region is live')
      }
    }
  }

  it.each([3, 4, 5])('of jemalloc %i give the lowest region of the first run, as plain sets do', (version) => {
    for (let seed = 1; seed <= runs(12); seed++) {
      const parts = make()
      const random = randomOf(seed)
      for (let turn = 0; turn < 2; turn++) {
        run(parts, 'start')(version)
        const c = [0, 1, 5, 20, parts.number('smallClasses') - 1][random(5)]!
        const bins = [0, 1].map((arena) => new Bin(parts, arena, c))
        const taken: { bin: Bin; handle: number }[] = []
        for (let step = 0; step < 4000; step++) {
          const bin = bins[random(2)]!
          // They are filled, drained and filled again.
          if (random(8) < ((step >> 10) % 2 === 0 ? 6 : 2)) {
            const handle = bin.take()
            taken.push({ bin, handle })
            if (random(3) === 0) {
              run(parts, 'setLive')(handle >>> 11, handle & 2047, true)
              bin.runs.get(handle >>> 11)!.live.add(handle & 2047)
            }
          } else if (taken.length > 0) {
            const [{ bin: from, handle }] = taken.splice(random(taken.length), 1) as [(typeof taken)[number]]
            const [number, region] = [handle >>> 11, handle & 2047]
            if (from.runs.get(number)!.live.has(region)) {
              // Of a live one, nothing changes.
              from.give(handle)
              run(parts, 'setLive')(number, region, false)
              from.runs.get(number)!.live.delete(region)
            }
            from.give(handle)
            if (random(4) === 0) from.give(handle)
          }
          bin.check(random)
        }
        for (const { bin, handle } of taken) {
          const { live } = bin.runs.get(handle >>> 11)!
          run(parts, 'setLive')(handle >>> 11, handle & 2047, false)
          live.delete(handle & 2047)
          bin.give(handle)
        }
        for (const bin of bins) same(bin.runs.size, 0, 'the number of runs')
      }
    }
  })
})

describe('allocators/jemalloc/caches', async () => {
  const make = await compileModules(MODULES)

  it.each([3, 5])('of jemalloc %i are as stacks', (version) => {
    for (let seed = 1; seed <= runs(12); seed++) {
      const parts = make()
      const random = randomOf(seed)
      for (let turn = 0; turn < 2; turn++) {
        run(parts, 'start')(version)
        const stacks = new Map<string, number[]>()
        const threads = [0, 1, 1023, 1024, (1 << 20) - 1]
        for (let step = 0; step < 5000; step++) {
          const thread = run(parts, 'threadAt')(threads[random(threads.length)]!) >>> 0
          const c = random(4) * 7
          const name = `${thread} ${c}`
          if (!stacks.has(name)) stacks.set(name, [])
          const stack = stacks.get(name)!
          let cache = run(parts, 'cacheOf')(thread, c) >>> 0
          same(run(parts, 'countOf')(cache), stack.length, 'the length')
          if (random(8) < ((step >> 10) % 2 === 0 ? 6 : 3)) {
            // A number that is no block: nothing else changes when it is given back.
            const handle = 0x7fff_0000 + random(65_536)
            cache = run(parts, 'push')(thread, cache, c, handle) >>> 0
            stack.push(handle)
          } else if (random(8) > 0) {
            same(run(parts, 'pop')(cache), stack.pop() ?? 0, 'the newest block')
          } else {
            const n = random(stack.length + 3)
            run(parts, 'flush')(cache, c, n)
            stack.splice(0, n)
          }
          if (stack.length > 0) {
            const i = random(stack.length)
            same(run(parts, 'blockIn')(cache, i), stack[i], `block ${i}`)
          }
          if (random(300) === 0) {
            run(parts, 'endThread')(thread)
            for (const key of stacks.keys()) if (key.startsWith(`${thread} `)) stacks.delete(key)
          }
        }
      }
    }
  })
})

describe('allocators/jemalloc/pages', async () => {
  const make = await compileModules(MODULES)

  it('of jemalloc 5 are in one extent at a time, and are used again', () => {
    for (let seed = 1; seed <= runs(20); seed++) {
      const parts = make()
      const random = randomOf(seed)
      run(parts, 'start')(5)
      const owner = new Map<bigint, number>()
      const extents: { number: number; first: bigint; pages: number }[] = []
      let most = 0n
      for (let step = 0; step < 3000; step++) {
        if (random(8) < ((step >> 9) % 2 === 0 ? 6 : 2)) {
          const pages = 1 + random([4, 40, 700][random(3)]!)
          const alignment = random(5) === 0 ? 1n << BigInt(12 + random(6)) : 1n
          const number = run(parts, 'takePages')(random(3), pages, alignment, 2)
          if (number === 0) throw new Error('there are no pages')
          same(run(parts, 'extentPages')(number), pages, 'the number of pages')
          const first = BigInt.asUintN(64, run(parts, 'baseOf')(number) as unknown as bigint) >> 12n
          for (let i = 0n; i < BigInt(pages); i++) {
            if (owner.has(first + i)) throw new Error(`a page is in two extents: ${number}`)
            owner.set(first + i, number)
          }
          extents.push({ number, first, pages })
        } else if (extents.length > 0) {
          const [{ number, first, pages }] = extents.splice(random(extents.length), 1) as [(typeof extents)[number]]
          run(parts, 'freePages')(number)
          for (let i = 0n; i < BigInt(pages); i++) owner.delete(first + i)
        }
        if (BigInt(owner.size) > most) most = BigInt(owner.size)
      }
      // What was taken is still as it was.
      for (const { number, first, pages } of extents) {
        same(run(parts, 'extentPages')(number), pages, 'the number of pages at the end')
        same(BigInt.asUintN(64, run(parts, 'baseOf')(number) as unknown as bigint) >> 12n, first, 'the first page')
      }
    }
  })
})

describe('simulate/jemalloc', async () => {
  const make = await compileModules(`
    import { jeAllocate, startJemalloc } from './simulate/jemalloc'
    export { jeFault } from './simulate/jemalloc'
    export function start(version: i32): bool { return startJemalloc(version, 64, true) }
    export function allocate(size: u64): bool { return jeAllocate(0, size, 0) }`)

  it.each([3, 4, 5])('of jemalloc %i tells what is too large from exhausted memory', (version) => {
    const parts = make(2 ** 20)
    const allocate = (size: bigint) => run(parts, 'allocate')(size)
    for (let turn = 0; turn < 2; turn++) {
      same(run(parts, 'start')(version), 1, 'whether there is memory')
      same(allocate((1n << 43n) + 1n), 0, 'whether there is a block of more than 2^43 bytes')
      same(parts.number('jeFault'), TOO_LARGE, 'the reason')
      let blocks = 0
      while (allocate(15_000n) === 1) blocks++
      same(blocks > 1000 && blocks < 2 ** 17, true, `whether ${blocks} blocks are in a megabyte`)
      same(parts.number('jeFault'), EXHAUSTED, 'the reason')
      // Large blocks exhaust the addresses first.
      same(run(parts, 'start')(version), 1, 'whether there is memory')
      while (allocate(1n << 42n) === 1);
      same(parts.number('jeFault'), TOO_LARGE, 'the reason')
    }
  })
})
