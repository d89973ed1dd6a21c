// @module-tag slow
import { describe, it } from 'vitest'
import { randomOf } from '../support/model.js'
import { runs } from '../support/runs.js'
import { compileModules } from './modules.js'

/** For the many comparisons of a loop, in which `expect` takes most of the time. */
function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what} is ${String(found)}, not ${String(expected)}`)
}

/** The pages that one addition can take. */
const MOST_PAGES = 12

describe('simulate/sets', async () => {
  const make = await compileModules(`
    export { add, clearSets, end, first, has, makeSets, remove } from './simulate/sets'
    const SETS: usize = memory.data(32)
    export function at(i: i32): usize { return SETS + (<usize>i << 3) }
    export function page(i: i32): u32 { return load<u32>(SETS + (<usize>i << 3)) }
    export function empty(): void { memory.fill(SETS, 0, 32) }`)

  it.each([
    ['close numbers', (random: (n: number) => number) => BigInt(random(300))],
    ['some thousands', (random: (n: number) => number) => BigInt(random(20_000))],
    ['all sizes', (random: (n: number) => number) => BigInt(random(2 ** 30)) >> BigInt(random(30))],
    ['far ones', (random: (n: number) => number) => (BigInt(random(8)) << BigInt(random(42))) + BigInt(random(3))],
  ])('of %s are as sets', (_, numberOf) => {
    for (let seed = 1; seed <= runs(8); seed++) {
      const parts = make()
      const call = (name: string, ...values: (number | bigint)[]) => parts.call<(number | bigint)[]>(name)(...values)
      const random = randomOf(seed)
      for (let turn = 0; turn < 2; turn++) {
        same(call('clearSets'), 1, 'whether there is memory')
        call('empty')
        const models = [0, 1, 2].map(() => new Set<bigint>())
        for (let step = 0; step < 8000; step++) {
          const i = random(3)
          const [set, model] = [call('at', i), models[i]!]
          const grows = (step >> 11) % 2 === 0
          const number =
            !grows && model.size > 0 && random(2) === 0 ? [...model][random(model.size)]! : numberOf(random)
          same(call('has', set, number), model.has(number) ? 1 : 0, `that ${number} is there`)
          same(call('makeSets', MOST_PAGES), 1, 'whether there is room')
          if (model.has(number)) {
            call('remove', set, number)
            model.delete(number)
          } else if (grows || random(4) === 0) {
            call('add', set, number)
            model.add(number)
          }
          same(call('page', i) === 0, model.size === 0, 'that it is empty')
          if (model.size === 0 || step % 16 !== 0) continue
          const lowest = [...model].reduce((a, b) => (a < b ? a : b))
          same(call('first', set) as unknown, lowest, 'the lowest')
        }
      }
    }
  })

  it('take twelve pages for a large number after a small one, and no more', () => {
    const parts = make()
    const call = (name: string, ...values: (number | bigint)[]) => parts.call<(number | bigint)[]>(name)(...values)
    for (const [small, large, pages] of [
      [1n, 1n << 44n, MOST_PAGES],
      [1n << 44n, 1n, 6],
      [1n, 2n, 0],
      [1n, 1n << 12n, 2],
    ] as const) {
      same(call('clearSets'), 1, 'whether there is memory')
      call('empty')
      call('add', call('at', 0), small)
      const before = parts.number('end')
      call('add', call('at', 0), large)
      same(parts.number('end') - before, pages, 'the number of pages')
      same(call('first', call('at', 0)) as unknown, small < large ? small : large, 'the lowest')
    }
  })
})
