import { U64Column } from '../../event/batch.js'
import { APIS, type ApiName } from '../../event/fields.js'
import type { TimeUnit } from '../../event/header.js'
import type { StringTable } from '../../event/strings.js'
import type { TableColumn, TableRows, TableValues } from '../../event/table.js'

/** How a row of the table of blocks ended. The position is the code in the column. */
export const ENDINGS = [
  /** A free. */
  'free',
  /** A realloc to zero bytes. */
  'realloc',
  /** A realloc that resized the block, which remains live. Only in tables with a row for each size. */
  'resize',
  /** Another block began at its address; its free is missing. */
  'overlap',
  /** The block was never freed: it was live when its process or its trace ended. */
  'live',
] as const
export type EndingName = (typeof ENDINGS)[number]

const UNITS = ['ns', 'us'] as const satisfies readonly TimeUnit[]

export const UNIT_CODE: Readonly<Record<TimeUnit, number>> = { ns: 0, us: 1 }

/**
 * A row of the table of blocks. Event numbers count all events of the stream from 1, as in hf-stats. The site, the
 * thread and the function belong to the event that gave the block its last size, as in hf-stats.
 */
export interface BlockRow {
  /** The number of the trace in the stream, from 1. */
  trace: number
  /** The event that began the block, which identifies it. */
  birth: bigint
  /** The event that gave it its last size: the same, or its last realloc. */
  since: bigint
  /** The event that ended it, or its process; absent if the block was live at the end of the trace. */
  until?: bigint
  ending: EndingName
  process?: bigint
  thread?: bigint
  /** The thread that freed it. */
  endThread?: bigint
  /** The function that allocated or resized it, and the one that freed it. */
  api?: ApiName
  endApi?: ApiName
  address?: bigint
  /** Sizes in bytes, as requested: at birth, and the last one. */
  firstSize?: bigint
  size?: bigint
  /** The number of times it was resized. */
  reallocs: number
  /** The times of birth, since and until, in the unit of the trace. */
  time?: bigint
  sinceTime?: bigint
  endTime?: bigint
  timeUnit?: TimeUnit
  /**
   * The lifetime of a freed block: in events about blocks, in bytes allocated during it, and in time. Like `temporary`,
   * it is absent if the trace does not say which block is freed, as in interpreted heaptrack files.
   */
  lifetimeEvents?: bigint
  lifetimeBytes?: bigint
  lifetime?: bigint
  /** 1 if the next call of the process after `since` ended it, otherwise 0: temporary for heaptrack. */
  temporary?: number
  /**
   * 1 if its thread ended it, with at most one other allocation by that thread since, otherwise 0: temporary for
   * memray.
   */
  temporaryMemray?: number
  /** The event of the last maximum of live bytes during the block's lifetime, and the block's size then. */
  peakEvent?: bigint
  peakSize?: bigint
  /**
   * The origin of the block in short: of a stack, the innermost frame that is not a wrapper of allocation, as in
   * hf-stats; otherwise the site.
   */
  frame?: string
  /** The site in one line: the whole stack, otherwise function, file and line, otherwise the call site. */
  site?: string
  /** Innermost frame first. */
  stack?: string[]
  /** If the event has a stack and none of these four, they are the frame's. */
  function?: string
  file?: string
  line?: number
  module?: string
  callSite?: bigint
  type?: string
  /** The number of the stack in the table of stacks, from 1. */
  stackId?: number
}

let bits = 0
const column = (name: keyof BlockRow, type: TableColumn['type'], rest: Partial<TableColumn> = {}): TableColumn => ({
  name,
  type,
  f: bits++,
  ...rest,
})
const always = { f: -1 } as const

export const BLOCK_COLUMNS: readonly TableColumn[] = [
  { name: 'trace', type: 'u32', ...always },
  { name: 'birth', type: 'u64', ...always },
  { name: 'since', type: 'u64', ...always },
  column('until', 'u64'),
  { name: 'ending', type: 'code', names: ENDINGS, ...always },
  column('process', 'u64'),
  column('thread', 'u64'),
  column('endThread', 'u64'),
  column('api', 'code', { names: APIS }),
  column('endApi', 'code', { names: APIS }),
  column('address', 'u64', { isAddress: true }),
  column('firstSize', 'u64'),
  column('size', 'u64'),
  { name: 'reallocs', type: 'u32', ...always },
  column('time', 'u64'),
  column('sinceTime', 'u64'),
  column('endTime', 'u64'),
  column('timeUnit', 'code', { names: UNITS }),
  column('lifetimeEvents', 'u64'),
  column('lifetimeBytes', 'u64'),
  column('lifetime', 'u64'),
  column('temporary', 'u32'),
  column('temporaryMemray', 'u32'),
  column('peakEvent', 'u64'),
  column('peakSize', 'u64'),
  column('site', 'name'),
  // A row with a site has a frame.
  { name: 'frame', type: 'name', f: bits - 1 },
  column('stack', 'names'),
  column('function', 'name'),
  column('file', 'name'),
  column('line', 'u32'),
  column('module', 'name'),
  column('callSite', 'u64', { isAddress: true }),
  column('type', 'name'),
  // This is the last bit, because it is not a field of a live block.
  column('stackId', 'u32'),
]

/** The columns of a table of blocks. @param fullStacks also the columns that repeat a whole stack in each row */
export function blockColumns(fullStacks: boolean): readonly TableColumn[] {
  return fullStacks ? BLOCK_COLUMNS : BLOCK_COLUMNS.filter(({ name }) => name !== 'site' && name !== 'stack')
}

/** The bit of each column that not all rows have, in the mask of a row. */
export const RowBit = Object.fromEntries(BLOCK_COLUMNS.map(({ name, f }) => [name, f < 0 ? 0 : 1 << f])) as Readonly<
  Record<keyof BlockRow, number>
>

/** The maximum number of rows at a time. */
export const BLOCK_ROWS = 4096

const wide = () => new U64Column(new ArrayBuffer(8 * BLOCK_ROWS), 0, BLOCK_ROWS)
const words = () => new Uint32Array(BLOCK_ROWS)
const bytes = () => new Uint8Array(BLOCK_ROWS)

/** Rows of the table of blocks, in columns. The same object and memory are reused for the next rows. */
export class BlockRows implements TableRows {
  count = 0
  readonly mask = words()
  readonly trace = words()
  readonly birth = wide()
  readonly since = wide()
  readonly until = wide()
  readonly ending = bytes()
  readonly process = wide()
  readonly thread = wide()
  readonly endThread = wide()
  readonly api = bytes()
  readonly endApi = bytes()
  readonly address = wide()
  readonly firstSize = wide()
  readonly size = wide()
  readonly reallocs = words()
  readonly time = wide()
  readonly sinceTime = wide()
  readonly endTime = wide()
  readonly timeUnit = bytes()
  readonly lifetimeEvents = wide()
  readonly lifetimeBytes = wide()
  readonly lifetime = wide()
  readonly temporary = words()
  readonly temporaryMemray = words()
  readonly peakEvent = wide()
  readonly peakSize = wide()
  readonly site = words()
  readonly frame = words()
  readonly stack = words()
  readonly function = words()
  readonly file = words()
  readonly line = words()
  readonly module = words()
  readonly callSite = wide()
  readonly type = words()
  readonly stackId = words()

  constructor(public strings: StringTable) {}

  values({ name }: TableColumn): TableValues {
    return this[name as keyof BlockRow]
  }

  /** Row i as an object. */
  row(i: number): BlockRow {
    const { strings } = this
    const mask = this.mask[i]
    const row: Record<string, unknown> = {}
    for (const { name, f, type, names } of BLOCK_COLUMNS) {
      if (f >= 0 && ((mask >>> f) & 1) === 0) continue
      const values = this[name as keyof BlockRow]
      if (values instanceof U64Column) row[name] = values.values[i]
      else if (type === 'code') row[name] = (names as readonly string[])[values[i]]
      else if (type === 'name') row[name] = strings.text(values[i])
      else if (type === 'names') row[name] = strings.list(values[i]).map((id) => strings.text(id))
      else row[name] = values[i]
    }
    return row as unknown as BlockRow
  }
}
