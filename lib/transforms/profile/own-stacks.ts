import { namedFrameText } from '../../names/named-frame.js'
import type { OwnFrames } from '../../names/own-frames.js'
import type { Profile, Sample, StackTree } from './profile.js'

/**
 * A profile whose stacks end with the innermost frame of the program itself, as in the rows of tables: the wrappers of
 * allocation that it calls are left out. All figures stay; several samples may have the same node then.
 * @param roots the number of outermost frames that are not the program's: 1 if threads are the roots of stacks
 */
export function ownStacks(profile: Profile, own: OwnFrames, roots: 0 | 1 = 0): Profile {
  const nodes = function* () {
    for (const { node } of profile.samples()) yield node
  }
  const { tree, nodeOf } = ownTree(profile, nodes(), own, roots)
  return {
    ...profile,
    tree,
    *samples(): Generator<Sample> {
      for (const sample of profile.samples()) yield { ...sample, node: nodeOf(sample.node) }
    },
  }
}

/** A tree without wrappers of allocation at its ends. */
interface OwnTree {
  readonly tree: StackTree
  /** The node of the new tree that represents a node with samples. */
  readonly nodeOf: (node: number) => number
}

/** The same for a tree alone. @param nodes the nodes with samples, with repetitions */
export function ownTree(
  { tree, frames }: Pick<Profile, 'tree' | 'frames'>,
  nodes: Iterable<number>,
  own: OwnFrames,
  roots: 0 | 1 = 0,
): OwnTree {
  const texts = frames.map(namedFrameText)
  const ends = new Int32Array(tree.parents.length).fill(-1)
  for (const node of nodes) if (ends[node] === -1) ends[node] = endOf(node, tree, texts, own, roots)
  const { kept, numbers } = prune(tree, ends)
  return { tree: kept, nodeOf: (node) => numbers[ends[node]] }
}

/** The node of the innermost frame that is not hidden, of the stack of a node. */
function endOf(node: number, { parents, frames }: StackTree, texts: readonly string[], own: OwnFrames, roots: 0 | 1) {
  const stack = function* () {
    for (let at = node; at > 0 && (roots === 0 || parents[at] > 0); at = parents[at]) yield texts[frames[at]]
  }
  let end = node
  for (let hidden = own.start(stack()); hidden > 0; hidden--) end = parents[end]
  return end
}

/** The part of a tree above some of its nodes, and the new number of each node in it. */
function prune({ parents, frames }: StackTree, ends: Int32Array): { kept: StackTree; numbers: Int32Array } {
  const isKept = new Uint8Array(parents.length)
  isKept[0] = 1
  for (const end of ends) for (let at = end; at > 0 && isKept[at] === 0; at = parents[at]) isKept[at] = 1
  const nodes = Array.from(parents.keys()).filter((node) => isKept[node] === 1)
  const numbers = new Int32Array(parents.length)
  nodes.forEach((node, number) => (numbers[node] = number))
  const parentOf = (node: number) => (node === 0 ? -1 : numbers[parents[node]])
  return {
    kept: {
      parents: Int32Array.from(nodes, parentOf),
      frames: Int32Array.from(nodes, (node) => frames[node]),
    },
    numbers,
  }
}
