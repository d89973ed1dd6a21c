/**
 * Nodes: the pieces of simulated heaps. A node is a segment of a heap, a free block of a buddy system, or a span of
 * blocks of one size class; it can be in a tree (tree.ts). Node 0 is none, and is empty.
 */
import { GROWING, GrowingTable } from '../shared/grow'

/** The keys in a tree. */
export const KEY: usize = 0
export const KEY2: usize = 8
/** Address and size, in bytes. */
export const AT: usize = 16
export const SIZE: usize = 24
/** The neighbours by address. */
export const PREVIOUS: usize = 32
export const NEXT: usize = 36
/** Whether it is free, and whether it waits to be merged. */
export const STATE: usize = 40
/** Of a span: its class, the number and the map of its blocks. Of a waiting segment: its neighbours in the queue. */
export const CLASS: usize = 44
export const USED: usize = 48
export const BITS: usize = 52
const NODE: u32 = 64

const FEWEST: u32 = 15

const nodes = changetype<GrowingTable>(memory.data(GROWING))
/** The end of the nodes that were used, in bytes, and the first unused node before it. */
let end: u32 = 0
let unused: u32 = 0

// @ts-ignore: decorator
@inline
export function nodeAt(node: u32): usize {
  return nodes.at + <usize>node * NODE
}

/** The numbers of a node's neighbours, if there is a node with this number, otherwise 0. */
// @ts-ignore: decorator
@inline
export function neighboursAhead(node: u32): u64 {
  return <u64>node * NODE < <u64>end ? load<u64>(nodeAt(node), PREVIOUS) : 0
}

/** Discards all nodes. @returns false if memory is exhausted */
export function clearNodes(): bool {
  end = NODE
  unused = 0
  if (!nodes.restart(FEWEST)) return false
  memory.fill(nodes.at, 0, NODE)
  return true
}

/** Makes sure that there is room for new nodes. @returns false if memory is exhausted */
export function makeNodes(wanted: u32): bool {
  return nodes.extend(<u64>end + <u64>wanted * NODE)
}

/** A node with address and size, in no tree. There must be room. */
export function newNode(at: u64, size: u64): u32 {
  let node = unused
  if (node != 0) unused = load<u32>(nodeAt(node), NEXT)
  else {
    node = end / NODE
    end += NODE
  }
  const here = nodeAt(node)
  memory.fill(here, 0, NODE)
  store<u64>(here, at, AT)
  store<u64>(here, size, SIZE)
  return node
}

/** Ends the use of a node. */
export function dropNode(node: u32): void {
  store<u32>(nodeAt(node), unused, NEXT)
  unused = node
}
