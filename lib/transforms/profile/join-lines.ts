import type { Frame, Profile, Sample, StackTree } from './profile.js'

/**
 * A profile in which the lines of one function of one file are one frame, so that a flame graph has a box for each
 * function. All figures stay; several samples may have the same node then.
 */
export function joinLines(profile: Profile): Profile {
  const { frames, numbers } = joinedFrames(profile.frames)
  const { tree, nodes } = joinedTree(profile.tree, numbers, frames.length)
  return {
    ...profile,
    frames,
    tree,
    *samples(): Generator<Sample> {
      for (const sample of profile.samples()) yield { ...sample, node: nodes[sample.node] }
    },
  }
}

/** Frames without the lines of functions, each once, and the new number of each frame. */
function joinedFrames(all: readonly Frame[]): { frames: Frame[]; numbers: Int32Array } {
  const frames: Frame[] = []
  const known = new Map<string, number>()
  const numbers = Int32Array.from(all, (frame) => {
    const { name, file, line } = frame
    // A frame without a known function is identified by its place.
    const isFunction = file !== undefined && line !== undefined && !name.startsWith(file)
    const key = isFunction || line === undefined ? `${name}\0${file ?? ''}` : `${name}\0${file ?? ''}\0${line}`
    let number = known.get(key)
    if (number === undefined) {
      number = frames.push(isFunction ? { name, file } : frame) - 1
      known.set(key, number)
    }
    return number
  })
  return { frames, numbers }
}

/** The tree with new numbers of frames, which differ among the children of a node; and the new nodes. */
function joinedTree(tree: StackTree, numbers: Int32Array, count: number): { tree: StackTree; nodes: Int32Array } {
  const nodes = new Int32Array(tree.parents.length)
  const parents: number[] = [-1]
  const frames: number[] = [-1]
  const known = new Map<number, number>()
  for (let node = 1; node < nodes.length; node++) {
    // Parents have lower numbers.
    const parent = nodes[tree.parents[node]]
    const frame = numbers[tree.frames[node]]
    const key = parent * count + frame
    let number = known.get(key)
    if (number === undefined) {
      number = parents.push(parent) - 1
      frames.push(frame)
      known.set(key, number)
    }
    nodes[node] = number
  }
  return { tree: { parents: Int32Array.from(parents), frames: Int32Array.from(frames) }, nodes }
}
