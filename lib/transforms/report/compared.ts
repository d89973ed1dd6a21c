import type { Integer, Moments } from './values.js'

/** The compared figures of the old and the new run. */
export const COMPARED = [
  'allocatedBlocks',
  'allocatedBytes',
  'peakBlocks',
  'peakBytes',
  'endBlocks',
  'endBytes',
  'temporaryBlocks',
  'temporaryBytes',
] as const
/** See `COMPARED`. */
export type ComparedName = (typeof COMPARED)[number]

/**
 * The stacks that differ, as rows: the nodes of a tree where they end, with their figures before and after. If the tree
 * would be too large, stacks with small differences are folded: folded stacks below the same node of the tree are one
 * row.
 */
export interface ReportChanges {
  /**
   * The tree: the depth of each node, every caller right before the functions that it calls. Node 0 is the root, with
   * depth 0.
   */
  depths: number[]
  /** The frame of each node, an index into `frames`; -1 for the root. */
  nodeFrames: number[]
  /** The node where the stack of a row ends; of folded stacks, the node above all of them. */
  node: number[]
  /** The number of stacks that are folded in a row; 0 for a row that is a stack. */
  folded: number[]
  before: Record<ComparedName, Integer[]>
  after: Record<ComparedName, Integer[]>
  /**
   * For each row that folds stacks, in order, the total growth of the folded stacks that grew. The shrinkage of the
   * others is this minus the difference of the row.
   */
  grown: Record<ComparedName, Integer[]>
}

/** The differences from another run. */
export interface ReportComparison {
  /** The name of the other trace. */
  old: string
  totals: { old: Record<ComparedName, Integer>; new: Record<ComparedName, Integer> }
  /** The number of stacks that differ, folded or not. */
  differing: number
  changes: ReportChanges
  /** The old run over time, in at most 500 parts: their highest levels, and the unit of its times. */
  timeline?: Moments & { maxBytes: Integer[]; unit?: string }
}

/** The parent of each node of a tree in this order; -1 for the root. */
export function parentsOf({ depths }: Pick<ReportChanges, 'depths'>): Int32Array {
  const parents = new Int32Array(depths.length)
  const path: number[] = []
  for (let node = 0; node < parents.length; node++) {
    const depth = depths[node]
    path[depth] = node
    parents[node] = depth === 0 ? -1 : path[depth - 1]
  }
  return parents
}

/** The frames of the stack of a node, the innermost first. */
export function stackOfNode(parents: Int32Array, { nodeFrames }: Pick<ReportChanges, 'nodeFrames'>, node: number) {
  const stack: number[] = []
  for (let at = node; at > 0; at = parents[at]) stack.push(nodeFrames[at])
  return stack
}
