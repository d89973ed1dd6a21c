import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fillTables, openDatabase, planOf } from '../../../lib/cli/sql/database.js'
import { writeTables, type Wanted } from '../../../lib/cli/sql/feed.js'
import { scannedColumns } from '../../../lib/cli/sql/plan.js'
import { sqlColumns } from '../../../lib/cli/sql/tables.js'
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
  ])('are not known with %s', (_, info) => {
    const clear = scan({ Table: 'memory.main.events', Projections: 'size' })
    const other = scan({ Table: 'blocks', Projections: 'site' })
    expect(columnsOf([clear, scan({ Table: 'memory.main.events', ...info }), other])).toEqual({ blocks: ['site'] })
  })

  test('are not known where the plan is none', () => {
    for (const plan of [undefined, null, 'SEQ_SCAN events', 7, [], {}, [[{ extra_info: 'x' }]]])
      expect(columnsOf(plan)).toEqual({})
  })
})

describe('planOf', () => {
  const plain = (wanted: Wanted) => Object.fromEntries([...wanted].map(([table, columns]) => [table, [...columns]]))

  test('wants the columns of the plan, and all columns without one', async () => {
    const connection = await openDatabase(scratch())
    const query = 'select sum(size) from blocks where temporary = 1'
    expect(plain(await planOf(connection, query))).toEqual({ blocks: ['temporary', 'size'] })
    const all = { blocks: sqlColumns('blocks').map(([name]) => name) }
    const { runAndReadAll } = connection
    connection.runAndReadAll = () => Promise.reject(new Error('there is no such plan'))
    expect(plain(await planOf(connection, query))).toEqual(all)
    connection.runAndReadAll = async () => runAndReadAll.call(connection, `select 'plan', 'SCAN blocks'`)
    expect(plain(await planOf(connection, query))).toEqual(all)
    connection.closeSync()
  })

  test('a column that was wanted wrongly not to be is an error, and not null', async () => {
    const folder = scratch()
    const connection = await openDatabase(folder)
    const wanted: Wanted = new Map([['blocks', new Set(['size'])]])
    const pathOf = (table: string) => join(folder, `${table}.parquet`)
    await writeTables([TRACE], wanted, pathOf, () => {})
    await fillTables(connection, wanted, pathOf)
    expect((await connection.runAndReadAll('select count(size) from blocks')).getRows()).toEqual([[55n]])
    for (const query of ['select count(site) from blocks', 'select size from blocks where function is null'])
      await expect(connection.runAndReadAll(query)).rejects.toThrow('the plan of DuckDB did not name the column')
    connection.closeSync()
  })
})
