// @module-tag slow
import { describe, it } from 'vitest'
import { compareWithArray, fillMemory, KEYS, randomOf } from '../support/model.js'
import { compileModules, type Edit, type Parts } from './modules.js'

/** For the many comparisons of a loop, in which `expect` takes most of the time. */
function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what} is ${String(found)}, not ${String(expected)}`)
}

type Values = (number | bigint | boolean)[]
const run = (parts: Parts, name: string) => parts.call<Values>(name)

/** Makes modules those of the best level. */
const BEST: Edit = (path, text) =>
  path === 'compact/level.ts' ? '// @ts-ignore: decorator\nexport const BEST: bool = true\n' : text
const LEVELS: [string, Edit | undefined][] = [
  ['the fast level', undefined],
  ['the best level', BEST],
]

describe('compact/pages', async () => {
  const make = await compileModules(`
    export { seedHashes } from './shared/hash'
    export { findHead, linkHead, resetPages } from './compact/pages'`)
  const structure = (parts: Parts) => {
    run(parts, 'seedHashes')(54_321, 0)
    const [find, link] = [parts.call<[bigint]>('findHead'), parts.call<[bigint, number]>('linkHead')]
    return {
      clear: parts.call<[]>('resetPages'),
      add: (key: bigint, value: number) => (link(key, value) === 0 ? 0 : value),
      get: (key: bigint) => find(key),
      remove: (key: bigint) => void link(key, 0),
    }
  }
  // Keys within 16 bytes have one number.
  const keys = ['addresses', 'equal low words', 'multiples of 2^22 in both words']
  const sizes = [1, 7, 511, 512, 513, 1365, 1366, 4097]

  it.each(keys)('do as an array does: %s', (name) => {
    const one = structure(make())
    for (const n of sizes) compareWithArray(one, KEYS[name]!, n)
  })
  it('keep what they have when memory ends', () => {
    for (const bytes of [5 << 18, 1 << 22]) fillMemory(structure(make(bytes)), KEYS['equal low words']!, 1 << 18)
  })
  it.each(keys)('do as an array does, many: %s', { tags: ['slow'] }, (name) => {
    for (const n of [32_769, 300_001]) compareWithArray(structure(make()), KEYS[name]!, n)
  })
})

/** A live block. */
interface Block {
  readonly key: bigint
  readonly number: number
  readonly birth: number
}

describe.each(LEVELS)('compact/blocks of %s', async (level, edit) => {
  const isBest = level === 'the best level'
  const make = await compileModules(
    `
    import { blockAt } from './compact/block'
    import { newestBlock, younger, older } from './compact/blocks'
    import { blockAtRank, neighbour, newestOfClass, ranksBetween } from './compact/classes'
    import { newestOfSite, oldestOfSite } from './compact/best/sites'
    export { addBlock, findBlock, removeBlock, resetBlocks, newestBlock, younger, older } from './compact/blocks'
    export { blockAtRank, neighbour, newestOfClass, ranksBetween } from './compact/classes'
    export { newestOfSite, oldestOfSite } from './compact/best/sites'
    export { nextEvent, resetHistory } from './compact/history'
    export { resetCoder } from './compact/coder'
    export function position(n: u32): u32 { return blockAt(n).position }
    export function birth(n: u32): u32 { return blockAt(n).birth }
    export function sizeOf(n: u32): u64 { return blockAt(n).size }
    export function siteOlder(n: u32): u32 { return blockAt(n).siteOlder }`,
    undefined,
    edit,
  )

  /** Classes and sites as arrays in the order of births. */
  class Model {
    readonly blocks = new Map<bigint, Block>()
    readonly classes: Block[][] = Array.from({ length: 40 }, () => [])
    readonly sites: Block[][] = Array.from({ length: 70_000 }, () => [])
    readonly homes = new Map<number, readonly [number, number]>()
    births: (Block | undefined)[] = [undefined]

    remove(block: Block): void {
      const [c, site] = this.homes.get(block.number)!
      for (const list of [this.classes[c]!, this.sites[site & 0xffff]!]) list.splice(list.indexOf(block), 1)
      this.births[block.birth] = undefined
      this.blocks.delete(block.key)
    }

    add(block: Block, c: number, site: number): void {
      this.blocks.set(block.key, block)
      this.homes.set(block.number, [c, site])
      this.classes[c]!.push(block)
      this.sites[site & 0xffff]!.push(block)
      this.births.push(block)
    }
  }

  function check(parts: Parts, model: Model, random: (n: number) => number): void {
    const key = [...model.blocks.keys()][random(Math.min(model.blocks.size, 50))]
    if (key === undefined) return
    const block = model.blocks.get(key)!
    same(run(parts, 'findBlock')(BigInt.asIntN(64, key)), block.number, 'a block')
    same(run(parts, 'findBlock')(BigInt.asIntN(64, key ^ 8n)), model.blocks.get(key ^ 8n)?.number ?? 0, 'its neighbour')
    const [c, site] = model.homes.get(block.number)!
    if (isBest) {
      const list = model.classes[c]!
      const i = list.indexOf(block)
      const position = run(parts, 'position')(block.number)
      same(run(parts, 'newestOfClass')(c), list.at(-1)!.number, 'the newest of a class')
      same(run(parts, 'neighbour')(c, position + 1, true), list[i + 1]?.number ?? 0, 'the next of a class')
      same(run(parts, 'neighbour')(c, position, false), list[i - 1]?.number ?? 0, 'the last of a class before')
      const j = random(list.length)
      const other = run(parts, 'position')(list[j]!.number)
      same(run(parts, 'ranksBetween')(c, position, other) as unknown as bigint, BigInt(j - i), 'a distance')
      same(run(parts, 'blockAtRank')(c, position, BigInt(j - i)), list[j]!.number, 'a block at a distance')
      const ofSite = model.sites[site & 0xffff]!
      same(run(parts, 'newestOfSite')(site), ofSite.at(-1)!.number, 'the newest of a site')
      same(run(parts, 'oldestOfSite')(site), ofSite[0]!.number, 'the oldest of a site')
      same(run(parts, 'siteOlder')(block.number), ofSite[ofSite.indexOf(block) - 1]?.number ?? 0, 'an older one')
    } else {
      const near = (step: number) => {
        for (let i = 1; i <= 8; i++) {
          const other = model.births[block.birth + i * step]
          if (other !== undefined) return other.number
        }
        return 0
      }
      same(run(parts, 'younger')(block.birth), near(1), 'the next birth')
      same(run(parts, 'older')(block.birth), near(-1), 'the birth before')
    }
  }

  /** @param keyOf keys that meet, so that some blocks end when others are born */
  function follow(n: number, keyOf: (i: number) => bigint, steps: number): void {
    const parts = make()
    const random = randomOf(n)
    for (let turn = 0; turn < 2; turn++) {
      run(parts, 'resetCoder')()
      run(parts, 'resetHistory')()
      run(parts, 'resetBlocks')()
      const model = new Model()
      for (let step = 0; step < steps; step++) {
        run(parts, 'nextEvent')()
        // It is filled, drained and filled again.
        if (random(8) < (Math.floor((3 * step) / steps) % 2 === 0 ? 6 : 1)) {
          const key = keyOf(random(n))
          const [c, site] = [1 + random(random(4) === 0 ? 39 : 2), random(70_000)]
          const old = model.blocks.get(key)
          if (old !== undefined) model.remove(old)
          const number = run(parts, 'addBlock')(BigInt.asIntN(64, key), BigInt(step), c, site)
          if (number === 0) throw new Error('there is no memory')
          model.add({ key, number, birth: model.births.length }, c, site)
          same(run(parts, 'sizeOf')(number) as unknown as bigint, BigInt(step), 'a size')
          if (!isBest) {
            same(run(parts, 'birth')(number), model.births.length - 1, 'a birth')
            same(run(parts, 'newestBlock')(), number, 'the newest block')
          }
        } else {
          const all = [...model.blocks.values()]
          const block = all[random(2) === 0 ? all.length - 1 : random(all.length)]
          if (block === undefined) continue
          run(parts, 'removeBlock')(block.number)
          model.remove(block)
        }
        check(parts, model, random)
      }
    }
  }

  it('are as maps and arrays', () => {
    // There are fewer births than the table of births has places.
    for (const n of [1, 2, 65, 700]) follow(n, (i) => 0x5500_0000n + 8n * BigInt(i), 4000)
    follow(2000, (i) => BigInt(i) << 40n, 6000)
  })
  it('are as maps and arrays, many', { tags: ['slow'] }, () => {
    follow(20_000, (i) => 0x5500_0000n + 8n * BigInt(i), 25_000)
  })
})

describe('compact/threads', async () => {
  const make = await compileModules(`
    import { threadAt } from './compact/threads'
    export { beginWriting, endWriting, resetCoder } from './compact/coder'
    export { codeThread, current, resetThreads, setCurrent, threadCount } from './compact/threads'
    export { resetNumbers } from './compact/numbers'
    export { nextEvent, resetHistory } from './compact/history'
    export { HAS_THREAD, HAS_PROCESS } from './shared/event'
    export function idOf(n: u32): u64 { return threadAt(n).id }`)

  it.each(Object.entries(KEYS))('are numbered as by a map, and forgotten at 65,536: %s', (name, keyOf) => {
    const parts = make()
    const [thread, process] = [parts.number('HAS_THREAD'), parts.number('HAS_PROCESS')]
    const random = randomOf(3)
    const many = name === 'one hash, without a seed' || name === 'random' ? 70_000 : 3000
    for (let turn = 0; turn < 2; turn++) {
      run(parts, 'resetCoder')()
      run(parts, 'resetNumbers')()
      run(parts, 'resetThreads')()
      run(parts, 'resetHistory')()
      run(parts, 'beginWriting')()
      const known = new Map<string, number>()
      for (let step = 0; step < many + 5000; step++) {
        run(parts, 'nextEvent')()
        const i = step < many ? step : many - 1 - random(2000)
        const key = keyOf(i >> 1)
        const fields = [thread, thread | process, process][i % 3]!
        const [id, ofProcess] = [(fields & thread) === 0 ? 0n : key, (fields & process) === 0 ? 0n : keyOf(i & 7)]
        const text = `${fields} ${id} ${ofProcess}`
        if (!known.has(text)) {
          if (known.size === 65_536) known.clear()
          known.set(text, known.size)
        }
        same(run(parts, 'codeThread')(fields, BigInt.asIntN(64, id), BigInt.asIntN(64, ofProcess)), 1, 'memory')
        same(parts.number('current'), known.get(text), `the number of ${text}`)
        same(parts.number('threadCount'), known.size, 'the number of threads')
        // The payload does not grow for ever.
        if (step % 1000 === 999) {
          run(parts, 'endWriting')()
          run(parts, 'beginWriting')()
        }
      }
    }
  })
})

describe.each(LEVELS)('compact/history of %s', async (_, edit) => {
  const make = await compileModules(
    `
    import { threadAt } from './compact/threads'
    import { pastAt, remember } from './compact/history'
    export { isKept, KEPT, nextEvent, noteBirth, remember, resetHistory, sequence } from './compact/history'
    export { restoreThread, resetThreads } from './compact/threads'
    export { resetCoder } from './compact/coder'
    export function rememberOf(n: u32, symbol: u32, free: u32, age: u32): void { remember(threadAt(n), symbol, free, age) }
    export function matchOf(n: u32): u32 { return threadAt(n).match }
    export function matchedOf(n: u32): u32 { return threadAt(n).matched }
    export function symbolOf(n: u32): u32 { return pastAt(n).symbol }
    export function ageOf(n: u32): u32 { return pastAt(n).age }
    export function freeOf(n: u32): u32 { return pastAt(n).free }
    export function bornOf(n: u32): u32 { return pastAt(n).born }
    export function nextOf(n: u32): u32 { return pastAt(n).next }`,
    undefined,
    edit,
  )

  it('has the last events as an array has, and expects the event that came after the same ones', () => {
    const parts = make()
    const random = randomOf(5)
    const kept = parts.number('KEPT')
    for (let turn = 0; turn < 2; turn++) {
      run(parts, 'resetCoder')()
      run(parts, 'resetThreads')()
      run(parts, 'resetHistory')()
      for (let id = 1n; id <= 4n; id++) run(parts, 'restoreThread')(1, id, 0n)
      const events: { symbol: number; free: number; age: number; born: number; next: number }[] = []
      const last = [0, 0, 0, 0]
      const ofThread: string[][] = [[], [], [], []]
      for (let step = 1; step <= kept + 3000; step++) {
        run(parts, 'nextEvent')()
        same(parts.number('sequence'), step, 'the number of the event')
        const thread = random(50) === 0 ? random(4) : (step >> 8) & 3
        // Mostly the same symbols again, so that there are matches.
        const symbol = random(40) === 0 ? random(60_000) : 2 + (ofThread[thread]!.length % 23)
        const [free, age] = [random(40) === 0 ? random(1000) : 0, random(9)]
        const born = random(3) === 0 ? 1 + random(1 << 20) : 0
        if (born !== 0) run(parts, 'noteBirth')(born)
        run(parts, 'rememberOf')(thread, symbol, free, age)
        events[step] = { symbol, free, age, born, next: 0 }
        const before = last[thread]!
        if (before !== 0) events[before]!.next = step
        last[thread] = step
        ofThread[thread]!.push(`${symbol} ${free}`)
        const i = Math.max(1, step - random(Math.min(step, kept - 9)))
        if (run(parts, 'isKept')(i) === 0) throw new Error(`event ${i} of ${step} is forgotten`)
        const found = ['symbol', 'free', 'age', 'born', 'next'].map((name) => run(parts, `${name}Of`)(i))
        const { next, ...values } = events[i]!
        same(found.join(), [...Object.values(values), next].join(), `event ${i} of ${step}`)
        const match = run(parts, 'matchOf')(thread)
        // A new match follows the same six symbols.
        if (match === 0 || run(parts, 'matchedOf')(thread) !== 1) continue
        if (match >= step) throw new Error(`event ${step} expects event ${match}`)
      }
      if (run(parts, 'isKept')(5) !== 0) throw new Error('the first events are kept for ever')
    }
  })
})
