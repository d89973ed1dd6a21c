import { pathTo, type Box, type FlameTree } from './tree.js'

/** The node to which an arrow key leads: up to the caller, down to the largest callee, sideways to what is beside. */
export function neighbour(tree: FlameTree, rows: readonly (readonly Box[])[], node: number, key: string): number {
  const row = pathTo(tree, node).length - 1
  if (key === 'ArrowUp') return Math.max(0, tree.parents[node] ?? 0)
  if (key === 'ArrowDown') return tree.children(node)[0] ?? node
  const boxes = rows[row] ?? []
  const at = boxes.findIndex((box) => box.node === node)
  const step = key === 'ArrowLeft' ? -1 : key === 'ArrowRight' ? 1 : 0
  return boxes[at + step]?.node ?? node
}
