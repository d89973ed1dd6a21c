import { NONE, OTHERS } from '../../blocks/bounded-keys.js'
import { MAX_NODES, NO_NODE, Paths } from '../statistics/paths.js'
import { Form, type SiteKeys } from '../statistics/site-keys.js'
import type { SiteTable } from '../statistics/site-table.js'
import type { ThreadTable } from '../statistics/thread-table.js'
import { addressFrame, frameOf, sourceFrame } from './frames.js'
import type { Frame, StackTree } from './profile.js'

/** Only the innermost frames of deeper stacks are kept. */
export const MAX_DEPTH = 1000
const ROOT = 0
const UNSET = -1
const NO_ROOM = -2

/** Represents allocations without a stack. */
export const UNKNOWN: Frame = { name: '[unknown]' }
const OTHER_STACKS: Frame = { name: '[others]' }
const CUT: Frame = { name: '[outer frames left out]' }

/** The stacks of a table of sites, and their rows. */
export interface Stacks {
  readonly frames: readonly Frame[]
  readonly tree: StackTree
  /** Whether some stacks did not fit into the tree. */
  readonly isFull: boolean
  /** The rows in which a block was allocated, each with the node of its stack. */
  rows(): Iterable<{ row: number; node: number }>
}

/**
 * Builds a tree of the sites of a table.
 * @param limit the maximum number of nodes, besides one for all other stacks
 */
export function stacksOf(
  sites: Pick<SiteTable, 'keys' | 'size' | 'isUsed' | 'owners'>,
  threads: Pick<ThreadTable, 'name'>,
  limit = MAX_NODES,
): Stacks {
  const frames = new FrameTable(sites.keys)
  const paths = new Paths(1, limit)
  const nodes = new Int32Array(sites.size).fill(UNSET)
  let isFull = false
  for (let row = NONE; row < sites.size; row++) {
    if (!sites.isUsed(row)) continue
    const { site, thread } = sites.owners(row)
    const path = frames.path(
      site,
      thread === undefined ? undefined : frames.id({ name: threadName(threads.name(thread)) }),
    )
    const node = paths.find(ROOT, path, path.length)
    isFull ||= node === NO_NODE
    nodes[row] = node === NO_NODE ? NO_ROOM : node
  }
  // The stacks that did not fit share one more node.
  const others = paths.size
  const size = isFull ? others + 1 : others
  const otherFrame = isFull ? frames.id(OTHER_STACKS) : UNSET
  return {
    frames: frames.all,
    tree: {
      parents: Int32Array.from({ length: size }, (_, node) => (node === others ? ROOT : paths.parent(node))),
      frames: Int32Array.from({ length: size }, (_, node) =>
        node === ROOT ? UNSET : node === others ? otherFrame : paths.word(node),
      ),
    },
    isFull,
    *rows() {
      for (let row = NONE; row < nodes.length; row++) {
        const node = nodes[row]
        if (node !== UNSET) yield { row, node: node === NO_ROOM ? others : node }
      }
    },
  }
}

/** The name of a thread: `process 2, thread 7 (worker)`. */
export function threadName({ rest, process, thread, name }: ReturnType<ThreadTable['name']>): string {
  if (rest !== undefined) return rest === 'none' ? '[no thread]' : '[other threads]'
  const numbers = Object.entries({ process, thread }).flatMap(([what, number]) =>
    number === undefined ? [] : [`${what} ${BigInt.asIntN(64, number)}`],
  )
  return `${numbers.join(', ')}${name === undefined ? '' : ` (${name})`}`
}

/** Distinct frames, and the paths of sites as numbers of frames. */
class FrameTable {
  readonly all: Frame[] = []
  private readonly ids = new Map<string, number>()
  /** The frame for a name in a stack. */
  private readonly idOfName: Int32Array
  /** Room for the longest path: a thread, the frame for those that are left out, and the others. */
  private readonly words = new Uint32Array(MAX_DEPTH + 2)

  constructor(private readonly keys: SiteKeys) {
    this.idOfName = new Int32Array(keys.names.size).fill(UNSET)
  }

  id(frame: Frame): number {
    const key = `${frame.name}\0${frame.file ?? ''}\0${frame.line ?? ''}\0${frame.module ?? ''}`
    let id = this.ids.get(key)
    if (id === undefined) {
      id = this.all.push(frame) - 1
      this.ids.set(key, id)
    }
    return id
  }

  /**
   * The frames of a site, the outermost first, until the next call.
   * @param thread the frame of its thread, which precedes them
   */
  path(site: number, thread?: number): Uint32Array {
    const { keys, words } = this
    let begin = words.length
    if (site === NONE || site === OTHERS) words[--begin] = this.id(site === NONE ? UNKNOWN : OTHER_STACKS)
    else if (keys.form(site) === Form.stack) {
      const { paths } = keys
      let node = keys.node(site)
      for (; begin > words.length - MAX_DEPTH && !paths.isRoot(node); node = paths.parent(node))
        words[--begin] = this.nameId(paths.word(node))
      if (!paths.isRoot(node)) words[--begin] = this.id(CUT)
    } else {
      const { function: name, file, line, module, callSite } = keys.site(site)
      const isPlace = callSite !== undefined || module !== undefined
      words[--begin] = this.id(isPlace ? addressFrame(module, callSite) : sourceFrame(name, file, line))
    }
    if (thread !== undefined) words[--begin] = thread
    return words.subarray(begin)
  }

  private nameId(name: number): number {
    let id = this.idOfName[name]
    if (id === UNSET) {
      id = this.id(frameOf(this.keys.names.text(name)))
      this.idOfName[name] = id
    }
    return id
  }
}
