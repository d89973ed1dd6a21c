import type { ComparedName, ReportChanges } from '../../lib/transforms/report/compared.js'
import type { Integer } from '../../lib/transforms/report/result.js'
import type { Model } from '../model.js'
import { comparedStacks, FOLDED_NAME, type ComparedStacks } from './compared.js'
import { numbersOf } from './numbers.js'
import { totalsOf } from './tree.js'

/** A function of the stacks that differ: what it and its callees had before and have after. */
export interface ChangedFunction {
  readonly name: string
  readonly before: number
  readonly after: number
  /** Of the blocks that it allocates itself. */
  readonly ownBefore: number
  readonly ownAfter: number
}

/** The functions of the nodes of a tree. */
interface Functions {
  readonly names: readonly string[]
  /** The function of each node. */
  readonly of: Int32Array
  /** Whether a node is below another one of the same function, whose figures include its own. */
  readonly isInner: Uint8Array
}

const known = new WeakMap<ReportChanges, Functions>()

/** The figures of the functions of the stacks that differ, without those that have nothing. */
export function changedFunctions(model: Model, changes: ReportChanges, figure: ComparedName): ChangedFunction[] {
  const stacks = comparedStacks(model, changes)
  let functions = known.get(changes)
  if (functions === undefined) known.set(changes, (functions = functionsOf(model, stacks)))
  const before = figuresOf(stacks, functions, changes.before[figure])
  const after = figuresOf(stacks, functions, changes.after[figure])
  const rows: ChangedFunction[] = []
  functions.names.forEach((name, id) => {
    if (before.inclusive[id] === 0 && after.inclusive[id] === 0) return
    rows.push({
      name,
      before: before.inclusive[id],
      after: after.inclusive[id],
      ownBefore: before.own[id],
      ownAfter: after.own[id],
    })
  })
  return rows
}

/** The nodes come in preorder. The nodes of folded stacks, which have a separate function, follow. */
function functionsOf(model: Model, { parents, frames }: ComparedStacks): Functions {
  const names: string[] = []
  const ids = new Map<string, number>()
  const byFrame = new Map<number, number>()
  const of = new Int32Array(parents.length).fill(-1)
  const isInner = new Uint8Array(parents.length)
  /** The nodes from the root to the current one, and how many of them each function has. */
  const open: number[] = []
  const counts: number[] = []
  for (let node = 1; node < of.length; node++) {
    const frame = frames[node]
    let id = byFrame.get(frame)
    if (id === undefined) {
      const name = frame < 0 ? FOLDED_NAME : model.name(frame)
      id = (frame < 0 ? undefined : ids.get(name)) ?? names.push(name) - 1
      if (frame >= 0) ids.set(name, id)
      byFrame.set(frame, id)
    }
    of[node] = id
    for (let last = open.at(-1); last !== undefined && last !== parents[node]; last = open.at(-1)) {
      counts[of[last]] = (counts[of[last]] ?? 0) - 1
      open.pop()
    }
    const above = counts[id] ?? 0
    if (above > 0) isInner[node] = 1
    counts[id] = above + 1
    open.push(node)
  }
  return { names, of, isInner }
}

function figuresOf({ parents, ends }: ComparedStacks, { names, of, isInner }: Functions, values: readonly Integer[]) {
  const sums = new Float64Array(parents.length)
  numbersOf(values).forEach((value, row) => (sums[ends[row]] = sums[ends[row]] + value))
  const totals = totalsOf(parents, sums)
  const [own, inclusive] = [new Float64Array(names.length), new Float64Array(names.length)]
  for (let node = 1; node < of.length; node++) {
    const id = of[node]
    own[id] = own[id] + sums[node]
    if (isInner[node] === 0) inclusive[id] = inclusive[id] + totals[node]
  }
  return { own, inclusive }
}
