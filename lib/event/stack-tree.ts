/**
 * The stacks of a trace as a tree, by the numbers of its nodes, from 1. A node's stack is its own frames, the innermost
 * first, and after them the stack of its parent. The arrays are replaced as the tree grows, and no node changes.
 */
export interface StackTree {
  /** The parent of each node, which has a lower number; 0 for none. */
  readonly parents: Uint32Array
  /** The number of frames in the whole stack of each node whose stack, or a descendant's, was in an event. */
  readonly depths: Uint32Array
}
