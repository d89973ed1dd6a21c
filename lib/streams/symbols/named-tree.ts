import { widened } from '../../bytes/widened.js'
import type { StackTree } from '../../event/stack-tree.js'
import type { StringTable } from '../../event/strings.js'
import type { FrameNames } from './known-frames.js'

const NO_NODES = new Uint32Array(0)

/**
 * The stacks of a tree with names. The frames that a stack shares with others of its batch are named once. Decoders
 * with trees limit the texts of a stack to 256 KiB, so there is no other limit here.
 */
export class NamedTree {
  private tree: StackTree | undefined
  /** By node, the number of frames in its whole stack, with those that were inlined. */
  private depths = NO_NODES
  /** By node, the last table with its frames, and a list there that ends in them. */
  private coverTable = NO_NODES
  private cover = NO_NODES
  private table = 0
  private readonly nodes: number[] = []

  /**
   * Adds lists with names, which have the numbers of those without. Where a list leaves out outermost frames, which
   * earlier ones had, the list with names does so, too.
   * @param strings a table with the strings of `source`, without lists, with the names
   */
  rename(source: StringTable, tree: StackTree, strings: StringTable, names: FrameNames): void {
    this.begin(tree)
    const { depths, coverTable, cover, table, nodes } = this
    const { parents, depths: before } = tree
    const { at: replaced, list: ids } = names
    const own: number[] = []
    for (let list = 0; list < source.listCount; list++) {
      const frames = source.listView(list)
      const node = source.nodeOf(list)
      const depth = before[node]
      const leftOut = depth - frames.length
      nodes.length = own.length = 0
      let at = node
      for (; before[at] > leftOut && coverTable[at] !== table; at = parents[at]) nodes.push(at)
      const known = at === 0 ? 0 : depths[at]
      let left = depth - (at === 0 ? 0 : before[at])
      // From the outermost frame on.
      for (let next = nodes.pop(); next !== undefined; next = nodes.pop()) {
        const end = depth - before[next]
        while (left > end) {
          const id = frames[--left]
          const place = replaced[id]
          if (place === 0) own.push(id)
          else for (let n = ids[place]; n > 0; n--) own.push(ids[place + n])
        }
        depths[next] = known + own.length
        coverTable[next] = table
        cover[next] = list
      }
      strings.addStack(node, Uint32Array.from(own.toReversed()), cover[at], leftOut > 0 ? 0 : known)
    }
    strings.depths = depths
  }

  private begin(tree: StackTree): void {
    this.table++
    if (this.tree !== tree) {
      this.tree = tree
      this.depths = this.coverTable = this.cover = NO_NODES
    }
    const { length } = tree.parents
    if (length <= this.depths.length) return
    this.depths = widened(this.depths, length)
    this.coverTable = widened(this.coverTable, length)
    this.cover = widened(this.cover, length)
  }
}
