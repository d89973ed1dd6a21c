// @module-tag slow
import type { DuckDBConnection } from '@duckdb/node-api'
import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { UsageError } from '../../../lib/cli/command.js'
import { traceInput } from '../../../lib/cli/input.js'
import { failure, fillTables, openDatabase, planOf } from '../../../lib/cli/sql/database.js'
import { writeTables, type Wanted } from '../../../lib/cli/sql/feed.js'
import { sqlColumns, TABLES, type TableName } from '../../../lib/cli/sql/tables.js'
import { runs } from '../../support/runs.js'

const TRACE = 'test/fixtures/heaptrack/cxx.raw.gz'
const NAMES = Object.keys(TABLES) as TableName[]
const EVERYTHING: Wanted = new Map(NAMES.map((name) => [name, new Set(sqlColumns(name).map(([column]) => column))]))

/* Queries. Those with a limit sort by all that they select, so that their rows are the same each time. */

const anyTable = fc.constantFrom(...NAMES)
const columnOf = (table: TableName) => fc.constantFrom(...sqlColumns(table).map(([name]) => `"${name}"`))
const anyCondition = (table: TableName) =>
  fc.oneof(
    columnOf(table).map((column) => `${column} is not null`),
    fc.tuple(columnOf(table), columnOf(table)).map(([a, b]) => `${a}::varchar <= ${b}::varchar`),
    fc.constantFrom('true', '1 = 2', 'not (1 = 2)'),
  )
const anySelect = anyTable.chain((table) =>
  fc
    .record({
      columns: fc.uniqueArray(columnOf(table), { minLength: 1, maxLength: 4 }),
      form: fc.constantFrom('plain', 'star', 'group', 'count', 'distinct', 'window', 'limit'),
      where: fc.option(anyCondition(table), { nil: undefined }),
    })
    .map(({ columns, form, where }) => {
      const list = columns.join(', ')
      const from = `from ${table}${where === undefined ? '' : ` where ${where}`}`
      switch (form) {
        case 'star':
          return `select * ${from}`
        case 'group':
          return `select ${list}, count(*) as n ${from} group by ${list}`
        case 'count':
          return `select count(*) as n, count(${columns[0]}) as m ${from}`
        case 'distinct':
          return `select distinct ${list} ${from}`
        case 'window':
          return `select ${columns[0]}, rank() over (order by ${columns[0]}) as place ${from}`
        case 'limit':
          return `select ${list} ${from} order by all limit 5`
        default:
          return `select ${list} ${from}`
      }
    }),
)
const anyQuery = fc.oneof(
  anySelect,
  anySelect.map((inner) => `select count(*) from (${inner}) as t`),
  anySelect.map((inner) => `with t as (${inner}) select * from t`),
  fc.tuple(anySelect, anySelect).map(([a, b]) => `select count(*) from (${a}) as a, (${b}) as b where 1 = 1`),
  anySelect.map((inner) => `(${inner}) union all by name (${inner});`),
  anySelect.map((inner) => `select (select count(*) from (${inner}) as t) as n, (select max(size) from blocks) as m`),
)
/** The same with parts that are gone, doubled or other ones. */
const anyText = fc.oneof(
  fc
    .tuple(anyQuery, fc.array(fc.tuple(fc.nat(), fc.nat(30), fc.string({ maxLength: 4 })), { maxLength: 3 }))
    .map(([query, changes]) =>
      changes.reduce((text, [at, length, other]) => {
        const from = at % (text.length + 1)
        return text.slice(0, from) + other + text.slice(from + length)
      }, query),
    ),
  fc.string({ unit: 'binary', maxLength: 60 }),
)

const folder = mkdtempSync(join(tmpdir(), 'heapflow-sql-'))
const pathOf = (table: string) => join(folder, `${table}.parquet`)
/** A database whose tables have all columns. */
let whole: DuckDBConnection
beforeAll(async () => {
  whole = await openDatabase(folder)
  await writeTables({ paths: [TRACE], inputOf: traceInput }, EVERYTHING, pathOf, () => {})
  await fillTables(whole, EVERYTHING, pathOf)
}, 60_000)
afterAll(() => {
  whole.closeSync()
  rmSync(folder, { recursive: true })
})

/** The rows of a query in no order. */
async function rowsOf(connection: DuckDBConnection, query: string): Promise<string[]> {
  const { length } = (await connection.runAndReadAll(query)).columnNames()
  expect(length).toBeGreaterThan(0)
  return (await connection.runAndReadAll(query)).getRows().map(String).toSorted()
}

/** Finds out what a query wants, in a database of its own. */
async function planned(query: string): Promise<{ connection: DuckDBConnection; wanted: Wanted } | UsageError> {
  const connection = await openDatabase(folder)
  try {
    return { connection, wanted: await planOf(connection, query, folder) }
  } catch (error) {
    connection.closeSync()
    if (error instanceof UsageError) return error
    throw error
  }
}

test('a query gives the same with the columns that it needs as with all', async () => {
  await fc.assert(
    fc.asyncProperty(anyQuery, async (query) => {
      const plan = await planned(query)
      if (plan instanceof UsageError) throw plan
      const { connection, wanted } = plan
      await fillTables(connection, wanted, pathOf)
      expect(await rowsOf(connection, query)).toEqual(await rowsOf(whole, query))
      connection.closeSync()
    }),
    { numRuns: runs(400) },
  )
}, 600_000)

test('any text is planned, or refused in one line that does not show temporary files', async () => {
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      const plan = await planned(text)
      let message: string
      if (plan instanceof UsageError) ({ message } = plan)
      else {
        const { connection, wanted } = plan
        await fillTables(connection, wanted, pathOf)
        message = await connection.runAndReadAll(text).then(
          () => '',
          (error: Error) => failure(error, text, folder),
        )
        connection.closeSync()
      }
      expect(message).not.toContain(folder)
      expect(message).not.toMatch(/did not name|\n.*\n/)
    }),
    { numRuns: runs(1000) },
  )
}, 600_000)
