import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fittingBoth, fittingPlace } from '../../page/flame/fitting.js'
import { neighbour } from '../../page/flame/keys.js'
import { bottomUp, boxAt, layOut, matched, pathTo, topDown } from '../../page/flame/tree.js'
import { runs } from '../support/runs.js'

/** main (0) calls parse (1) and load (2); both call grow (3). */
const PARENTS = [-1, 0, 1, 1, 2, 3]
const FRAMES = [-1, 0, 1, 2, 3, 3]
const TREE = topDown(PARENTS, FRAMES, [0, 0, 10, 0, 20, 70])

/** A tree of random shape and figures. */
const anyTree = fc
  .array(fc.tuple(fc.nat(1000), fc.nat(4), fc.nat(1000)), { minLength: 1, maxLength: 60 })
  .map((nodes) =>
    topDown(
      [-1, ...nodes.map(([parent], n) => parent % (n + 1))],
      [-1, ...nodes.map(([, frame]) => frame)],
      [0, ...nodes.map(([, , own]) => own)],
    ),
  )

describe('the tree of a flame graph', () => {
  test('sums up what is below each node, and orders callees by size', () => {
    expect(Array.from(TREE.totals)).toEqual([100, 100, 30, 70, 20, 70])
    expect(Array.from(TREE.totals, (_, node) => TREE.children(node))).toEqual([[1], [3, 2], [4], [5], [], []])
    expect(pathTo(TREE, 5)).toEqual([0, 1, 3, 5])
  })

  test('inverted, has the functions that allocate at the top', () => {
    const tree = bottomUp(TREE)
    const top = tree.children(0).map((node) => [tree.frames[node], tree.totals[node]])
    expect(top).toEqual([
      [3, 90],
      [1, 10],
    ])
    const grow = tree.children(0)[0]!
    expect(tree.children(grow).map((node) => [tree.frames[node], tree.totals[node]])).toEqual([
      [2, 70],
      [1, 20],
    ])
  })

  test('inverted, a tree has the same total, and for each frame what allocates in it', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const inverted = bottomUp(tree)
        const own = (frame: number) =>
          Array.from(tree.own).reduce((sum, value, node) => sum + (tree.frames[node] === frame ? value : 0), 0)
        expect(inverted.totals[0]).toBe(tree.totals[0])
        for (const node of inverted.children(0)) expect(inverted.totals[node]).toBe(own(inverted.frames[node]))
      }),
      { numRuns: runs(100) },
    )
  })
})

test('a box has the place of its function where both fit, and else as much of the name as fits', () => {
  const ruler = { measureText: (text: string) => ({ width: 6 * text.length }) }
  expect(fittingPlace(ruler, 'parse', 'parse.c:12', 6 * 16)).toBe('parse parse.c:12')
  expect(fittingPlace(ruler, 'parse', 'parse.c:12', 6 * 16 - 1)).toBe('parse')
  expect(fittingPlace(ruler, 'parse', 'parse.c:12', 6 * 4)).toBe('p…se')
  expect(fittingPlace(ruler, 'parse', undefined, 6 * 40)).toBe('parse')
})

test('callees with less than asked for are left out, and a picture has the same boxes without them', () => {
  fc.assert(
    fc.property(anyTree, fc.nat(1000), fc.double({ min: 0, max: 0.3, noNaN: true }), (tree, least, narrow) => {
      const { parents, frames, own } = tree
      const other = topDown(parents, frames, own)
      for (let node = 0; node < parents.length; node++) {
        const some = tree.children(node, least)
        expect(some).toEqual(other.children(node).filter((child) => other.totals[child]! >= least))
        expect(tree.children(node)).toEqual(other.children(node))
      }
      // All callees of the other tree are known by now.
      expect(layOut(topDown(parents, frames, own), 0, narrow)).toEqual(layOut(other, 0, narrow))
    }),
    { numRuns: runs(100) },
  )
})

describe('the picture', () => {
  test('is as wide as the node that is zoomed to, whose callers are above it', () => {
    const rows = layOut(TREE, 3, 0)
    expect(rows.map((row) => row.map(({ node }) => node))).toEqual([[0], [1], [3], [5]])
    expect(rows[3]![0]).toMatchObject({ from: 0, to: 1 })
  })

  test('has callees within their caller, from left to right, without what is too narrow', () => {
    fc.assert(
      fc.property(anyTree, fc.double({ min: 0, max: 0.2, noNaN: true }), (tree, least) => {
        if (tree.totals[0] === 0) return
        const rows = layOut(tree, 0, least)
        const boxes = new Map(rows.flat().map((box) => [box.node, box]))
        for (const row of rows) {
          row.reduce((left, { from, to, node }) => {
            expect(from).toBeGreaterThanOrEqual(left - 1e-9)
            expect(to - from).toBeGreaterThanOrEqual(least - 1e-9)
            expect(to - from).toBeCloseTo(tree.totals[node] / tree.totals[0], 9)
            const parent = boxes.get(tree.parents[node])
            if (parent !== undefined) expect(to).toBeLessThanOrEqual(parent.to + 1e-9)
            return to
          }, 0)
        }
      }),
      { numRuns: runs(100) },
    )
  })

  test('finds the box at a place', () => {
    const rows = layOut(TREE, 0, 0)
    expect(boxAt(rows, 2, 0.1)?.node).toBe(3)
    expect(boxAt(rows, 2, 0.9)?.node).toBe(2)
    expect(boxAt(rows, 3, 0.85)?.node).toBe(4)
    expect(boxAt(rows, 3, 0.95)).toBeUndefined()
    expect(boxAt(rows, 9, 0.5)).toBeUndefined()
  })

  test('is walked with the arrow keys', () => {
    const rows = layOut(TREE, 0, 0)
    expect(neighbour(TREE, rows, 1, 'ArrowDown')).toBe(3)
    expect(neighbour(TREE, rows, 3, 'ArrowRight')).toBe(2)
    expect(neighbour(TREE, rows, 2, 'ArrowLeft')).toBe(3)
    expect(neighbour(TREE, rows, 3, 'ArrowUp')).toBe(1)
    expect(neighbour(TREE, rows, 0, 'ArrowUp')).toBe(0)
    expect(neighbour(TREE, rows, 5, 'ArrowDown')).toBe(5)
    expect(neighbour(TREE, rows, 3, 'ArrowLeft')).toBe(3)
  })
})

test('what matches is counted once, where a match is within another', () => {
  expect(matched(TREE, (frame) => frame === 3)).toBe(90)
  expect(matched(TREE, (frame) => frame === 2 || frame === 3)).toBe(90)
  expect(matched(TREE, () => false)).toBe(0)
})

test('a box has its whole amount or the mark of it, and as much of the name as fits', () => {
  const context = { measureText: (text: string) => ({ width: 6 * text.length }) }
  const [amount, name] = ['▼ −1.5 KiB', 'std::vector<int>::push_back']
  expect(fittingBoth(context, amount, name, 500)).toBe(`${amount} ${name}`)
  expect(fittingBoth(context, amount, 'main', 6 * 15)).toBe(`${amount} main`)
  for (let width = 0; width < 300; width++) {
    const text = fittingBoth(context, amount, name, width)
    expect(6 * text.length).toBeLessThanOrEqual(width)
    if (text !== '') expect([`${amount} `, '▼ ', '▼'].some((begin) => text.startsWith(begin))).toBe(true)
    if (!text.startsWith(amount)) expect(text).not.toMatch(/^.{0,10}\d/)
  }
})
