import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fillTables, openDatabase, planOf } from '../../../lib/cli/sql/database.js'
import { traceInput } from '../../../lib/cli/input.js'
import { writeTables, type Wanted } from '../../../lib/cli/sql/feed.js'
import { scannedColumns } from '../../../lib/cli/sql/plan.js'
import { sqlColumns, type TableName } from '../../../lib/cli/sql/tables.js'
import { scratch } from '../../support/commands.js'

const TRACE = 'test/fixtures/mtrc/cxx64.mtrc'
const ALL = new Map([
  ['events', new Set(['file', 'size', 'kind'])],
  ['blocks', new Set(['size', 'site'])],
])
const scan = (info: object) => [{ name: 'FILTER', children: [{ name: 'SEQ_SCAN', extra_info: info, children: [] }] }]
const columnsOf = (plan: unknown) =>
  Object.fromEntries([...scannedColumns(plan, ALL)].map(([table, columns]) => [table, [...columns]]))

describe('the columns in a plan', () => {
  test('are those of all scans of a table', () => {
    const base = { Table: 'memory.main.events', Type: 'Sequential Scan', 'Estimated Cardinality': '0' }
    expect(columnsOf(scan({ ...base, Projections: ['size', 'kind'] }))).toEqual({ events: ['size', 'kind'] })
    expect(columnsOf(scan({ ...base, Projections: 'size' }))).toEqual({ events: ['size'] })
    expect(columnsOf(scan({ ...base, Projections: '' }))).toEqual({ events: [] })
    const two = [scan({ ...base, Projections: 'size' }), scan({ ...base, Projections: 'file' })]
    expect(columnsOf(two)).toEqual({ events: ['size', 'file'] })
  })

  test.each([
    ['a column that there is not', { Projections: ['size', 'sizes'] }],
    ['a part of a column', { Projections: ['size.low'] }],
    ['a number', { Projections: [3] }],
    ['none', {}],
    ['a filter in the scan', { Projections: ['size'], Filters: 'kind = 3' }],
  ])('are all columns of a table with %s', (_, info) => {
    const clear = scan({ Table: 'memory.main.events', Projections: 'size' })
    const other = scan({ Table: 'blocks', Projections: 'site' })
    const unclear = scan({ Table: 'memory.main.events', ...info })
    for (const plan of [
      [clear, unclear, other],
      [unclear, clear, other],
    ])
      expect(columnsOf(plan)).toEqual({ events: ['file', 'size', 'kind'], blocks: ['site'] })
  })

  test('are not known where the plan is none', () => {
    for (const plan of [undefined, null, 'SEQ_SCAN events', 7, [], {}, [[{ extra_info: 'x' }]]])
      expect(columnsOf(plan)).toEqual({})
  })
})

describe('planOf', () => {
  const plain = (wanted: Wanted) => Object.fromEntries([...wanted].map(([table, columns]) => [table, [...columns]]))
  const allOf = (table: TableName) => sqlColumns(table).map(([name]) => name)

  test.each<[query: string, wanted: Partial<Record<TableName, string[]>>, rows: unknown[][] | undefined]>([
    ['select count(*), sum(size) from EVENTS', { events: ['size'] }, [[111n, 207_499n]]],
    ['select size, birth from Blocks order by size desc limit 1', { blocks: ['size', 'birth'] }, [[72_704n, 7n]]],
    ['select max(birth) from (select * from Blocks order by size limit 2)', { blocks: ['birth', 'size'] }, [[60n]]],
    ['select * from Events order by size desc limit 2', { events: allOf('events') }, undefined],
    [
      'select address, size from events order by size desc limit 1 offset 1',
      { events: ['address', 'size'] },
      [[0x2072_9410n, 72_704n]],
    ],
    ['select count(*) from (select * from "Events" limit 3 offset 1)', { events: [] }, [[3n]]],
    ['select count(*) from EVENTS using sample 100%', { events: allOf('events') }, [[111n]]],
    ['select count(*) from Events using sample 10%', { events: allOf('events') }, undefined],
    [`select count(*) from query_table('Events')`, { events: [] }, [[111n]]],
  ])('%s', async (query, wanted, rows) => {
    const folder = scratch()
    const connection = await openDatabase(folder)
    const pathOf = (table: string) => join(folder, `${table}.parquet`)
    const found = await planOf(connection, query, folder)
    expect(plain(found)).toEqual(wanted)
    await writeTables({ paths: [TRACE], inputOf: traceInput }, found, pathOf, () => {})
    await fillTables(connection, found, pathOf)
    const result = await connection.runAndReadAll(query)
    if (rows !== undefined) expect(result.getRows()).toEqual(rows)
    connection.closeSync()
  })

  test('wants the columns of the plan, and all columns without one', async () => {
    const folder = scratch()
    const connection = await openDatabase(folder)
    const query = 'select sum(size) from blocks where temporary = 1'
    expect(plain(await planOf(connection, query, folder))).toEqual({ blocks: ['temporary', 'size'] })
    const all = { blocks: allOf('blocks') }
    const { runAndReadAll } = connection
    connection.runAndReadAll = () => Promise.reject(new Error('there is no such plan'))
    expect(plain(await planOf(connection, query, folder))).toEqual(all)
    expect(plain(await planOf(connection, query.replace('blocks', 'Blocks'), folder))).toEqual(all)
    connection.runAndReadAll = async () => runAndReadAll.call(connection, `select 'plan', 'SCAN blocks'`)
    expect(plain(await planOf(connection, query, folder))).toEqual(all)
    connection.closeSync()
  })

  test('a column or table that was wanted wrongly not to be is an error, and not null or empty', async () => {
    const folder = scratch()
    const connection = await openDatabase(folder)
    const wanted: Wanted = new Map([['blocks', new Set(['size'])]])
    const pathOf = (table: string) => join(folder, `${table}.parquet`)
    await writeTables({ paths: [TRACE], inputOf: traceInput }, wanted, pathOf, () => {})
    await fillTables(connection, wanted, pathOf)
    expect((await connection.runAndReadAll('select count(size) from blocks')).getRows()).toEqual([[55n]])
    for (const query of ['select count(site) from blocks', 'select size from blocks where function is null'])
      await expect(connection.runAndReadAll(query)).rejects.toThrow('the plan of DuckDB did not name the column')
    for (const query of ['select count(*) from events', 'from Events', 'select count(b.size) from blocks b, Events'])
      await expect(connection.runAndReadAll(query)).rejects.toThrow('the plan of DuckDB did not name the table events')
    connection.closeSync()
  })
})
