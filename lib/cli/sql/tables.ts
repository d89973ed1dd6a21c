import type { EventBatch } from '../../event/batch.js'
import { eventRows } from '../../codec/event-rows.js'
import * as Table from '../../event/table.js'
import { ParquetWriter } from '../../formats/parquet/writer.js'
import { BlockTable } from '../../transforms/block-table/block-table.js'
import { BLOCK_COLUMNS } from '../../transforms/block-table/columns.js'
import { STACK_COLUMNS, type StackNumbers } from '../../transforms/block-table/stack-numbers.js'

/**
 * The tables of queries. `spans` is the table of blocks with a row for each size; `stacks` has the stacks of both
 * tables, for all traces.
 */
export const TABLES = {
  events: [...Table.EVENT_COLUMNS, ...Table.GROUP_COLUMNS],
  blocks: BLOCK_COLUMNS,
  spans: BLOCK_COLUMNS,
  stacks: STACK_COLUMNS,
} as const
export type TableName = keyof typeof TABLES

/** Tables that queries of the others make, by name. */
export const VIEWS = {
  handoffs:
    'select file, site, process, thread, endThread, count(*) as blocks, sum(size) as bytes from spans ' +
    "where ending in ('free', 'realloc', 'resize') and thread is distinct from endThread group by all",
  threads:
    "select file, process, thread, string_agg(distinct substr(text, 8), ', ' order by substr(text, 8)) " +
    "filter (where kind = 'comment' and text like 'thread %') as name, " +
    'count(*) as events from events where thread is not null group by all',
} as const

/** The column of every table but `stacks` with the name of the trace. */
const FILE = 'file'
/** What it displaces is called as in heapflow-spark. */
const RENAMED: Readonly<Record<string, string>> = { file: 'sourceFile' }

const SQL_TYPES: Readonly<Record<Table.TableType, string>> = {
  u64: 'UBIGINT',
  u32: 'UINTEGER',
  i32: 'INTEGER',
  code: 'VARCHAR',
  name: 'VARCHAR',
  names: 'VARCHAR[]',
  bytes: 'BLOB',
}

/** The columns of a table in queries, with their types. */
export function sqlColumns(table: TableName): (readonly [name: string, type: string])[] {
  return [
    ...(table === 'stacks' ? [] : [[FILE, 'VARCHAR'] as const]),
    ...TABLES[table].map(({ name, type }) => [RENAMED[name] ?? name, SQL_TYPES[type]] as const),
  ]
}

/** A table of all traces as a Parquet file, with those columns that a query needs. */
export class TableFile {
  private readonly writer: ParquetWriter
  /** For each column that is written, the column that its values come from. */
  private readonly sources = new Map<Table.TableColumn, Table.TableColumn>()
  private file = new Uint32Array(0)

  /**
   * @param wanted the names of columns; there is at least one column
   * @param files the names of all traces
   */
  constructor(table: TableName, wanted: ReadonlySet<string>, files: readonly string[]) {
    const columns = TABLES[table]
      .map((source): [Table.TableColumn, Table.TableColumn] => [
        { ...source, name: RENAMED[source.name] ?? source.name },
        source,
      ])
      .filter(([{ name }], i) => wanted.has(name) || (wanted.size === 0 && i === 0))
    for (const [column, source] of columns) this.sources.set(column, source)
    const file: Table.TableColumn = { name: FILE, type: 'code', f: -1, names: files }
    this.writer = new ParquetWriter([...(wanted.has(FILE) ? [file] : []), ...this.sources.keys()], 'snappy')
  }

  /** @param file the position of the trace among all */
  add(rows: Table.TableRows, file: number): void {
    if (this.file.length < rows.count || this.file[0] !== file)
      this.file = new Uint32Array(Math.max(rows.count, this.file.length)).fill(file)
    this.writer.add({
      count: rows.count,
      mask: rows.mask,
      groupMask: rows.groupMask,
      strings: rows.strings,
      values: (column) => {
        const source = this.sources.get(column)
        return source === undefined ? this.file : rows.values(source)
      },
    })
  }

  end(): void {
    this.writer.end()
  }

  next: Table.TableWriter['next'] = () => this.writer.next()
}

/** Makes the rows of one table of the events of one trace. */
export interface RowMaker {
  add(batch: EventBatch, take: (rows: Table.TableRows) => void): void
  /** The trace has ended, or was truncated. */
  end(take: (rows: Table.TableRows) => void): void
}

/**
 * The stage that makes the rows of a table; for `stacks` only their numbers. @param numbers the numbers of stacks
 * @param wanted the columns of the rows that are read
 */
export function rowMaker(table: TableName, numbers: StackNumbers, wanted: ReadonlySet<string>): RowMaker {
  if (table === 'events')
    return {
      add(batch, take) {
        for (const rows of eventRows(batch)) take(rows)
      },
      end() {},
    }
  const isWhole = table !== 'stacks' && (wanted.has('site') || wanted.has('stack'))
  const blocks = new BlockTable({ spans: table === 'spans' }, numbers, isWhole)
  const takeAll = (take: (rows: Table.TableRows) => void) => {
    for (let rows = blocks.next(); rows !== null; rows = blocks.next()) if (table !== 'stacks') take(rows)
  }
  return {
    add(batch, take) {
      blocks.feed(batch)
      takeAll(take)
    },
    end(take) {
      blocks.end()
      takeAll(take)
    },
  }
}
