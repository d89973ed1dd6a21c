import { topDown, type FlameTree } from './tree.js'

/** What becomes of the frames of a tree: which are shown, and how. */
export interface FrameRules {
  /** Only stacks with such a frame, from the outermost of them on. */
  readonly focus?: RegExp | undefined
  /** Such frames are left out; their callees belong to their callers. */
  readonly hide?: RegExp | undefined
  /** What such frames call is theirs. */
  readonly collapse?: RegExp | undefined
}

/** A tree, and for each of its nodes one of the original. */
export interface RuledTree {
  readonly tree: FlameTree
  readonly origin: Int32Array
}

/** A tree to which rules were applied. Callees that come together are one. @param text the text of a frame */
export function withRules(tree: FlameTree, rules: FrameRules, text: (frame: number) => string): RuledTree {
  const { focus, hide, collapse } = rules
  const count = tree.parents.length
  if (focus === undefined && hide === undefined && collapse === undefined)
    return { tree, origin: Int32Array.from({ length: count }, (_, node) => node) }
  const known = new Map<number, { focus: boolean; hide: boolean; collapse: boolean }>()
  const rulesOf = (frame: number) => {
    let found = known.get(frame)
    if (found === undefined) {
      const name = text(frame).slice(0, LONGEST)
      known.set(
        frame,
        (found = {
          focus: focus?.test(name) ?? true,
          hide: hide?.test(name) ?? false,
          collapse: collapse?.test(name) ?? false,
        }),
      )
    }
    return found
  }
  const parents = [-1]
  const frames = [-1]
  const own = [0]
  const origin = [0]
  const children: Map<number, number>[] = [new Map()]
  /** The new node of each node, or -1 outside of the focus. */
  const place = new Int32Array(count).fill(-1)
  const isClosed = new Uint8Array(count)
  place[0] = focus === undefined ? 0 : -1
  for (let node = 1; node < count; node++) {
    const parent = tree.parents[node]
    const frame = tree.frames[node]
    const rule = rulesOf(frame)
    const above = place[parent]
    let at = above
    isClosed[node] = isClosed[parent]
    if (above < 0 && rule.focus) at = 0
    if (at >= 0 && isClosed[node] === 0 && !rule.hide) {
      const siblings = children[at] as Map<number, number>
      let next = siblings.get(frame)
      if (next === undefined) {
        next = parents.push(at) - 1
        frames.push(frame)
        own.push(0)
        origin.push(node)
        children.push(new Map())
        siblings.set(frame, next)
      }
      at = next
      if (rule.collapse) isClosed[node] = 1
    }
    place[node] = at
    if (at >= 0) own[at] = own[at] + tree.own[node]
  }
  if (focus === undefined) own[0] = own[0] + tree.own[0]
  return { tree: topDown(parents, frames, own), origin: Int32Array.from(origin) }
}

/** Expressions see at most this many characters of a frame, because they may backtrack. */
const LONGEST = 1000
