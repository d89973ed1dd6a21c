import fc from 'fast-check'
import { expect, test } from 'vitest'
import { byOwnFrame, CallerTree } from '../../../lib/cli/report/caller-tree.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import type { Amount } from '../../../lib/transforms/statistics/result.js'
import { runs } from '../../support/runs.js'

interface Item {
  readonly stack: readonly string[] | undefined
  readonly amount: Amount
}

const own = new OwnFrames()
const options = {
  own,
  full: false,
  stackOf: ({ stack }: Item) => stack,
  amountOf: ({ amount }: Item) => amount,
  show: ({ bytes, blocks }: Amount) => `${bytes}/${blocks}`,
}
const item = (bytes: number, ...stack: string[]): Item => ({ stack, amount: { blocks: 1, bytes: BigInt(bytes) } })

/** All rows and their lines. */
function shown(items: readonly Item[], width = 60): string[] {
  const tree = new CallerTree(items, options)
  return byOwnFrame(items, options.stackOf, own).flatMap((group) => [group.frame ?? '-', ...tree.lines(group, width)])
}

test('callers that all stacks share are in one line, and those that differ below it', () => {
  const items = [
    item(10, 'malloc', 'make', 'load', 'run', 'main'),
    item(30, 'operator new(unsigned long)', 'make', 'load', 'test', 'main'),
    item(5, 'make', 'other'),
    item(1, 'make'),
    item(2, 'free'),
    { stack: undefined, amount: { blocks: 1, bytes: 9n } },
  ]
  expect(shown(items)).toEqual([
    'make',
    '40/2: load',
    '  30/1: test < main',
    '  10/1: run < main',
    '5/1: other',
    'free',
    '-',
  ])
})

test('lines fit, and rows have a limited number of them', () => {
  const deep = Array.from({ length: 50 }, (_, i) => `function_${i}`)
  const [row, line] = shown([item(1, ...deep)])
  expect([row, line]).toEqual(['function_0', '1/1: function_1 < function_2 < function_3 < function_4 < ...'])
  const wide = Array.from({ length: 3000 }, (_, i) => item(i, 'f', `a${i % 9}`, `b${i % 99}`, `c${i % 999}`, `d${i}`))
  const lines = shown(wide)
  expect(lines.length).toBeLessThanOrEqual(18)
  expect(lines.at(-1)).toBe('...')
  const flat = shown(Array.from({ length: 9 }, (_, i) => item(i + 1, 'f', `caller${i}`)))
  expect(flat.slice(-1)).toEqual(['15/5: 5 more callers'])
})

test('the lines of a level add up to their row, without the stacks that end there', () => {
  const frame = fc.constantFrom('malloc', 'a', 'b', 'c')
  const items = fc.array(
    fc
      .tuple(fc.nat(100), fc.array(frame, { minLength: 1, maxLength: 5 }))
      .map(([bytes, stack]) => item(bytes, ...stack)),
    { minLength: 1, maxLength: 20 },
  )
  fc.assert(
    fc.property(items, (all) => {
      const tree = new CallerTree(all, options)
      for (const group of byOwnFrame(all, options.stackOf, own)) {
        const top = tree.lines(group, 1000).filter((line) => !line.startsWith(' ') && line !== '...')
        const sum = top.reduce((total, line) => total + Number(line.split('/')[0]), 0)
        const longer = group.items.filter(({ stack = [] }) => stack.length > own.start(stack) + 1)
        expect(sum).toBe(longer.reduce((total, { amount }) => total + Number(amount.bytes), 0))
      }
    }),
    { numRuns: runs(200) },
  )
})
