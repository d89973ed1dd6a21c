import { existsSync } from 'node:fs'
import type * as DuckDb from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'
import { UsageError } from '../command.js'
import type { Wanted } from './feed.js'
import { sqlColumns, TABLES, type TableName } from './tables.js'

const NAMES = Object.keys(TABLES) as TableName[]

/**
 * A database in memory with tables that have no rows. No query can use the network, or a file elsewhere.
 * @param folder where it may read and write files, also for what does not fit in memory
 * @throws Error that says how to install DuckDB, if it is not there
 */
export async function openDatabase(folder: string): Promise<DuckDBConnection> {
  const { DuckDBInstance } = await loadDuckDb()
  const connection = await (await DuckDBInstance.create(':memory:', { temp_directory: folder })).connect()
  for (const table of NAMES) {
    const columns = sqlColumns(table).map(([name, type]) => `${quoted(name)} ${type}`)
    await connection.run(`create table ${table} (${columns.join(', ')})`)
  }
  await connection.run(`set allowed_directories = [${text(folder)}]`)
  await connection.run('set enable_external_access = false')
  return connection
}

async function loadDuckDb(): Promise<typeof DuckDb> {
  try {
    return await import('@duckdb/node-api')
  } catch (error) {
    throw new Error('SQL needs DuckDB: install it beside heapflow, with npm install @duckdb/node-api', { cause: error })
  }
}

/**
 * Finds out which columns of which tables a query needs, from the plan that DuckDB makes for it.
 * @throws UsageError when it is not a single query
 * @throws Error with the message of DuckDB in one line
 */
export async function planOf(connection: DuckDBConnection, query: string): Promise<Wanted> {
  const { StatementType } = await loadDuckDb()
  try {
    const statements = await connection.extractStatements(query)
    const isQuery = statements.count === 1 && (await statements.prepare(0)).statementType === StatementType.SELECT
    if (!isQuery) throw new UsageError('the query must be a single one that selects something')
    // Without these, a scan does not name all columns that it needs, or is gone because the tables are empty.
    await connection.run(`set disabled_optimizers = 'filter_pushdown,statistics_propagation,empty_result_pullup'`)
    const plan = await connection.runAndReadAll(`explain (format json) ${query}`)
    await connection.run('reset disabled_optimizers')
    const wanted = new Map<TableName, Set<string>>()
    addScans(JSON.parse(String(plan.getRows()[0]?.[1])), wanted)
    return wanted
  } catch (error) {
    throw error instanceof UsageError ? error : new Error(readable(error as Error, query), { cause: error })
  }
}

/** Adds the scans of a plan in JSON. */
function addScans(plan: unknown, wanted: Map<TableName, Set<string>>): void {
  if (Array.isArray(plan)) return plan.forEach((node) => addScans(node, wanted))
  const { extra_info: info, children } = plan as {
    extra_info?: { Table?: string; Projections?: string | readonly string[] }
    children?: unknown
  }
  const table = NAMES.find((name) => info?.Table === `memory.main.${name}`)
  if (table !== undefined) {
    const columns = wanted.get(table) ?? new Set()
    for (const column of [info?.Projections ?? []].flat()) if (column !== '') columns.add(column)
    wanted.set(table, columns)
  }
  if (children !== undefined) addScans(children, wanted)
}

/** Fills the tables. @param pathOf where the file of a table is */
export async function fillTables(
  connection: DuckDBConnection,
  wanted: Wanted,
  pathOf: (table: TableName) => string,
): Promise<void> {
  for (const [table, columns] of wanted) {
    const all = sqlColumns(table).map(([name, type]) =>
      columns.has(name) ? quoted(name) : `null::${type} as ${quoted(name)}`,
    )
    await connection.run(`drop table ${table}`)
    await connection.run(`create view ${table} as select ${all.join(', ')} from read_parquet(${text(pathOf(table))})`)
  }
}

/** Writes the result of a query as Parquet to a file in the folder of the database. */
export async function writeParquet(connection: DuckDBConnection, query: string, path: string): Promise<void> {
  // A comment may end the query.
  const inner = query.replace(/;\s*$/, '')
  // Parquet has no integers of 128 bits, and DuckDB would write them, as of every sum, as rounded floating point.
  const described = await connection.runAndReadAll(`describe ${inner}\n`)
  const wide = described.getRows().filter(([, type]) => type === 'HUGEINT' || type === 'UHUGEINT')
  const exact = wide.map(([name]) => `${quoted(String(name))}::decimal(38, 0) as ${quoted(String(name))}`)
  const columns = exact.length === 0 ? '*' : `* replace (${exact.join(', ')})`
  await connection.run(`copy (select ${columns} from (${inner}\n)) to ${text(path)} (format parquet)`)
  if (!existsSync(path)) throw new Error('DuckDB wrote no file')
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const text = (value: string) => `'${value.replaceAll("'", "''")}'`

/** A message of DuckDB in one line, with the position in the query. */
export function readable(error: Error, query: string): string {
  const message = error.message.replace(/^Failed to extract statements: /, '')
  const [, before = message, line, dots = '', excerpt = '', gap = ''] =
    /^([\s\S]*?)\n+LINE (\d+): (\.\.\.)?([^\n]*)\n( *)\^/.exec(message) ?? []
  const what = before.replace(/\s*\n\s*/g, ' ').replace(/^(Parser|Binder|Catalog|Permission|Invalid Input) Error: /, '')
  if (line === undefined) return what
  // DuckDB shows a part of a long line.
  const shown = excerpt.replace(/\.\.\.$/, '')
  const start = dots === '' ? 0 : (query.split('\n')[Number(line) - 1] ?? '').indexOf(shown)
  const column = gap.length - `LINE ${line}: ${dots}`.length + start + 1
  return `line ${line}, column ${column}: ${what}`
}
