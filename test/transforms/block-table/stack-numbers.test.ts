import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StringTable } from '../../../lib/event/strings.js'
import { BlockTable } from '../../../lib/transforms/block-table/block-table.js'
import { STACK_COLUMNS, StackNumbers, type StackLimits } from '../../../lib/transforms/block-table/stack-numbers.js'
import { blockRows } from '../../support/block-rows.js'
import { runs } from '../../support/runs.js'
import { inBatches } from '../events.js'
import { anyTraces } from '../statistics/random.js'

function numberIn(numbers: StackNumbers, stack: readonly string[], strings = new StringTable()): number {
  return numbers.of(strings, strings.addList(stack.map((name) => strings.internText(name))))
}

function stacksOf(numbers: StackNumbers): Map<number, string[]> {
  const found = new Map<number, string[]>()
  for (const rows of numbers.rows()) {
    const [ids, lists] = STACK_COLUMNS.map((column) => rows.values(column) as Uint32Array)
    for (let i = 0; i < rows.count; i++) {
      const list = rows.strings.list(lists?.[i] as number)
      found.set(
        ids?.[i] as number,
        list.map((id) => rows.strings.text(id)),
      )
    }
  }
  return found
}

describe('numbers of stacks', () => {
  test('are those of a plain map, at any number of stacks and tables', () => {
    const stacks = fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 6 }), { maxLength: 300 })
    fc.assert(
      fc.property(stacks, fc.integer({ min: 1, max: 50 }), (some, tableSize) => {
        const numbers = new StackNumbers()
        const model = new Map<string, number>()
        let strings = new StringTable()
        some.forEach((stack, i) => {
          if (i % tableSize === 0) strings = new StringTable()
          const key = JSON.stringify(stack)
          if (!model.has(key)) model.set(key, model.size + 1)
          expect(numberIn(numbers, stack, strings)).toBe(model.get(key))
        })
        expect(numbers.size).toBe(model.size)
        expect([...stacksOf(numbers)]).toEqual([...model].map(([key, id]) => [id, JSON.parse(key) as string[]]))
      }),
      { numRuns: runs(100) },
    )
  })

  test('are many', () => {
    const numbers = new StackNumbers()
    const strings = new StringTable()
    for (let i = 0; i < 5000; i++) expect(numberIn(numbers, [`f${i % 70}`, `g${i}`, 'main'], strings)).toBe(i + 1)
    const found = stacksOf(numbers)
    expect(found.size).toBe(5000)
    expect(found.get(4711)).toEqual(['f20', 'g4710', 'main'])
  })

  test('end where there is no room, and what is known keeps its number', () => {
    const few = new StackNumbers({ nodes: 7, bytes: 100 })
    expect(['a', 'b', 'c', 'd', 'a', 'e'].map((name) => numberIn(few, [name]))).toEqual([1, 2, 3, 0, 1, 0])
    expect([few.isFull, few.size]).toEqual([true, 3])
    const short = new StackNumbers({ nodes: 100, bytes: 5 })
    expect([['main'], ['long', 'main'], ['main'], ['main', 'main'], ['x']].map((one) => numberIn(short, one))).toEqual([
      1, 0, 1, 2, 3,
    ])
    expect(short.isFull).toBe(true)
  })

  test('take room for the stacks that are asked for alone, where a table has a tree of stacks', () => {
    const node = fc.record({
      parent: fc.nat(),
      frames: fc.array(fc.constantFrom('a', 'bc', 'def', 'ghij'), { minLength: 1, maxLength: 3 }),
      isAsked: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(node, { minLength: 1, maxLength: 40 }), (nodes) => {
        const parents = Uint32Array.of(0, ...nodes.map(({ parent }, i) => parent % (i + 1)))
        const stacks: string[][] = [[]]
        nodes.forEach(({ frames }, i) => stacks.push([...frames, ...(stacks[parents[i + 1]!] as string[])]))
        const strings = new StringTable({ parents, depths: Uint32Array.from(stacks, ({ length }) => length) })
        const listOf = (stack: readonly string[], i: number) =>
          strings.addStack(
            i + 1,
            Uint32Array.from(stack, (name) => strings.internText(name)),
            0,
            0,
          )
        const lists = stacks.slice(1).map(listOf)
        const asked = lists.flatMap((list, i) =>
          nodes[i]!.isAsked ? [{ list, stack: stacks[i + 1] as string[] }] : [],
        )
        fc.pre(asked.length > 0)

        const model = new Map<string, number>()
        const expected = asked.map(({ stack }) => {
          const key = stack.join()
          if (!model.has(key)) model.set(key, model.size + 1)
          return model.get(key)
        })
        const tails = new Set(asked.flatMap(({ stack }) => stack.map((_, i) => stack.slice(i).join())))
        const names = new Set(asked.flatMap(({ stack }) => stack))
        const limits = { nodes: 4 + tails.size, bytes: [...names].join('').length }
        const numbersWith = (some: StackLimits) => {
          const numbers = new StackNumbers(some)
          return { found: asked.map(({ list }) => numbers.of(strings, list)), isFull: numbers.isFull }
        }
        expect(numbersWith(limits)).toEqual({ found: expected, isFull: false })
        for (const less of [
          { ...limits, nodes: limits.nodes - 1 },
          { ...limits, bytes: limits.bytes - 1 },
        ]) {
          const { found, isFull } = numbersWith(less)
          expect([found.includes(0), isFull]).toEqual([true, true])
        }
      }),
      { numRuns: runs(100) },
    )
  })

  test('are the same for blocks and spans, and name the stack of each row', () => {
    fc.assert(
      fc.property(anyTraces, fc.integer({ min: 1, max: 50 }), (traces, batchSize) => {
        const [blocks, spans] = [false, true].map((hasSpans) => {
          const table = new BlockTable({ spans: hasSpans })
          const batches = traces.flatMap(({ header, events }) => inBatches(events, batchSize, { ...header }))
          const found = blockRows(batches, table)
          const stacks = stacksOf(table.numbers)
          for (const { stackId, stack } of found)
            expect(stackId === undefined ? undefined : stacks.get(stackId)).toEqual(stack)
          return stacks
        })
        expect(blocks).toEqual(spans)
      }),
      { numRuns: runs(50) },
    )
  })
})
