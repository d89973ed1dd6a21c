import type { Profile, Sample, StackTree } from '../transforms/profile/profile.js'

/** Each node's own figure, without the nodes below it; absent for zero. */
export function ownValues(profile: Profile, of: (sample: Sample) => number | bigint): bigint[] {
  const values: bigint[] = []
  for (const sample of profile.samples()) {
    const value = BigInt(of(sample))
    if (value > 0n) values[sample.node] = (values[sample.node] ?? 0n) + value
  }
  return values
}

/**
 * All nodes but the root, parents first and children by the names of their frames.
 * @param names by frame
 * @returns each node with the names from the outermost frame to its own, in an array that is used again
 */
export function* childrenOf(
  { parents, frames }: StackTree,
  names: readonly string[],
): Generator<{ node: number; path: readonly string[] }> {
  // The children of a node as a list: its first one, and after each the next; 0 for none.
  const first = new Int32Array(parents.length)
  const after = new Int32Array(parents.length)
  for (let node = parents.length - 1; node > 0; node--) {
    const parent = parents[node]
    after[node] = first[parent]
    first[parent] = node
  }
  const nameOf = (node: number) => names[frames[node]]
  const path: string[] = []
  /** The nodes to visit, each with its depth. */
  const waiting: { node: number; depth: number }[] = []
  const enter = (node: number, depth: number) => {
    const below: number[] = []
    for (let child = first[node]; child > 0; child = after[child]) below.push(child)
    below.sort((a, b) => (nameOf(a) < nameOf(b) ? 1 : nameOf(a) > nameOf(b) ? -1 : b - a))
    for (const child of below) waiting.push({ node: child, depth })
  }
  enter(0, 0)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, depth } = next
    path.length = depth
    path.push(nameOf(node))
    yield { node, path }
    enter(node, depth + 1)
  }
}
