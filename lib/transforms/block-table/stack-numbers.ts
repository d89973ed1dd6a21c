import { FIRST, NONE, OTHERS } from '../../blocks/bounded-keys.js'
import { checkOptions } from '../../event/options.js'
import { StringTable } from '../../event/strings.js'
import type { TableColumn, TableRows } from '../../event/table.js'
import { SiteKeys, type SiteLimits } from '../statistics/site-keys.js'

/** The maximum number of frames in the tree of all stacks, each of some 45 bytes. Stacks share common frames. */
const MAX_STACK_NODES = 4_194_304
/** The maximum bytes of their names. */
const MAX_NAME_BYTES = 67_108_864
/** The number of rows of the table of stacks that are written at a time. */
const STACK_ROWS = 1024
const HAS_STACK = 0

export const STACK_COLUMNS: readonly TableColumn[] = [
  { name: 'stackId', type: 'u32', f: -1 },
  // All rows have a list, but lists without a bit are not written.
  { name: 'stack', type: 'names', f: HAS_STACK },
]

/** The limits, as in `SiteLimits`. */
export type StackLimits = Required<Pick<SiteLimits, 'nodes' | 'bytes'>>

/**
 * Numbers stacks from 1, in the order in which blocks were first allocated with them, as a registry of sites does. The
 * same stack has the same number in all tables and traces that share these numbers. Memory grows with the number of
 * distinct stacks.
 */
export class StackNumbers {
  private readonly keys: SiteKeys

  /** @param limits the maximum number of frames of the tree, and of bytes of their names */
  constructor(limits: StackLimits = { nodes: MAX_STACK_NODES, bytes: MAX_NAME_BYTES }) {
    checkOptions(limits, { nodes: 'number', bytes: 'number' }, 'StackNumbers')
    this.keys = new SiteKeys({ ...limits, rows: Infinity, keepsAddresses: true })
  }

  /** The number of stacks with a number. */
  get size(): number {
    return this.keys.size - FIRST
  }

  /** Whether some stack has no number because there was no room for it. */
  get isFull(): boolean {
    return this.keys.overflowed
  }

  /** The number of a stack, given as a list of names; 0 if there is no room for it. */
  of(strings: StringTable, list: number): number {
    const { keys } = this
    keys.beginStrings(strings)
    const row = keys.stackRow(list)
    return row === OTHERS ? 0 : (row === NONE ? keys.emptyStackRow() : row) - FIRST + 1
  }

  /** All stacks with a number as rows of a table with `STACK_COLUMNS`, in the order of their numbers. */
  *rows(): Generator<TableRows> {
    const { keys } = this
    for (let first = 1; first <= this.size; first += STACK_ROWS) {
      const count = Math.min(STACK_ROWS, this.size - first + 1)
      const strings = new StringTable()
      const ids = Uint32Array.from({ length: count }, (_, i) => first + i)
      const lists = Uint32Array.from({ length: count }, (_, i) => {
        const words = keys.paths.reversed(keys.node(FIRST + first - 1 + i))
        return strings.addList(words.map((name) => strings.intern(keys.names.view(name))))
      })
      const mask = new Uint32Array(count).fill(1 << HAS_STACK)
      yield { count, mask, strings, values: ({ type }) => (type === 'names' ? lists : ids) }
    }
  }
}
