import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadKernel } from '../../lib/kernel/load.js'
import { BlockEffect } from '../../lib/blocks/block-effect.js'
import type { LiveExports } from '../../lib/kernel/live.js'
import { randomOf } from '../support/model.js'
import { SEED } from '../support/seed.js'

/** With the intent to begin or to end a block: its key is an index. */
const INDEXED = 128

const random = randomOf(SEED)

interface Deed {
  key: bigint
  isIndex: boolean
  begins: boolean
}

function kernel(): LiveExports {
  const run = loadKernel<LiveExports>('live')
  run.seed(random(2 ** 32), random(2 ** 32))
  run.clear()
  return run
}

/** Does up to 4096 things. @returns what was done, and the number of the block that each was about */
function follow(run: LiveExports, deeds: readonly Deed[]): { effect: number; number: number }[] {
  const { buffer } = run.memory
  const [intents, ends, begins] = [
    new Uint8Array(buffer, run.INTENTS.value),
    new BigUint64Array(buffer, run.ENDS.value),
    new BigUint64Array(buffer, run.BEGINS.value),
  ]
  deeds.forEach(({ key, isIndex, begins: isBegin }, row) => {
    intents[row] = (isBegin ? BlockEffect.began : BlockEffect.ended) | (isIndex ? INDEXED : 0)
    ends[row] = begins[row] = key
  })
  expect(run.follow(deeds.length)).toBe(deeds.length)
  // Memory may have grown.
  const after = run.memory.buffer
  const [effects, ended, begun] = [
    new Uint8Array(after, run.EFFECTS.value),
    new Int32Array(after, run.ENDED.value),
    new Int32Array(after, run.BEGUN.value),
  ]
  return deeds.map((_, row) => ({
    effect: effects[row],
    number: ended[row] + begun[row],
  }))
}

const find = (run: LiveExports, key: bigint, isIndex = false) =>
  run.find(Number(key & 0xffff_ffffn), Number(key >> 32n), isIndex)

/** Does the same to many blocks. */
function followAll(run: LiveExports, keys: readonly bigint[], begins: boolean): number[] {
  const numbers: number[] = []
  for (let from = 0; from < keys.length; from += 4096) {
    for (const { effect, number } of follow(
      run,
      keys.slice(from, from + 4096).map((key) => ({ key, isIndex: false, begins })),
    )) {
      if (effect !== (begins ? BlockEffect.began : BlockEffect.ended))
        throw new Error(`row ${numbers.length} did ${effect}`)
      numbers.push(number)
    }
  }
  return numbers
}

/**
 * The inverse of the golden ratio that keys are multiplied by: the product of `KEY * i` is i, whose upper bits are all
 * zero.
 */
const INVERSE = 0xf1de_83e1_9937_733dn
const colliding = (n: number) => Array.from({ length: n }, (_, i) => BigInt.asUintN(64, BigInt(i + 1) * INVERSE))

describe('the live set', () => {
  it('does as a Map does, whatever the keys are', () => {
    const key = fc.oneof(
      fc.bigInt({ min: 0n, max: 30n }),
      fc.bigInt({ min: 0n, max: 30n }).map((n) => n << 32n),
      fc.nat({ max: 30 }).map((i) => BigInt.asUintN(64, BigInt(i) * INVERSE)),
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    )
    const trace = fc.array(fc.record({ key, isIndex: fc.boolean(), begins: fc.boolean() }), { maxLength: 300 })
    const run = kernel()
    fc.assert(
      fc.property(trace, (deeds) => {
        run.clear()
        const live = new Map<string, number>()
        follow(run, deeds).forEach(({ effect, number }, row) => {
          const { key: k, isIndex, begins } = deeds[row]
          const name = `${isIndex} ${k}`
          const before = live.get(name)
          if (begins) {
            expect(effect).toBe(before === undefined ? BlockEffect.began : BlockEffect.began | BlockEffect.reused)
            if (before === undefined) expect([...live.values()]).not.toContain(number)
            else expect(number).toBe(before)
            live.set(name, number)
          } else {
            expect(effect & ~BlockEffect.again).toBe(before === undefined ? BlockEffect.unknown : BlockEffect.ended)
            expect(number).toBe(before ?? 0)
            live.delete(name)
          }
        })
        expect(run.live.value).toBe(live.size)
        for (const { key: k, isIndex } of deeds) expect(find(run, k, isIndex)).toBe(live.get(`${isIndex} ${k}`) ?? 0)
      }),
    )
  })

  it('numbers as many blocks as were live at once, through growth', { tags: ['slow'] }, () => {
    const run = kernel()
    const n = 300_000
    const keys = Array.from({ length: n }, (_, i) => 0x7f00_0000_0000n + 48n * BigInt(i))
    const numbers = followAll(run, keys, true)
    expect(new Set(numbers).size).toBe(n)
    expect(followAll(run, keys, false)).toEqual(numbers)
    followAll(run, keys.slice(1000), true)
    expect([run.live.value, run.numbers.value]).toEqual([n - 1000, n])
    // Neither regular keys nor their absence look like a choice.
    expect(run.isSeeded.value).toBe(0)
    const { byteLength } = run.memory.buffer
    for (let trace = 0; trace < 3; trace++) {
      run.clear()
      expect([run.live.value, run.numbers.value, find(run, keys[5000]!)]).toEqual([0, 0, 0])
      followAll(run, keys, true)
    }
    // What one trace has outgrown is used by the next.
    expect(run.memory.buffer.byteLength).toBeLessThanOrEqual(2 * byteLength)
  })

  it("takes a seed for keys that were chosen to be in each other's way", { timeout: 60_000, tags: ['slow'] }, () => {
    const run = kernel()
    const keys = colliding(300_000)
    const others = Array.from({ length: 400 }, (_, i) => BigInt(i) << 55n)
    followAll(run, others, true)
    followAll(run, others.slice(100), false)
    followAll(run, keys.slice(0, 200), true)
    expect(run.isSeeded.value).toBe(0)
    followAll(run, keys.slice(200), true)
    // Every search would else pass by all of them.
    expect(run.isSeeded.value).toBe(1)
    expect(new Set([...others.slice(0, 100), ...keys].map((key) => find(run, key))).size).toBe(100 + keys.length)
    followAll(run, [...others.slice(0, 100), ...keys], false)
    expect(run.live.value).toBe(0)
    run.clear()
    expect(run.isSeeded.value).toBe(0)
  })

  it('takes a seed when something that is not there is looked for behind many blocks', () => {
    const run = kernel()
    const keys = colliding(250)
    followAll(run, keys, true)
    const other = BigInt.asUintN(64, 1_000_000n * INVERSE)
    expect(find(run, other)).toBe(0)
    expect(run.isSeeded.value).toBe(0)
    followAll(run, colliding(300).slice(250), true)
    expect(find(run, other)).toBe(0)
    expect(run.isSeeded.value).toBe(1)
    expect(keys.every((key) => find(run, key) > 0)).toBe(true)
  })
})
