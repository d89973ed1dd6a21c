import { namedFrameText } from '../../lib/names/named-frame.js'
import { OwnFrames } from '../../lib/names/own-frames.js'
import { parentsOf, stackOfNode, type ComparedName, type ReportChanges } from '../../lib/transforms/report/compared.js'
import type { Model } from '../model.js'
import { counted, toNumber } from '../parts/format.js'
import { changeTree, type ChangeTree } from './change.js'

/** The stacks that differ from those of another run, as pictures and tables need them. */
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
  matching(expression: RegExp): number[]
}

/** The frame of nodes for folded stacks, and the name of these together. */
const FOLDED = -2
export const FOLDED_NAME = '(other)'

const known = new WeakMap<ReportChanges, ComparedStacks>()

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
  const texts = new Map<number, string>()
  const textOf = (frame: number) => {
    let text = texts.get(frame)
    if (text === undefined) texts.set(frame, (text = namedFrameText(model.data.frames[frame] ?? { name: '' })))
    return text
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
  // Of deep stacks, only few frames are looked at.
  const stackTexts = function* (row: number) {
    for (let at = node[row]; at > 0; at = tree[at]) yield textOf(nodeFrames[at])
  }
  for (let row = 0; row < node.length; row++) {
    if (folded[row] > 0) continue
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
      const fits = new Map<number, boolean>()
      const isMatch = (frame: number) => {
        let fit = fits.get(frame)
        if (fit === undefined) fits.set(frame, (fit = expression.test(model.text(frame))))
        return fit
      }
      const found = new Uint8Array(tree.length)
      for (let at = 1; at < tree.length; at++) if (found[tree[at]] === 1 || isMatch(frames[at])) found[at] = 1
      return [...node.keys()].filter((row) => found[node[row]] === 1)
    },
  }
}

/** The tree of a figure, whose widths are growth plus shrinkage, also of folded stacks. */
export function comparedTree(stacks: ComparedStacks, changes: ReportChanges, figure: ComparedName): ChangeTree {
  const { parents, frames, ends } = stacks
  const [before, after, grown] = [changes.before[figure], changes.after[figure], changes.grown[figure]]
  const { folded } = changes
  const parts = function* (): Generator<readonly [number, number]> {
    let others = 0
    for (let row = 0; row < ends.length; row++) {
      const change = toNumber(after[row]) - toNumber(before[row])
      if (folded[row] === 0) {
        yield [ends[row], change]
        continue
      }
      const growth = toNumber(grown[others++])
      yield [ends[row], growth]
      yield [ends[row], change - growth]
    }
  }
  return changeTree(parents, frames, parts())
}
