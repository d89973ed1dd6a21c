import { StringTable } from '../../event/strings.js'
import type { TableColumn, TableRows } from '../../event/table.js'
import { NO_NODE, Paths } from '../statistics/paths.js'

/** The most frames in the tree of all stacks, each of some 45 bytes: what stacks have in common is there once. */
const MAX_STACK_NODES = 4_194_304
/** The most bytes of their names. */
const MAX_NAME_BYTES = 67_108_864
/** How many rows the table of stacks has at a time. */
const STACK_ROWS = 1024
const ROOT = 0
const UNSET = -1
const HAS_STACK = 0

/** The columns of the table of stacks. */
export const STACK_COLUMNS: readonly TableColumn[] = [
  { name: 'stackId', type: 'u32', f: -1 },
  // All rows have one, but lists without a bit are not written.
  { name: 'stack', type: 'names', f: HAS_STACK },
]

/** What there is room for. */
export interface StackLimits {
  readonly nodes: number
  readonly bytes: number
}

/**
 * Numbers of stacks, from 1, in the order in which blocks were first allocated with them. The same stack has the same
 * number in all tables and traces that share these numbers. Memory grows with the number of distinct stacks.
 */
export class StackNumbers {
  /** How many stacks have a number. */
  size = 0
  /** Whether there was no room for some stack, which has no number. */
  isFull = false
  private readonly names = new StringTable()
  private readonly paths: Paths
  /** The number of each node's stack, and the node of each number. */
  private numbers = new Uint32Array(64)
  private nodes = new Uint32Array(64)
  /** The names of the strings of the table that was used last, by their ids there. */
  private source: StringTable | undefined
  private nameOf = new Int32Array(0)
  private words = new Uint32Array(64)

  /** @param limits the most frames of the tree, and the most bytes of their names */
  constructor(private readonly limits: StackLimits = { nodes: MAX_STACK_NODES, bytes: MAX_NAME_BYTES }) {
    this.paths = new Paths(1, limits.nodes)
  }

  /** The number of a stack, given as a list of names; 0 if there is no room for it. */
  of(strings: StringTable, list: number): number {
    const frames = strings.listView(list)
    const n = frames.length
    if (n > this.words.length) this.words = new Uint32Array(2 * n)
    for (let i = 0; i < n; i++) {
      const name = this.name(strings, frames[n - 1 - i])
      if (name === UNSET) return this.full()
      this.words[i] = name
    }
    const node = this.paths.find(ROOT, this.words, n)
    if (node === NO_NODE) return this.full()
    if (node >= this.numbers.length) this.numbers = longer(this.numbers, node)
    const known = this.numbers[node]
    if (known !== 0) return known
    const number = ++this.size
    if (number >= this.nodes.length) this.nodes = longer(this.nodes, number)
    this.nodes[number] = node
    return (this.numbers[node] = number)
  }

  /** All stacks with a number as rows of a table with `STACK_COLUMNS`, in the order of their numbers. */
  *rows(): Generator<TableRows> {
    for (let first = 1; first <= this.size; first += STACK_ROWS) {
      const count = Math.min(STACK_ROWS, this.size - first + 1)
      const strings = new StringTable()
      const ids = Uint32Array.from({ length: count }, (_, i) => first + i)
      const lists = Uint32Array.from({ length: count }, (_, i) => {
        const words = this.paths.reversed(this.nodes[first + i])
        return strings.addList(words.map((name) => strings.intern(this.names.view(name))))
      })
      const mask = new Uint32Array(count).fill(1 << HAS_STACK)
      yield { count, mask, strings, values: ({ type }) => (type === 'names' ? lists : ids) }
    }
  }

  private name(strings: StringTable, id: number): number {
    if (strings !== this.source) {
      this.source = strings
      this.nameOf = new Int32Array(strings.size).fill(UNSET)
    } else if (id >= this.nameOf.length) {
      const more = new Int32Array(2 * strings.size).fill(UNSET, this.nameOf.length)
      more.set(this.nameOf)
      this.nameOf = more
    }
    const known = this.nameOf[id]
    if (known !== UNSET) return known
    const bytes = strings.view(id)
    const isRoom = this.names.byteLength + bytes.length <= this.limits.bytes
    return (this.nameOf[id] = isRoom ? this.names.intern(bytes) : this.names.find(bytes))
  }

  private full(): 0 {
    this.isFull = true
    return 0
  }
}

function longer(words: Uint32Array<ArrayBuffer>, index: number): Uint32Array<ArrayBuffer> {
  const copy = new Uint32Array(2 * index)
  copy.set(words)
  return copy
}
