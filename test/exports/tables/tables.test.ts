import { tableFromIPC, type Vector } from 'apache-arrow'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, test, vi } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { BlockEncoder } from '../../../lib/exports/tables/block-encoder.js'
import { TABLE_FORMATS, type TableFormatName } from '../../../lib/exports/tables/formats.js'
import { tableWriter } from '../../../lib/exports/tables/index.js'
import { StackEncoder } from '../../../lib/exports/tables/stack-encoder.js'
import { BlockTable } from '../../../lib/transforms/block-table/block-table.js'
import { BLOCK_COLUMNS, blockColumns, type BlockRow } from '../../../lib/transforms/block-table/columns.js'
import { STACK_COLUMNS } from '../../../lib/transforms/block-table/stack-numbers.js'
import { blockRows } from '../../support/block-rows.js'
import { inBatches } from '../../transforms/events.js'

const MOST = 2n ** 64n - 1n
const EVENTS: TraceEvent[] = [
  {
    kind: 'alloc',
    address: 0xffff_8880_0000_0000n,
    size: MOST,
    thread: MOST,
    time: 3n,
    api: 'new',
    function: 'a,"b"\n',
  },
  { kind: 'alloc', address: 0x2000n, size: 1n, stack: ['ké', 'main'], module: '\udcff', line: 4_294_967_295 },
  { kind: 'alloc', address: 0x3000n, size: 2n, stack: [], type: '' },
  { kind: 'free', address: 0xffff_8880_0000_0000n, time: 9n, thread: 5n, api: 'delete' },
  ...Array.from({ length: 4200 }, (_, i): TraceEvent => ({
    kind: 'alloc',
    address: BigInt(i + 1) << 20n,
    size: BigInt(i),
  })),
]
const BATCHES = inBatches(EVENTS, 1000, { format: 'test', timeUnit: 'us' })

const ROWS = blockRows(BATCHES)

async function written(format: TableFormatName, isTruncated = false): Promise<Uint8Array> {
  const encoder = new BlockEncoder(await tableWriter(format, BLOCK_COLUMNS), {}, true)
  const pieces: Uint8Array[] = []
  const take = () => {
    for (let piece = encoder.next(); piece !== null; piece = encoder.next()) pieces.push(piece.slice())
  }
  for (const batch of BATCHES) {
    encoder.feed(batch)
    take()
  }
  if (isTruncated) encoder.endTruncated()
  else encoder.end()
  take()
  return Buffer.concat(pieces)
}

/** A row as other programs read it: all values, null for none; a byte that is not UTF-8 as its escape. */
const complete = (row: BlockRow) =>
  Object.fromEntries(
    BLOCK_COLUMNS.map(({ name }) => {
      const value = row[name as keyof BlockRow]
      return [name, typeof value === 'string' ? value.replace('\udcff', '\u{10feff}') : (value ?? null)]
    }),
  )

test('the rows of the test', () => {
  expect(ROWS).toHaveLength(4203)
  expect(ROWS[0]).toMatchObject({ birth: 1n, until: 4n, size: MOST, endApi: 'delete', lifetime: 6n, timeUnit: 'us' })
})

test('the table ends as the trace does', async () => {
  const end = vi.spyOn(BlockTable.prototype, 'end')
  const endTruncated = vi.spyOn(BlockTable.prototype, 'endTruncated')
  const calls = () => [end.mock.calls.length, endTruncated.mock.calls.length]
  await written('csv')
  expect(calls()).toEqual([1, 0])
  await written('csv', true)
  expect(calls()).toEqual([1, 1])
  vi.restoreAllMocks()
})

test('Arrow has all rows', async () => {
  const table = tableFromIPC(await written('arrow'))
  expect(table.schema.fields.map(({ name }) => name)).toEqual(BLOCK_COLUMNS.map(({ name }) => name))
  const found = [...table].map((row) =>
    Object.fromEntries(
      Object.entries(row.toJSON() as Record<string, unknown>).map(([name, value]) => [
        name,
        name === 'stack' && value !== null ? [...(value as Vector)] : value,
      ]),
    ),
  )
  expect(found).toEqual(ROWS.map(complete))
})

test('Parquet has all rows', { tags: ['slow'] }, async () => {
  const bytes = await written('parquet')
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
  const found = await parquetReadObjects({ file })
  expect(found).toHaveLength(ROWS.length)
  found.forEach((row, i) => expect({ ...row, stack: row['stack'] ?? null }).toEqual(complete(ROWS[i])))
})

test('lines of JSON have all rows', { tags: ['slow'] }, async () => {
  const lines = Buffer.from(await written('ndjson'))
    .toString()
    .trimEnd()
    .split('\n')
  expect(lines).toHaveLength(ROWS.length)
  expect(lines[0]).toBe(
    '{"trace":1,"birth":1,"since":1,"until":4,"ending":"free","thread":18446744073709551615,"endThread":5,"api":"new",' +
      '"endApi":"delete","address":"0xffff888000000000","firstSize":18446744073709551615,"size":18446744073709551615,' +
      '"reallocs":0,"time":3,"sinceTime":3,"endTime":9,"timeUnit":"us","lifetimeEvents":3,"lifetimeBytes":3,' +
      String.raw`"lifetime":6,"temporary":0,"temporaryMemray":0,"peakEvent":3,"peakSize":18446744073709551615,` +
      String.raw`"site":"a,\"b\"\n","frame":"a,\"b\"\n","function":"a,\"b\"\n"}`,
  )
  lines.forEach((line, i) => {
    const row = JSON.parse(line) as Record<string, unknown>
    expect(Object.keys(row)).toEqual(Object.keys(ROWS[i]))
    if (i > 0)
      for (const [name, value] of Object.entries(ROWS[i]))
        expect(row[name]).toEqual(
          name === 'address'
            ? `0x${(value as bigint).toString(16)}`
            : typeof value === 'bigint'
              ? Number(value)
              : value,
        )
  })
})

test('CSV has all rows', async () => {
  const text = Buffer.from(await written('csv')).toString('latin1')
  const [head, first] = text.split('\n')
  expect(head?.split(',')).toEqual(BLOCK_COLUMNS.map(({ name }) => name))
  expect(first).toBe(
    '1,1,1,4,free,,18446744073709551615,5,new,delete,0xffff888000000000,18446744073709551615,18446744073709551615,0,' +
      '3,3,9,us,3,3,6,0,0,3,18446744073709551615,"a,""b""',
  )
  const [site, frame] = ['ké < main', 'ké'].map((one) => Buffer.from(one).toString('latin1'))
  expect(text).toContain(`${site},${frame},${site},,,4294967295,\xff,,,1\n`)
  // An empty string is not the same as none.
  expect(text).toContain(',,,"",,,,,,"",2\n')
})

async function writtenStacks(format: TableFormatName): Promise<Buffer> {
  const encoder = new StackEncoder(await tableWriter(format, STACK_COLUMNS))
  const pieces: Uint8Array[] = []
  for (const batch of BATCHES) {
    encoder.feed(batch)
    expect(encoder.next()).toBeNull()
  }
  encoder.end()
  for (let piece = encoder.next(); piece !== null; piece = encoder.next()) pieces.push(piece)
  return Buffer.concat(pieces)
}

test('the table of stacks has each once, in all formats', async () => {
  const rows = [
    { stackId: 1, stack: ['ké', 'main'] },
    { stackId: 2, stack: [] },
  ]
  expect((await writtenStacks('csv')).toString()).toBe('stackId,stack\n1,ké < main\n2,""\n')
  expect((await writtenStacks('ndjson')).toString()).toBe(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const arrow = [...tableFromIPC(await writtenStacks('arrow'))].map((row) => row.toJSON())
  expect(arrow.map(({ stackId, stack }) => ({ stackId, stack: [...(stack as Vector)] }))).toEqual(rows)
  const { buffer } = Uint8Array.from(await writtenStacks('parquet'))
  expect(await parquetReadObjects({ file: buffer })).toEqual(rows)
})

test('without whole stacks, rows have their numbers', () => {
  expect(blockColumns(true)).toBe(BLOCK_COLUMNS)
  const lean = blockColumns(false).map(({ name }) => name)
  expect(BLOCK_COLUMNS.map(({ name }) => name).filter((name) => !lean.includes(name))).toEqual(['site', 'stack'])
})

test('a truncated trace leaves out the end where readers do without', async () => {
  const [whole, truncated] = [await written('arrow'), await written('arrow', true)]
  expect(truncated.length).toBe(whole.length - 8)
  // Without its index, no one could read it.
  const { row_groups: groups, key_value_metadata: keys } = parquetMetadata(
    Uint8Array.from(await written('parquet', true)).buffer,
  )
  expect(groups.map(({ num_rows: rows }) => Number(rows))).toEqual([ROWS.length])
  expect(keys).toEqual([{ key: 'heapflow:truncated', value: 'true' }])
  expect(Buffer.compare(await written('ndjson', true), await written('ndjson'))).toBe(0)
})

test('the formats', async () => {
  for (const { name } of TABLE_FORMATS) expect((await written(name)).length).toBeGreaterThan(0)
  await expect(tableWriter('xml' as never, BLOCK_COLUMNS)).rejects.toThrow('unknown format of tables "xml"')
})

test('fields of groups have no columns, and a warning says so', async () => {
  const warningsOf = async (more: object) => {
    const encoder = new BlockEncoder(await tableWriter('ndjson', blockColumns(false)), {}, false)
    const event: TraceEvent = { kind: 'alloc', address: 16n, size: 1n }
    for (const batch of inBatches([event, { ...event, ...more }], 1, { format: 'test' })) encoder.feed(batch)
    encoder.end()
    return encoder.warnings
  }
  expect(await warningsOf({})).toEqual([])
  expect(await warningsOf({ weight: 2n, arena: 'main' })).toEqual([
    'events have weight, arena, for which blocks have no columns: events of hf-sql have them',
  ])
})
