import { OwnFrames } from '../../lib/names/own-frames.js'
import { parentsOf, stackOfNode, type ComparedName, type ReportChanges } from '../../lib/transforms/report/compared.js'
import type { Model } from '../model.js'
import { counted } from '../parts/format.js'
import { treeOfChanges, type ChangeTree } from './change.js'
import { numbersOf } from './numbers.js'

/** The stacks that differ from another run, in the form that pictures and tables need. */
export interface ComparedStacks {
  /** The tree: its nodes, and after them one for the folded stacks of each row that has some. */
  readonly parents: Int32Array
  readonly frames: Int32Array
  /** The node of each row without wrappers of allocation at its inner end. */
  readonly ends: Int32Array
  /** The name of a node. */
  name(node: number): string
  /** The same in short, as pictures have it. */
  label(node: number): string
  /** The frames of a row, the innermost first; of folded stacks, those that all of them have. */
  stack(row: number): number[]
  /** The rows of stacks some frame of which matches. */
  matching(expression: RegExp): Uint32Array
}

/** The frame of nodes for folded stacks, and the name of these together. */
const FOLDED = -2
export const FOLDED_NAME = '(other)'

/** An allocator and its caller: the innermost frame is the program's own if it is, whoever calls it. */
const WRAPPED = ['malloc', 'main']
/** Whether a frame matches. */
const FITS = 1
const FAILS = 2

const known = new WeakMap<ReportChanges, ComparedStacks>()
const trees = new WeakMap<ReportChanges, Map<ComparedName, ChangeTree>>()

/** What the rows of a comparison are. Made once. */
export function comparedStacks(model: Model, changes: ReportChanges): ComparedStacks {
  let stacks = known.get(changes)
  if (stacks === undefined) known.set(changes, (stacks = make(model, changes)))
  return stacks
}

function make(model: Model, changes: ReportChanges): ComparedStacks {
  const { node, folded, nodeFrames } = changes
  const own = new OwnFrames()
  const tree = parentsOf(changes)
  /** The known data of frames at the inner ends of stacks, so that most stacks need not be examined. */
  const kinds = new Uint8Array(model.data.frames.length)
  const isOwn = (frame: number) => {
    if (kinds[frame] === 0) kinds[frame] = own.start([model.stackText(frame), ...WRAPPED]) === 0 ? FITS : FAILS
    return kinds[frame] === FITS
  }
  const others = folded.flatMap((stacks, row) => (stacks > 0 ? [row] : []))
  const parents = new Int32Array(tree.length + others.length)
  const frames = new Int32Array(parents.length).fill(FOLDED)
  parents.set(tree)
  frames.set(nodeFrames)
  const ends = Int32Array.from(node)
  others.forEach((row, n) => {
    parents[tree.length + n] = node[row]
    ends[row] = tree.length + n
  })
  const stack = (row: number) => stackOfNode(tree, changes, node[row])
  // Only a few frames of deep stacks are examined.
  const stackTexts = function* (row: number) {
    for (let at = node[row]; at > 0; at = tree[at]) yield model.stackText(nodeFrames[at])
  }
  for (let row = 0; row < node.length; row++) {
    if (folded[row] > 0 || isOwn(nodeFrames[node[row]])) continue
    let hidden = own.start(stackTexts(row))
    for (; hidden > 0; hidden--) ends[row] = tree[ends[row]]
  }
  const nameOf = (at: number, name: (frame: number) => string) => {
    const row = others[at - tree.length]
    return row === undefined ? name(frames[at] ?? -1) : `${FOLDED_NAME} ${counted(folded[row], 'stack')}`
  }
  return {
    parents,
    frames,
    ends,
    name: (at) => nameOf(at, (frame) => model.name(frame)),
    label: (at) => nameOf(at, (frame) => model.label(frame)),
    stack,
    matching(expression) {
      const fits = new Uint8Array(model.data.frames.length)
      const isMatch = (frame: number) => {
        if (fits[frame] === 0) fits[frame] = expression.test(model.text(frame)) ? FITS : FAILS
        return fits[frame] === FITS
      }
      const found = new Uint8Array(tree.length)
      for (let at = 1; at < tree.length; at++) if (found[tree[at]] === 1 || isMatch(frames[at])) found[at] = 1
      const rows = new Uint32Array(node.length)
      let count = 0
      for (let row = 0; row < node.length; row++) if (found[node[row]] === 1) rows[count++] = row
      return rows.subarray(0, count)
    },
  }
}

/** The tree of a figure, whose widths are growth plus shrinkage, also of folded stacks. Made once. */
export function comparedTree(stacks: ComparedStacks, changes: ReportChanges, figure: ComparedName): ChangeTree {
  const all = trees.get(changes) ?? new Map<ComparedName, ChangeTree>()
  trees.set(changes, all)
  let tree = all.get(figure)
  if (tree === undefined) all.set(figure, (tree = makeTree(stacks, changes, figure)))
  return tree
}

function makeTree(stacks: ComparedStacks, changes: ReportChanges, figure: ComparedName): ChangeTree {
  const { parents, frames, ends } = stacks
  const [before, after, grown] = [changes.before[figure], changes.after[figure], changes.grown[figure]].map(
    numbersOf,
  ) as [Float64Array, Float64Array, Float64Array]
  const { folded } = changes
  const own = new Float64Array(parents.length)
  const net = new Float64Array(parents.length)
  let others = 0
  for (let row = 0; row < ends.length; row++) {
    const change = after[row] - before[row]
    const growth = folded[row] === 0 ? Math.max(0, change) : grown[others++]
    const end = ends[row]
    own[end] = own[end] + growth + Math.abs(change - growth)
    net[end] = net[end] + change
  }
  return treeOfChanges(parents, frames, own, net)
}
