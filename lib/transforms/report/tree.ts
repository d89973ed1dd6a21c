import type { Frame, StackTree } from '../profile/profile.js'
import type { FrameList } from './frame-list.js'
import { integer } from './plain.js'
import { TREE_METRICS, type Integer, type ReportTree, type TreeMetric } from './result.js'
import { VALUE_OF, type Samples } from './samples.js'

const ROOT = 0
const DROPPED = -1
const OTHER: Frame = { name: '(other)' }

/** A tree whose small nodes were folded. */
export interface FoldedTree {
  readonly tree: ReportTree
  /** The node that represents a node of the whole tree: itself, or its nearest caller that was kept. */
  readonly nodeOf: (node: number) => number
  /** The number of folded nodes. */
  readonly folded: number
}

/**
 * Folds the nodes with small figures, so that the tree has at most `limit` nodes.
 * @param frames of the whole tree
 * @param nodes in it, one for each sample
 */
export function foldTree(
  tree: StackTree,
  frames: readonly Frame[],
  samples: Samples,
  nodes: readonly number[],
  list: FrameList,
  limit: number,
): FoldedTree {
  const { parents } = tree
  const order = byShare(parents, samples, nodes, limit)
  const kept = keptNodes(parents, order, limit)
  // A node of the new tree, or `DROPPED`.
  const numbers = new Int32Array(parents.length).fill(DROPPED)
  const folded: ReportTree = { parents: [], frames: [], ...columns() }
  const add = (parent: number, frame: number) => {
    folded.frames.push(frame)
    return folded.parents.push(parent) - 1
  }
  numbers[ROOT] = add(-1, -1)
  for (let node = ROOT + 1; node < parents.length; node++) {
    if (kept[node] === 0) continue
    const frame = frames[tree.frames[node]]
    numbers[node] = add(numbers[parents[node]], list.id(frame))
  }
  const nodeOf = (node: number) => {
    while (numbers[node] === DROPPED) node = parents[node]
    return numbers[node]
  }
  const others = new Map<number, number>()
  const otherOf = (parent: number) => {
    let other = others.get(parent)
    if (other === undefined) others.set(parent, (other = add(parent, list.id(OTHER))))
    return other
  }
  const owners = nodes.map((node) => (numbers[node] === DROPPED ? otherOf(nodeOf(node)) : nodeOf(node)))
  for (const metric of TREE_METRICS) folded[metric] = sums(samples, owners, folded.parents.length, metric)
  const keptCount = kept.reduce((sum, one) => sum + one, 0)
  return { tree: folded, nodeOf, folded: parents.length - keptCount }
}

function columns(): Record<TreeMetric, Integer[]> {
  return Object.fromEntries(TREE_METRICS.map((metric) => [metric, []])) as unknown as Record<TreeMetric, Integer[]>
}

/** The exact figures of all nodes. */
function sums(samples: Samples, owners: readonly number[], nodes: number, metric: TreeMetric): Integer[] {
  const values = new Float64Array(nodes)
  const own = samples.ranked[metric]
  owners.forEach((owner, i) => (values[owner] = values[owner] + own[i]))
  if (values.every(Number.isSafeInteger)) return [...values]
  const exact = Array.from({ length: nodes }, () => 0n)
  owners.forEach((owner, i) => {
    exact[owner] = exact[owner] + BigInt(VALUE_OF[metric](samples.figures(i)))
  })
  return exact.map(integer)
}

/** The nodes with the largest shares of any figure, callers before callees. */
function byShare(parents: Int32Array, samples: Samples, nodes: readonly number[], limit: number): number[] {
  const shares = new Float64Array(parents.length)
  for (const metric of TREE_METRICS) {
    const whole = new Float64Array(parents.length)
    const own = samples.ranked[metric]
    nodes.forEach((node, i) => (whole[node] = whole[node] + own[i]))
    for (let node = parents.length - 1; node > ROOT; node--) {
      const parent = parents[node]
      whole[parent] = whole[parent] + whole[node]
    }
    const total = Math.max(whole[ROOT], Number.MIN_VALUE)
    for (let node = 0; node < shares.length; node++) shares[node] = Math.max(shares[node], whole[node] / total)
  }
  shares[ROOT] = Infinity
  const least = shares.toSorted()[Math.max(0, shares.length - limit)]
  const more: number[] = []
  const equal: number[] = []
  shares.forEach((share, node) => {
    if (share > least) more.push(node)
    else if (share === least && equal.length < limit) equal.push(node)
  })
  more.sort((a, b) => shares[b] - shares[a] || a - b)
  return [...more, ...equal].slice(0, limit)
}

/** Flags of the first nodes of an order: as many as fit, including one for all nodes folded into a node. */
function keptNodes(parents: Int32Array, order: readonly number[], limit: number): Uint8Array {
  const keep = (n: number) => {
    const kept = new Uint8Array(parents.length)
    for (let i = 0; i < n; i++) kept[order[i]] = 1
    return kept
  }
  const fits = (n: number) => {
    const kept = keep(n)
    const hasOther = new Uint8Array(parents.length)
    let nodes = n
    for (let node = ROOT + 1; node < parents.length; node++) {
      const parent = parents[node]
      if (kept[node] === 1 || kept[parent] === 0 || hasOther[parent] === 1) continue
      hasOther[parent] = 1
      nodes++
    }
    return nodes <= limit
  }
  if (parents.length <= limit) return keep(order.length)
  let [low, high] = [1, order.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return keep(low)
}
