/** A tree of frames with one figure, to draw. Node 0 is the root; parents have lower numbers. */
export interface FlameTree {
  readonly parents: ArrayLike<number>
  /** The frame of each node; -1 for the root. */
  readonly frames: ArrayLike<number>
  /** The figure of the node itself. */
  readonly own: ArrayLike<number>
  /** The figure of the node and all nodes below it. */
  readonly totals: ArrayLike<number>
  /** The callees of a node, the largest first, without zeros. @param least those with less may be left out */
  children(node: number, least?: number): readonly number[]
}

/** The maximum number of nodes of a tree, including inverted nodes. */
const MAX_NODES = 30_000
/** The maximum number of callers that are followed in an inverted tree. */
const MAX_DEPTH = 200
/** A caller with a smaller part of all is left out of an inverted tree: less than a pixel of a large screen. */
const MIN_SHARE = 1 / 20_000

/** The tree in normal order: callers above the functions that they call. */
export function topDown(parents: ArrayLike<number>, frames: ArrayLike<number>, own: ArrayLike<number>): FlameTree {
  const totals = totalsOf(parents, own)
  return { parents, frames, own, totals, children: childrenOf(parents, totals) }
}

/** The figures of all nodes with those below them. */
export function totalsOf(parents: ArrayLike<number>, own: ArrayLike<number>): Float64Array {
  const totals = Float64Array.from(own)
  for (let node = totals.length - 1; node > 0; node--) totals[parents[node]] = totals[parents[node]] + totals[node]
  return totals
}

/** The tree inverted: the functions that allocate at the top, and their callers below them. */
export function bottomUp(tree: FlameTree): FlameTree {
  const { parents, frames, own } = tree
  const inverted: { parents: number[]; frames: number[]; totals: number[] } = {
    parents: [-1],
    frames: [-1],
    totals: [tree.totals[0] ?? 0],
  }
  const least = (tree.totals[0] ?? 0) * MIN_SHARE
  let level: { node: number; members: { at: number; value: number }[] }[] = [{ node: 0, members: [] }]
  for (let node = 1; node < own.length; node++)
    if (own[node] > 0) level[0]?.members.push({ at: node, value: own[node] })
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const next: typeof level = []
    for (const { node, members } of level) {
      const groups = new Map<number, typeof members>()
      for (const member of members) {
        const group = groups.get(frames[member.at])
        if (group === undefined) groups.set(frames[member.at], [member])
        else group.push(member)
      }
      for (const [frame, group] of groups) {
        const total = group.reduce((sum, { value }) => sum + value, 0)
        if (total < least || inverted.parents.length >= MAX_NODES) continue
        inverted.parents.push(node)
        inverted.frames.push(frame)
        inverted.totals.push(total)
        const outer = group.flatMap(({ at, value }) => {
          const parent = parents[at]
          return parent > 0 ? [{ at: parent, value }] : []
        })
        if (outer.length > 0) next.push({ node: inverted.parents.length - 1, members: outer })
      }
    }
    level = next
  }
  const left = Float64Array.from(inverted.totals)
  for (let node = left.length - 1; node > 0; node--) {
    const parent = inverted.parents[node]
    left[parent] = left[parent] - inverted.totals[node]
  }
  return { ...inverted, own: left, children: childrenOf(inverted.parents, inverted.totals) }
}

/** Finds the callees of nodes. Of large trees few are ever drawn, so they are only sorted when they are asked for. */
function childrenOf(parents: ArrayLike<number>, totals: ArrayLike<number>): FlameTree['children'] {
  const first = new Int32Array(totals.length)
  const next = new Int32Array(totals.length)
  for (let node = totals.length - 1; node > 0; node--) {
    if (!(totals[node] > 0)) continue
    const parent = parents[node]
    next[node] = first[parent]
    first[parent] = node
  }
  const known = new Map<number, number[]>()
  return (node, least = 0) => {
    let some = known.get(node)
    if (some !== undefined) return some
    some = []
    let count = 0
    for (let child = first[node] ?? 0; child > 0; child = next[child]) {
      count++
      if (totals[child] >= least) some.push(child)
    }
    some = some.toSorted((a, b) => totals[b] - totals[a] || a - b)
    if (some.length === count) known.set(node, some)
    return some
  }
}

/** A node in a picture. */
export interface Box {
  readonly node: number
  /** The depth below the root. */
  readonly row: number
  /** From 0 to 1, as parts of the width. */
  readonly from: number
  readonly to: number
}

/**
 * The positions of the nodes when one of them takes the whole width: its callers above it, and its callees below it.
 * Rows are ordered from left to right.
 * @param least the smallest part of the width that is drawn
 */
export function layOut(tree: FlameTree, focus: number, least: number): Box[][] {
  const rows: Box[][] = []
  const put = (box: Box) => (rows[box.row] ??= []).push(box)
  const path = pathTo(tree, focus)
  path.forEach((node, row) => put({ node, row, from: 0, to: 1 }))
  let level: Box[] = [{ node: focus, row: path.length - 1, from: 0, to: 1 }]
  while (level.length > 0) {
    const next: Box[] = []
    for (const { node, row, from, to } of level) {
      const scale = (to - from) / tree.totals[node]
      let left = from
      for (const child of tree.children(node, (0.99 * least) / scale)) {
        const right = left + tree.totals[child] * scale
        if (right - left < least) break
        const box = { node: child, row: row + 1, from: left, to: right }
        put(box)
        next.push(box)
        left = right
      }
    }
    level = next
  }
  return rows
}

/** The nodes from the root to a node, inclusive. */
export function pathTo(tree: Pick<FlameTree, 'parents'>, node: number): number[] {
  const path: number[] = []
  for (let at = node; at >= 0; at = tree.parents[at] ?? -1) path.push(at)
  return path.toReversed()
}

/** The node at a place of a picture, if any. @param x from 0 to 1 */
export function boxAt(rows: readonly (readonly Box[])[], row: number, x: number): Box | undefined {
  const boxes = rows[row] ?? []
  let low = 0
  let high = boxes.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const box = boxes[middle]
    if (x < box.from) high = middle - 1
    else if (x >= box.to) low = middle + 1
    else return box
  }
  return undefined
}

/** The sum of the figures of matching nodes, in which a match within another one counts only once. */
export function matched(tree: FlameTree, matches: (frame: number) => boolean): number {
  let sum = 0
  const below: number[] = [0]
  for (let node = below.pop(); node !== undefined; node = below.pop()) {
    if (node > 0 && matches(tree.frames[node])) sum += tree.totals[node]
    else below.push(...tree.children(node))
  }
  return sum
}
