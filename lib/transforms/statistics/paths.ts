import { U64Map } from '../../bytes/u64-map.js'
import { widened } from '../../bytes/widened.js'

/** The node of a path without room. */
export const NO_NODE = -1

/** The maximum number of nodes, each of some 45 bytes. */
export const MAX_NODES = 1_048_576

/**
 * Sequences of 32-bit words, such as the names of a stack's frames from the outermost one on, as paths in a tree:
 * common beginnings are stored once. Nodes are numbered in order of first use; those below the number of roots are the
 * roots.
 */
export class Paths {
  /** The number of nodes. */
  size: number
  private readonly children = new U64Map(1)
  private parents = new Int32Array(64)
  private words = new Uint32Array(64)
  /** The last path found: its nodes, and its number of words. */
  private path = new Int32Array(64)
  private length = 0

  /** @param roots the number of trees @param limit the maximum number of nodes */
  constructor(
    private readonly roots: number,
    private readonly limit: number = MAX_NODES,
  ) {
    this.size = roots
    this.parents.fill(NO_NODE, 0, roots)
  }

  /** The node of a path: the first n of `words`. `NO_NODE` if there is no room for it. */
  find(root: number, words: Uint32Array, n: number): number {
    if (n >= this.path.length) this.path = widened(this.path, 2 * n)
    const { path } = this
    // Consecutive stacks usually begin alike.
    let at = 0
    let node = root
    if (path[0] === root) {
      while (at < n && at < this.length && this.words[path[at + 1]] === words[at]) at++
      node = path[at]
    }
    path[0] = root
    for (; at < n; at++) {
      node = this.child(node, words[at])
      if (node === NO_NODE) break
      path[at + 1] = node
    }
    this.length = at
    return node
  }

  /** The parent of a node; `NO_NODE` for a root. It has a lower number than the node. */
  parent(node: number): number {
    return this.parents[node]
  }

  /** The last word of a node's path. */
  word(node: number): number {
    return this.words[node]
  }

  /** The words of a node's path, the last one first. @param most their maximum number */
  reversed(node: number, most = Infinity): number[] {
    const words: number[] = []
    for (; !this.isRoot(node) && words.length < most; node = this.parent(node)) words.push(this.word(node))
    return words
  }

  /** Whether a node is the root of a tree. */
  isRoot(node: number): boolean {
    return node < this.roots
  }

  /** The node of a path that is one word longer than a node's path. `NO_NODE` if there is no room for it. */
  child(parent: number, word: number): number {
    const { children } = this
    const known = children.find(word, parent)
    if (known >= 0) return children.values[known]
    if (this.size === this.limit) return NO_NODE
    const node = this.size++
    if (node === this.parents.length) {
      this.parents = widened(this.parents, 2 * node)
      this.words = widened(this.words, 2 * node)
    }
    this.parents[node] = parent
    this.words[node] = word
    const slot = children.add(word, parent)
    children.values[slot] = node
    return node
  }
}
