import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { TraceError } from '../../event/error.js'
import { encodeText } from '../../event/strings.js'
import { readText } from '../../streams/io/read-text.js'
import { openInput } from '../../streams/io/stdio.js'
import { inTemporary } from '../../streams/io/temporary-error.js'
import { UsageError, type Arguments } from '../command.js'
import { SQL_FORMATS } from '../defaults.js'
import { endedBySignals } from '../end-by-signal.js'
import { refuseSharedPipe, traceInput } from '../input.js'
import { describe } from '../main.js'
import { namedInput } from '../named-input.js'
import { outputOf, refuseCompressed, writePieces } from '../output.js'
import { say } from '../say.js'
import { fillTables, openDatabase, failure, planOf, writeParquet } from '../sql/database.js'
import { hasNames, writeTables } from '../sql/feed.js'
import { resultText } from '../sql/result.js'

/** Runs `hf-sql`. @throws UsageError */
export async function runSql(args: Arguments): Promise<void> {
  const { query, paths } = queryOf(args)
  const to = formatOf(args)
  const isFull = args.has('full')
  if (isFull && to !== 'table') throw new UsageError('--full is for tables to look at: other formats have whole cells')
  const output = outputOf(args, paths, to === 'parquet')
  refuseCompressed(args, to, output.compression)
  const folder = inTemporary(tmpdir(), () => mkdtempSync(join(tmpdir(), 'heapflow-sql-')))
  const clear = () => rmSync(folder, { recursive: true, force: true })
  const answer = async () => {
    let fault: TraceError | undefined
    const connection = await openDatabase(folder)
    try {
      const wanted = await planOf(connection, query, folder)
      const pathOf = (table: string) => join(folder, `${table}.parquet`)
      const inputOf = (path: string) => (hasNames(wanted) ? namedInput(path, args) : traceInput(path))
      await writeTables({ paths, inputOf }, wanted, pathOf, (error) => {
        if (fault !== undefined) say('hf-sql', describe(fault))
        fault = error
      })
      await fillTables(connection, wanted, pathOf)
      // A file that lacks rows is not complete.
      await writePieces(
        output,
        piecesOf({ connection, query, to, isFull, folder }, () => fault),
        { blocking: false },
      )
    } finally {
      connection.closeSync()
    }
  }
  process.once('exit', clear)
  try {
    // Neither a query nor a write to a full pipe can be relied on to end.
    await endedBySignals('hf-sql', clear, answer, paths)
  } finally {
    process.removeListener('exit', clear)
    clear()
  }
}

/** A query, and what its result is to be. */
interface Query {
  readonly connection: DuckDBConnection
  readonly query: string
  readonly to: (typeof SQL_FORMATS)[number]
  /** Whether a table has long cells whole. */
  readonly isFull: boolean
  /** Where temporary files are. */
  readonly folder: string
}

/** The result of a query, as bytes in pieces. @throws Error with the message of DuckDB in one line */
async function* piecesOf(
  { connection, query, to, isFull, folder }: Query,
  faultOf: () => TraceError | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    if (to === 'parquet') {
      const path = join(folder, 'result.parquet')
      await writeParquet(connection, query, path)
      for await (const piece of openInput(path)) yield piece as Uint8Array
    } else {
      for await (const text of resultText(await connection.stream(query), to, isFull)) yield encodeText(text)
    }
  } catch (error) {
    throw new Error(failure(error as Error, query, folder, to === 'parquet' ? 1 : 0), { cause: error })
  }
  const fault = faultOf()
  if (fault !== undefined) throw fault
}

/** The query and the traces. @throws UsageError */
function queryOf(args: Arguments): { query: string; paths: readonly string[] } {
  const { operands } = args
  const file = args.value('file')
  const traces = file === undefined ? operands.slice(0, -1) : operands
  const paths = traces.length === 0 ? ['-'] : traces
  refuseSharedPipe(file === undefined ? paths : [...paths, file])
  const query = file === undefined ? operands.at(-1) : readText(file)
  if (query === undefined)
    throw new UsageError('a query is missing, as in hf-sql app.mtrc "select count(*) from blocks"')
  if (file === undefined && existsSync(query))
    throw new UsageError(`the last argument is the query, and ${query} is a file; -f reads a query from a file`)
  if (query.trim() === '') throw new UsageError('the query is empty')
  refuseTwice(paths)
  return { query, paths }
}

/** @throws UsageError when two paths are the same file: each row would count twice */
function refuseTwice(paths: readonly string[]): void {
  const known = new Map<string, string>()
  for (const path of paths) {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
    if (stats?.isFile() !== true) continue
    const file = `${stats.dev}:${stats.ino}`
    const other = known.get(file)
    if (other !== undefined)
      throw new UsageError(other === path ? `${path} is named twice` : `${other} and ${path} are the same file`)
    known.set(file, path)
  }
}

/** The format of the result. @throws UsageError for a name that says none */
function formatOf(args: Arguments): (typeof SQL_FORMATS)[number] {
  const to = args.value('to')
  const name = (args.value('output') ?? '-').toLowerCase().replace(/\.(gz|zst)$/, '')
  const ending = /[^./]\.([a-z]\w*)$/.exec(name)?.[1]
  const named = to ?? (ending === 'jsonl' ? 'ndjson' : ending === 'txt' ? 'table' : ending)
  const format = SQL_FORMATS.find((one) => one === (named ?? 'table'))
  if (format === undefined) throw new UsageError(`no result has names that end in .${ending}: name a format with --to`)
  return format
}
