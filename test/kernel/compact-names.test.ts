// @module-tag slow
import { describe, expect, it } from 'vitest'
import { randomOf } from '../support/model.js'
import { runs } from '../support/runs.js'
import { compileModules, type Parts } from './modules.js'

/** For the many comparisons of a loop, in which `expect` takes most of the time. */
function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what} is ${String(found)}, not ${String(expected)}`)
}

type Values = (number | bigint | boolean)[]
const run = (parts: Parts, name: string) => parts.call<Values>(name)

describe('compact/names', async () => {
  const make = await compileModules(`
    export { beginBatch, beginName, addName, addList, beginOutput, numberOfName, numberOfList, outName, outList,
      resetNames, isCrowded, isExhausted } from './compact/names'
    export { clear, addString, beginList, endList, startOf, lengthOf, listStart, listLength, stringCount, listCount }
      from './compact/batch-strings'
    export { initChecksum } from './compact/checksum'
    export const SCRATCH: usize = memory.data(65600)`)
  const NEW = 0x1_0000_0000n

  /** Texts of all lengths, of which many differ in one byte. */
  const textOf = (i: number) =>
    i % 2 === 0 ? 'abc'.repeat(i % 23) + i.toString(36) : i.toString(36) + 'x'.repeat(i % 40)

  class Names {
    readonly names = new Map<string, number>()
    readonly lists = new Map<string, number>()

    constructor(private readonly parts: Parts) {
      run(parts, 'initChecksum')()
    }

    clear(): void {
      run(this.parts, 'resetNames')()
      this.names.clear()
      this.lists.clear()
    }

    /** Puts the texts and lists of a batch where the encoder finds them. */
    batch(texts: readonly string[], lists: readonly (readonly number[])[]): void {
      const { parts } = this
      same(run(parts, 'clear')(), 1, 'memory')
      const scratch = parts.number('SCRATCH')
      for (const text of texts) {
        const bytes = Buffer.from(text)
        Buffer.from(parts.words.buffer, scratch, bytes.length).set(bytes)
        run(parts, 'addString')(scratch, bytes.length)
      }
      for (const list of lists) {
        const to = run(parts, 'beginList')(list.length) >>> 0
        list.forEach((id, i) => parts.words.setUint32(to + 4 * i, id, true))
        run(parts, 'endList')(list.length)
      }
      same(run(parts, 'beginBatch')(texts.length, lists.length), 1, 'memory')
    }

    /** Adds the text of a batch, if it is new. @returns false if there is no memory */
    name(id: number, text: string): boolean {
      const { parts } = this
      const known = this.names.get(text)
      same(
        run(parts, 'numberOfName')(id) as unknown as bigint,
        known === undefined ? NEW | BigInt(id) : BigInt(known),
        text,
      )
      if (known !== undefined) return true
      const bytes = Buffer.from(text)
      const to = run(parts, 'beginName')(bytes.length) >>> 0
      if (to === 0) return false
      Buffer.from(parts.words.buffer, to, bytes.length).set(bytes)
      const number = run(parts, 'addName')(bytes.length, 1)
      if (parts.number('isExhausted') !== 0) return false
      same(number, this.names.size, 'the number of a new name')
      this.names.set(text, number)
      return true
    }

    list(id: number, list: readonly number[], texts: readonly string[]): void {
      const { parts } = this
      const numbers = list.map((text) => this.names.get(texts[text]!))
      const known = numbers.includes(undefined) ? undefined : this.lists.get(numbers.join())
      const found = run(parts, 'numberOfList')(id) as unknown as bigint
      same(found, known === undefined ? NEW | BigInt(id) : BigInt(known), `list ${numbers.join()}`)
      if (known !== undefined || numbers.includes(undefined)) return
      const scratch = parts.number('SCRATCH')
      numbers.forEach((number, i) => parts.words.setUint32(scratch + 4 * i, number!, true))
      same(run(parts, 'addList')(scratch, list.length, 1), this.lists.size, 'the number of a new list')
      this.lists.set(numbers.join(), this.lists.size)
    }

    /** Gives names and lists to a batch that is decoded, and reads them there. */
    checkOutput(random: (n: number) => number): void {
      const { parts } = this
      same(run(parts, 'clear')(), 1, 'memory')
      run(parts, 'beginOutput')()
      const textAt = (id: number) => {
        const start = run(parts, 'startOf')(id) >>> 0
        return Buffer.from(parts.words.buffer, start, run(parts, 'lengthOf')(id)).toString()
      }
      const [names, lists] = [[...this.names.keys()], [...this.lists.keys()]]
      const ids = new Map<number, number>()
      for (let i = 0; i < 60; i++) {
        const number = random(names.length)
        const id = run(parts, 'outName')(number)
        same(id, ids.get(number) ?? id, 'the id of a name that has one')
        ids.set(number, id)
        same(textAt(id), names[number], 'a name')
        if (lists.length === 0) continue
        const list = random(lists.length)
        const given = run(parts, 'outList')(list)
        const start = run(parts, 'listStart')(given) >>> 0
        const found = Array.from({ length: run(parts, 'listLength')(given) }, (_, k) =>
          textAt(parts.words.getUint32(start + 4 * k, true)),
        )
        const expected = lists[list] === '' ? [] : lists[list]!.split(',').map((n) => names[Number(n)])
        same(found.join('\n'), expected.join('\n'), 'a list')
      }
    }
  }

  it('are numbered as by maps, and come out as they were', () => {
    for (let seed = 1; seed <= runs(12); seed++) {
      const parts = make()
      const names = new Names(parts)
      const random = randomOf(seed)
      const most = [40, 1500, 5000][seed % 3]!
      for (let turn = 0; turn < 2; turn++) {
        names.clear()
        for (let batch = 0; batch < 30; batch++) {
          const texts = [...new Set(Array.from({ length: 1 + random(200) }, () => textOf(random(most))))]
          const lists = Array.from({ length: random(80) }, () =>
            Array.from({ length: random(7) }, () => random(Math.min(texts.length, 1 + random(40)))),
          )
          names.batch(texts, lists)
          // Some lists come before their names.
          texts.forEach((text, id) => random(6) > 0 && names.name(id, text))
          lists.forEach((list, id) => names.list(id, list, texts))
          if (names.names.size > 0) names.checkOutput(random)
        }
      }
    }
  })

  it('stay as they are when memory ends', () => {
    const parts = make(1 << 21)
    const names = new Names(parts)
    names.clear()
    let isFull = false
    for (let from = 0; !isFull; from += 500) {
      expect(from).toBeLessThan(100_000)
      const texts = Array.from({ length: 500 }, (_, i) => `${from + i} ${textOf(i)}`)
      try {
        names.batch(texts, [])
      } catch {
        // Not even the texts of the batch have room.
        break
      }
      isFull = !texts.every((text, id) => names.name(id, text))
    }
    const known = [...names.names]
    expect(known.length).toBeGreaterThan(1000)
    names.clear()
    for (const [text] of known.slice(0, 900)) {
      names.batch([text], [])
      same(names.name(0, text), true, 'memory after all was forgotten')
    }
    names.checkOutput(randomOf(1))
  })
})
