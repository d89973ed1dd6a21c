import { describe, expect, test } from 'vitest'
import { changeTree, signedText } from '../../page/flame/change.js'
import { withRules, type FrameRules } from '../../page/flame/change-frames.js'
import { functionFigures, neighboursOf } from '../../page/flame/functions.js'
import { pathTo, topDown, type FlameTree } from '../../page/flame/tree.js'
import { groupings, groupsOf } from '../../page/flame/groups.js'
import { Model } from '../../page/model.js'
import type { By } from '../../page/target.js'
import { sample } from './sample.js'
import { addressOf, parseAddress } from '../../page/address.js'

/** A stack, the outermost frame first, and a figure. */
type Sample = readonly [stack: readonly number[], value: number]

function samples(seed: number, count: number): Sample[] {
  let state = seed
  const random = (n: number) => (state = (state * 48_271) % 2_147_483_647) % n
  return Array.from(
    { length: count },
    () => [Array.from({ length: random(9) }, () => random(6)), 1 + random(50)] as const,
  )
}

function treeOf(all: readonly Sample[]): FlameTree {
  const [parents, frames, own] = [[-1], [-1], [0]]
  const nodes = new Map<string, number>([['', 0]])
  for (const [stack, value] of all) {
    let node = 0
    stack.forEach((frame, depth) => {
      const key = stack.slice(0, depth + 1).join()
      let next = nodes.get(key)
      if (next === undefined) {
        next = parents.push(node) - 1
        frames.push(frame)
        own.push(0)
        nodes.set(key, next)
      }
      node = next
    })
    own[node]! += value
  }
  return topDown(parents, frames, own)
}

/** The figures of each path of a tree, or of stacks, as text. */
function paths(all: readonly Sample[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [stack, value] of all) sums.set(stack.join(), (sums.get(stack.join()) ?? 0) + value)
  return sums
}
const pathsOf = (tree: FlameTree) =>
  paths(
    Array.from(tree.own, (value, node): Sample => [
      pathTo(tree, node)
        .slice(1)
        .map((at) => tree.frames[at]!),
      value,
    ]).filter(([, value]) => value > 0),
  )
const sum = (values: Iterable<number>) => [...values].reduce((all, value) => all + value, 0)

describe('functions', () => {
  test.each([1, 2, 3, 4, 5])('have the figures of the stacks that they are in (%d)', (seed) => {
    const all = samples(seed, 60)
    const tree = treeOf(all)
    const { own, inclusive } = functionFigures(tree, (frame) => frame, 6)
    for (let name = 0; name < 6; name++) {
      const having = all.filter(([stack]) => stack.includes(name))
      expect(inclusive[name]).toBe(sum(having.map(([, value]) => value)))
      expect(own[name]).toBe(sum(all.filter(([stack]) => stack.at(-1) === name).map(([, value]) => value)))
      const { callers, callees } = neighboursOf(tree, (frame) => frame, name)
      const expected = new Map<number, number>()
      for (const [stack, value] of having) {
        const caller = stack[stack.indexOf(name) - 1] ?? -1
        expected.set(caller, (expected.get(caller) ?? 0) + value)
      }
      expect(new Map(callers.map((one) => [one.name, one.value]))).toEqual(expected)
      // What the innermost call of the function calls has the figure, or the function itself.
      const called = new Map<number, number>()
      for (const [stack, value] of having) {
        const callee = stack[stack.lastIndexOf(name) + 1] ?? -1
        called.set(callee, (called.get(callee) ?? 0) + value)
      }
      expect(new Map(callees.map((one) => [one.name, one.value]))).toEqual(called)
    }
  })

  test.each<[FrameRules, (stack: readonly number[]) => readonly number[] | undefined]>([
    [{ hide: /[24]/ }, (stack) => stack.filter((frame) => frame !== 2 && frame !== 4)],
    [{ collapse: /3/ }, (stack) => (stack.includes(3) ? stack.slice(0, stack.indexOf(3) + 1) : stack)],
    [{ focus: /1/ }, (stack) => (stack.includes(1) ? stack.slice(stack.indexOf(1)) : undefined)],
  ])('%j changes the stacks', (rules, change) => {
    for (const seed of [7, 8, 9]) {
      const all = samples(seed, 50)
      const { tree, origin } = withRules(treeOf(all), rules, String)
      const expected = all.flatMap(([stack, value]): Sample[] => {
        const changed = change(stack)
        return changed === undefined ? [] : [[changed, value]]
      })
      expect(pathsOf(tree)).toEqual(paths(expected))
      expect(origin.length).toBe(tree.parents.length)
    }
  })

  test('a tree of changes is as wide as growth and shrinkage together', () => {
    const changed = changeTree(
      [-1, 0, 1, 1, 0],
      [-1, 0, 1, 2, 3],
      [
        [2, 10],
        [3, -4],
        [4, -1],
      ],
    )
    expect(Array.from(changed.totals)).toEqual([15, 14, 10, 4, 1])
    expect([...changed.net]).toEqual([5, 6, 10, -4, -1])
    expect([5, -5, 0].map((change) => signedText(change, String))).toEqual(['▲ +5', '▼ −5', '= 0'])
  })
})

test('functions, files and modules have the rows, with places in short', () => {
  const data = sample()
  const frames = [
    { name: 'main', file: '/home/me/app/src/main.c', line: 3, module: '/home/me/app/bin/app' },
    { name: 'main', file: '/home/me/app/src/main.c', line: 9, module: '/home/me/app/bin/app' },
    { name: 'g_malloc', module: '/usr/lib/libglib.so' },
    { name: '/usr/lib/libz.so+0x12', module: '/usr/lib/libz.so' },
  ]
  const model = new Model({ ...data, frames })
  expect(groupings(model)).toEqual(['function', 'file', 'module'])
  expect(groupings(new Model({ ...data, frames: [{ name: 'f' }] }))).toEqual(['function'])
  const of = (by: By) => {
    const { label, place, of: groupOf } = groupsOf(model, by)
    return frames.map((_, n) => [label(groupOf(n)), place(groupOf(n))])
  }
  expect(of('function')).toEqual([
    ['main', '/home/me/app/src/main.c:3 in app'],
    ['main', '/home/me/app/src/main.c:3 in app'],
    ['g_malloc', 'in libglib.so'],
    ['libz.so+0x12', ''],
  ])
  expect(of('module').map(([label]) => label)).toEqual(['app', 'app', 'libglib.so', 'libz.so'])
  expect(of('file').map(([label]) => label)).toEqual(['main.c', 'main.c', '(no file)', '(no file)'])
})

test('an address restores view, figure, zoom, function and rules', () => {
  const target = {
    node: 7,
    metric: 'peakBytes',
    inverted: true,
    function: 'a<b&c>#1',
    by: 'module',
    focus: '^x( |$)',
    hide: 'm?lloc',
  } as const
  const names = ['overview', 'flame'] as const
  expect(parseAddress(addressOf('flame', target), names)).toEqual({ view: 'flame', target })
  expect(parseAddress('#nothing?node=-1&metric=x', names)).toEqual({ view: 'overview', target: {} })
  expect(parseAddress('', names)).toEqual({ view: 'overview', target: {} })
})
