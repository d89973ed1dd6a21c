import type { FlameTree } from './tree.js'

/** A figure of every function: for its own blocks, and including its callees' blocks. */
export interface FunctionFigures {
  readonly own: Float64Array
  /** A function that calls itself counts once. */
  readonly inclusive: Float64Array
}

/** A caller or a callee, and its part of the figure. */
export interface Neighbour {
  readonly name: number
  readonly value: number
}

/** The callers and the callees of one function. */
export interface Neighbours {
  readonly callers: readonly Neighbour[]
  readonly callees: readonly Neighbour[]
}

/** @param nameOf the number of the function of a frame. @param count the number of functions */
export function functionFigures(tree: FlameTree, nameOf: (frame: number) => number, count: number): FunctionFigures {
  const own = new Float64Array(count)
  const inclusive = new Float64Array(count)
  const { parents, frames, own: ownOf, totals } = tree
  const names = Int32Array.from(frames, (frame, node) => (node === 0 ? -1 : nameOf(frame)))
  for (let node = 1; node < names.length; node++) {
    const name = names[node]
    own[name] = own[name] + ownOf[node]
    if (!hasAbove(names, parents, node, name)) inclusive[name] = inclusive[name] + totals[node]
  }
  return { own, inclusive }
}

/** Whether a function is among the callers of a node. */
function hasAbove(names: Int32Array, parents: ArrayLike<number>, node: number, name: number): boolean {
  for (let at = parents[node]; at > 0; at = parents[at]) if (names[at] === name) return true
  return false
}

/**
 * Who calls a function, and what it calls, each with its part of the inclusive figure, so that both add up to it, with
 * what the function allocates itself as -1 among the callees, and what no function calls as -1 among the callers.
 */
export function neighboursOf(tree: FlameTree, nameOf: (frame: number) => number, name: number): Neighbours {
  const callers = new Map<number, number>()
  const callees = new Map<number, number>()
  const { parents, frames, own, totals } = tree
  const names = Int32Array.from(frames, (frame, node) => (node === 0 ? -1 : nameOf(frame)))
  const add = (to: Map<number, number>, key: number, value: number) => {
    if (value > 0) to.set(key, (to.get(key) ?? 0) + value)
  }
  for (let node = 1; node < names.length; node++) {
    if (names[node] !== name) continue
    if (!hasAbove(names, parents, node, name)) add(callers, names[parents[node]], totals[node])
    add(callees, -1, own[node])
    for (const child of tree.children(node))
      if (names[child] !== name) add(callees, names[child], totals[child] - within(tree, names, child, name))
  }
  const list = (from: Map<number, number>) =>
    [...from].map(([key, value]) => ({ name: key, value })).toSorted((a, b) => b.value - a.value || a.name - b.name)
  return { callers: list(callers), callees: list(callees) }
}

/** The figures of the outermost nodes of a function below a node: they are counted at those nodes. */
function within(tree: FlameTree, names: Int32Array, node: number, name: number): number {
  let sum = 0
  const below = [...tree.children(node)]
  for (let at = below.pop(); at !== undefined; at = below.pop()) {
    if (names[at] === name) sum += tree.totals[at]
    else below.push(...tree.children(at))
  }
  return sum
}
