import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ComparedFigures, ComparedStack } from '../../../lib/transforms/profile/difference.js'
import { changesOf, VALUE_OF } from '../../../lib/transforms/report/changes.js'
import { COMPARED, parentsOf, stackOfNode, type ComparedName } from '../../../lib/transforms/report/compared.js'
import { FrameList } from '../../../lib/transforms/report/frame-list.js'
import { changedFunctions } from '../../../page/flame/changed-functions.js'
import { comparedTree, comparedStacks, FOLDED_NAME } from '../../../page/flame/compared.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import type { Model } from '../../../page/model.js'

const amount = fc.record({ blocks: fc.nat(9), bytes: fc.bigInt(0n, 9n) })
const figures: fc.Arbitrary<ComparedFigures> = fc.record({
  allocated: amount,
  atPeak: amount,
  leaked: amount,
  temporary: amount,
})
/** Stacks that have many beginnings in common; no two are the same. */
const anyStacks = fc
  .uniqueArray(fc.array(fc.constantFrom('a', 'b', 'c', 'malloc'), { minLength: 1, maxLength: 6 }), {
    selector: (frames) => frames.join(' '),
    maxLength: 40,
  })
  .chain((all) =>
    fc.tuple(
      ...all.map((frames) =>
        fc.record({ old: figures, new: figures }).map((both): ComparedStack => ({ ...both, stack: () => [...frames] })),
      ),
    ),
  )

const valueOf = (name: ComparedName, of: ComparedFigures) => Number(VALUE_OF[name](of))
const sum = (values: Iterable<number>) => [...values].reduce((all, value) => all + value, 0)

/** The rows as text: the stack from the outermost frame on, and the figures. */
function rowsOf(stacks: readonly ComparedStack[], limit: number) {
  const list = new FrameList(100)
  const changes = changesOf(stacks, list, limit)
  const parents = parentsOf(changes)
  const rows = changes.node.map((node, row) => ({
    path: stackOfNode(parents, changes, node).map((id) => list.all[id]!.name),
    folded: changes.folded[row]!,
    before: COMPARED.map((name) => Number(changes.before[name][row])),
    after: COMPARED.map((name) => Number(changes.after[name][row])),
  }))
  return { changes, rows, frames: list.all }
}

describe('the stacks that differ', () => {
  test('are all rows where there is room', () => {
    fc.assert(
      fc.property(anyStacks, (stacks) => {
        const { rows } = rowsOf(stacks, 10_000)
        const key = (path: readonly string[]) => path.join(' ')
        expect(rows.toSorted((a, b) => (key(a.path) < key(b.path) ? -1 : 1))).toEqual(
          stacks
            .map((one) => ({
              path: one.stack(),
              folded: 0,
              before: COMPARED.map((name) => valueOf(name, one.old)),
              after: COMPARED.map((name) => valueOf(name, one.new)),
            }))
            .toSorted((a, b) => (key(a.path) < key(b.path) ? -1 : 1)),
        )
      }),
    )
  })

  test('are rows of their own or folded below their callers, and no figure is lost', () => {
    fc.assert(
      fc.property(anyStacks, fc.integer({ min: 1, max: 30 }), (stacks, limit) => {
        const { changes, rows } = rowsOf(stacks, limit)
        expect(changes.depths.length).toBeLessThanOrEqual(limit)
        const left = new Set(stacks)
        const singles = new Set<string>()
        for (const { path, folded } of rows) if (folded === 0) singles.add(path.join(' '))
        const nodes = new Set(['', ...nodePaths(rows.map(({ path }) => path))])
        let others = 0
        rows.forEach(({ path, folded, before, after }) => {
          const members = [...left].filter((one) => {
            const stack = one.stack()
            if (folded === 0) return stack.join(' ') === path.join(' ')
            return !singles.has(stack.join(' ')) && nearest(stack, nodes) === path.join(' ')
          })
          expect(members.length).toBe(Math.max(1, folded))
          for (const member of members) left.delete(member)
          COMPARED.forEach((name, n) => {
            expect(before[n]).toBe(sum(members.map((one) => valueOf(name, one.old))))
            expect(after[n]).toBe(sum(members.map((one) => valueOf(name, one.new))))
            if (folded > 0) expect(Number(changes.grown[name][others])).toBe(growth(members, name))
          })
          if (folded > 0) others++
        })
        expect(left.size).toBe(0)
      }),
    )
  })

  test('make a flame graph with all growth and all shrinkage, whatever is folded', () => {
    fc.assert(
      fc.property(anyStacks, fc.integer({ min: 1, max: 30 }), (stacks, limit) => {
        const { changes, frames } = rowsOf(stacks, limit)
        const name = (frame: number) => frames[frame]?.name ?? ''
        const model = { data: { frames }, name, label: name, text: name, stackText: name } as unknown as Model
        const compared = comparedStacks(model, changes)
        for (const figure of COMPARED) {
          const tree = comparedTree(compared, changes, figure)
          const change = stacks.map((one) => valueOf(figure, one.new) - valueOf(figure, one.old))
          expect(tree.totals[0]).toBe(sum(change.map(Math.abs)))
          expect(tree.net[0]).toBe(sum(change))
        }
        for (const text of ['a', 'malloc']) {
          const found = compared.matching(new RegExp(`^${text}$`))
          expect(Array.from(found)).toEqual(
            [...changes.node.keys()].filter((row) => compared.stack(row).some((frame) => name(frame) === text)),
          )
        }
      }),
    )
  })

  test('are added up by function, of which each counts once for a stack', () => {
    fc.assert(
      fc.property(anyStacks, fc.integer({ min: 1, max: 30 }), (stacks, limit) => {
        const { changes, frames, rows } = rowsOf(stacks, limit)
        const name = (frame: number) => frames[frame]?.name ?? ''
        const model = { data: { frames }, name, label: name, text: name, stackText: name } as unknown as Model
        const own = new OwnFrames()
        COMPARED.forEach((figure, n) => {
          const expected = new Map<string, number[]>()
          for (const { path, folded, before, after } of rows) {
            const shown = folded > 0 ? [FOLDED_NAME, ...path] : path.slice(own.start(path))
            for (const one of new Set(shown)) {
              const [oldSum = 0, newSum = 0, oldOwn = 0, newOwn = 0] = expected.get(one) ?? []
              const [before0, after0] = [Number(before[n]), Number(after[n])]
              const isOwn = Number(one === shown[0])
              expected.set(one, [oldSum + before0, newSum + after0, oldOwn + isOwn * before0, newOwn + isOwn * after0])
            }
          }
          const found = changedFunctions(model, changes, figure).map((one) => {
            return [one.name, [one.before, one.after, one.ownBefore, one.ownAfter]] as const
          })
          expect(new Map(found)).toEqual(new Map([...expected].filter(([, [oldSum, newSum]]) => oldSum || newSum)))
        })
      }),
    )
  })
})

/** What some stacks that grew grew by. */
function growth(stacks: readonly ComparedStack[], name: ComparedName): number {
  return sum(stacks.map((one) => Math.max(0, valueOf(name, one.new) - valueOf(name, one.old))))
}

/** The nodes of the tree that these stacks make, each as its stack. */
function nodePaths(paths: readonly (readonly string[])[]): string[] {
  return paths.flatMap((path) => path.map((_, from) => path.slice(from).join(' ')))
}

/** The longest of the outer parts of a stack that is a node. */
function nearest(stack: readonly string[], nodes: ReadonlySet<string>): string {
  const outer = stack.map((_, from) => stack.slice(from).join(' '))
  return [...outer, ''].find((path) => nodes.has(path)) as string
}
