import { existsSync } from 'node:fs'
import type * as DuckDb from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'
import { UsageError } from '../command.js'
import { showValue } from '../../event/message-text.js'
import type { Wanted } from './feed.js'
import { scannedColumns } from './plan.js'
import { sqlColumns, TABLES, VIEWS, type TableName } from './tables.js'

const NAMES = Object.keys(TABLES) as TableName[]
const ALL_TABLES = [...NAMES, ...Object.keys(VIEWS)].join(', ').replace(/, (?=\w+$)/, ' and ')
/** How messages of DuckDB about syntax begin. */
const EXTRACTING = 'Failed to extract statements: '

/**
 * A database in memory with tables that have no rows. No query can use the network, or a file elsewhere.
 * @param folder the folder in which it may read and write files, also for data that does not fit in memory
 * @throws Error that says how to install DuckDB, if it is not there
 */
export async function openDatabase(folder: string): Promise<DuckDBConnection> {
  const { DuckDBInstance } = await loadDuckDb()
  const connection = await (await DuckDBInstance.create(':memory:', { temp_directory: folder })).connect()
  for (const table of NAMES) {
    const columns = sqlColumns(table).map(([name, type]) => `${quoted(name)} ${type}`)
    await connection.run(`create table ${table} (${columns.join(', ')})`)
  }
  for (const [view, query] of Object.entries(VIEWS)) await connection.run(`create view ${view} as ${query}`)
  await connection.run(`set allowed_directories = [${text(folder)}]`)
  await connection.run('set enable_external_access = false')
  return connection
}

const INSTALL = 'install it beside heapflow, with npm install @duckdb/node-api'

async function loadDuckDb(): Promise<typeof DuckDb> {
  let duckDb
  try {
    duckDb = await import('@duckdb/node-api')
  } catch (error) {
    throw new Error(`SQL needs DuckDB: ${INSTALL}`, { cause: error })
  }
  refuseOld(duckDb.version())
  return duckDb
}

/**
 * All versions of the package are prereleases. The only range of npm that admits every later one is `*`, so the range
 * of package.json excludes no old version.
 * @param version as DuckDB names it, `v1.5.5`
 * @throws Error when it lacks what is called here
 */
export function refuseOld(version: string): void {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  if (Number(major) < 1 || (major === '1' && Number(minor) < 5))
    throw new Error(`SQL needs DuckDB 1.5 or newer, not ${version}: ${INSTALL}@latest`)
}

/**
 * Finds out which tables a query needs, and which of their columns: those that DuckDB's plan names, or all if the plan
 * is not understood.
 * @param folder the folder of the database
 * @throws UsageError with the message of DuckDB in one line, or when it is not a single query
 */
export async function planOf(connection: DuckDBConnection, query: string, folder: string): Promise<Wanted> {
  const { StatementType } = await loadDuckDb()
  try {
    const statements = await extract(connection, query)
    if (statements === undefined) throw new Error('the query is empty')
    const isQuery = statements.count === 1 && (await statements.prepare(0)).statementType === StatementType.SELECT
    if (!isQuery) throw new Error('the query must be a single one that selects something')
  } catch (error) {
    throw new UsageError(readable(error as Error, query, folder), { cause: error })
  }
  // DuckDB gives names as they are in the query, where upper and lower case are the same.
  const tables = new Set([...(await connection.getTableNames(query, false))].map((name) => name.toLowerCase()))
  const all = new Map(NAMES.map((table) => [table, new Set(sqlColumns(table).map(([name]) => name))]))
  const scanned = scannedColumns(await explain(connection, query), all)
  const named = NAMES.filter((table) => tables.has(table) || scanned.has(table))
  return new Map(named.map((table) => [table, scanned.get(table) ?? (all.get(table) as ReadonlySet<string>)]))
}

/** The statements of a text; undefined if it has none, such as a comment. @throws Error for a syntax error */
async function extract(
  connection: DuckDBConnection,
  query: string,
): Promise<DuckDb.DuckDBExtractedStatements | undefined> {
  try {
    return await connection.extractStatements(query)
  } catch (error) {
    // Without a statement, there is no message of DuckDB either.
    if (String((error as Error).message).startsWith(EXTRACTING)) throw error
    return undefined
  }
}

/** Optimizers after which a scan does not name all its columns, has a filter, or is gone because tables are empty. */
const DISABLED = 'filter_pushdown,statistics_propagation,empty_result_pullup,top_n,late_materialization'

/** The plan of a query, or undefined where this version of DuckDB gives none. */
async function explain(connection: DuckDBConnection, query: string): Promise<unknown> {
  try {
    await connection.run(`set disabled_optimizers = ${text(DISABLED)}`)
    const plan = await connection.runAndReadAll(`explain (format json) ${query}`)
    return JSON.parse(String(plan.getRows()[0]?.[1]))
  } catch {
    return undefined
  } finally {
    await connection.run('reset disabled_optimizers')
  }
}

/**
 * Fills the tables. A query that needs a column or a table which is not wanted fails: it never takes it for null or
 * empty.
 * @param pathOf the path of a table's file
 */
export async function fillTables(
  connection: DuckDBConnection,
  wanted: Wanted,
  pathOf: (table: TableName) => string,
): Promise<void> {
  for (const table of NAMES) {
    const columns = wanted.get(table)
    const unnamed = (what: string) => `error(${text(`the plan of DuckDB did not name the ${what}`)})`
    const all = sqlColumns(table).map(([name, type]) =>
      columns?.has(name) ? quoted(name) : `${unnamed(`column ${name} of ${table}`)}::${type} as ${quoted(name)}`,
    )
    const rows = columns ? `from read_parquet(${text(pathOf(table))})` : `where ${unnamed(`table ${table}`)}::boolean`
    await connection.run(`drop table ${table}`)
    await connection.run(`create view ${table} as select ${all.join(', ')} ${rows}`)
  }
}

/**
 * Writes the result of a query as Parquet to a file in the folder of the database.
 * @throws Error with the message of DuckDB, which counts one additional line before the query
 */
export async function writeParquet(connection: DuckDBConnection, query: string, path: string): Promise<void> {
  const inner = await withoutEnd(connection, query)
  // Parquet has no integers of 128 bits, and DuckDB would write them, as of every sum, as rounded floating point.
  const described = await connection.runAndReadAll(`describe\n${inner}\n`)
  const wide = described.getRows().filter(([, type]) => type === 'HUGEINT' || type === 'UHUGEINT')
  const exact = wide.map(([name]) => `${quoted(String(name))}::decimal(38, 0) as ${quoted(String(name))}`)
  const columns = exact.length === 0 ? '*' : `* replace (${exact.join(', ')})`
  await connection.run(`copy (select ${columns} from (\n${inner}\n)) to ${text(path)} (format parquet)`)
  if (!existsSync(path)) throw new Error('DuckDB wrote no file')
}

/** A query without the semicolon that ends it and what follows, as far as DuckDB takes that for nothing. */
async function withoutEnd(connection: DuckDBConnection, query: string): Promise<string> {
  const count = async (part: string) => {
    try {
      return (await extract(connection, part))?.count ?? 0
    } catch {
      return -1
    }
  }
  for (let at = query.indexOf(';'); at >= 0; at = query.indexOf(';', at + 1)) {
    const before = query.slice(0, at)
    if ((await count(query.slice(at + 1))) === 0 && (await count(before)) === 1) return before
  }
  return query
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const text = (value: string) => `'${value.replaceAll("'", "''")}'`

/**
 * A message of DuckDB about a query that failed while it ran: in one line, with the position in the query or, where
 * DuckDB gives none, the query.
 * @param folder the folder of the database, which messages do not show
 * @param linesBefore the number of lines before the query
 */
export function failure(error: Error, query: string, folder: string, linesBefore = 0): string {
  const message = readable(error, query, folder, linesBefore)
  return message.startsWith('line ') ? message : `query ${showValue(query.trim().replaceAll(/\s+/g, ' '))}: ${message}`
}

/** A message of DuckDB in one line, with the position in the query if DuckDB gives it. */
function readable({ message: whole }: Error, query: string, folder: string, linesBefore = 0): string {
  const message = whole.replace(EXTRACTING, '').replaceAll(`${folder}/`, '').replaceAll(folder, 'the temporary folder')
  const [, before = message, line, dots = '', excerpt = '', gap = ''] =
    /^([\s\S]*?)\n+LINE (\d+): (\.\.\.)?([^\n]*)\n( *)\^/.exec(message) ?? []
  const what = before
    .replace(/\s*\n\s*/g, ' ')
    .replace(/^(Parser|Binder|Catalog|Permission|Invalid Input) Error: /, '')
    // DuckDB would suggest a table of its own.
    .replace(/^(Table with name .* does not exist!).*/, `$1 The tables are ${ALL_TABLES}`)
  // A fault in what was put around the query has no position in it.
  if (line === undefined || Number(line) <= linesBefore) return what
  // DuckDB shows a part of a long line.
  const shown = excerpt.replace(/\.\.\.$/, '')
  const start = dots === '' ? 0 : (query.split('\n')[Number(line) - linesBefore - 1] ?? '').indexOf(shown)
  const column = gap.length - `LINE ${line}: ${dots}`.length + start + 1
  return `line ${Number(line) - linesBefore}, column ${column}: ${what}`
}
