import { closeSync, openSync, readdirSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { MAX_TEXTS } from '../../../lib/codec/event-rows.js'
import { batchesOf, EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { FieldBit, KINDS } from '../../../lib/event/fields.js'
import { ParquetEncoder } from '../../../lib/formats/parquet/encode.js'
import { readIndex } from '../../../lib/formats/parquet/index-read.js'
import {
  MAGIC,
  MAX_COLUMNS,
  MAX_FRAMES,
  MAX_HELD,
  MAX_INDEX,
  MAX_TEXT,
  MAX_TRACES,
} from '../../../lib/formats/parquet/layout.js'
import { i32, i64, list, struct, text, thrift, varint, type ThriftNode } from '../../../lib/formats/parquet/thrift.js'
import { readParquet } from '../../../lib/streams/io/parquet-file.js'
import { scratch } from '../../support/commands.js'
import { drive, encodeAll } from '../../support/drive.js'
import { readEvents } from './support.js'

const [PLAIN, RLE, INDEXED] = [0, 3, 8]
const [GZIP, LZ4] = [2, 7]

interface Page {
  readonly kind: number
  readonly count: number
  readonly bytes: Uint8Array
  readonly encoding?: number
  readonly inflated?: number
}

interface Column {
  readonly schema: readonly ThriftNode[]
  readonly path: readonly string[]
  readonly pages: readonly Page[]
  readonly values: number
  readonly codec?: number
}

/** Bytes of a string with its length before it. */
const plain = (...values: string[]) =>
  Buffer.concat(values.flatMap((value) => [Buffer.from(Uint32Array.of(value.length).buffer), Buffer.from(value)]))

const KINDS_PAGE: Page = { kind: 2, count: 1, bytes: plain('free') }
/** A run of one value, for numbers of up to 8 bits. */
const run = (count: number, value = 0) => Buffer.concat([varint(2 * count), Uint8Array.of(value)])
const levels = (bytes: Uint8Array) => Buffer.concat([Buffer.from(Uint32Array.of(bytes.length).buffer), bytes])

/** A column of kinds that has `rows` times the same one. */
const kinds = (rows: number, change: Partial<Column> = {}): Column => ({
  schema: [struct({ 1: i32(6), 3: i32(0), 4: text('kind'), 6: i32(0) })],
  path: ['kind'],
  values: rows,
  pages: [KINDS_PAGE, { kind: 0, count: rows, encoding: INDEXED, bytes: Buffer.concat([Uint8Array.of(1), run(rows)]) }],
  ...change,
})

/** A file with one row group. */
function fileOf(rows: number, columns: readonly Column[], keys: Record<string, string> = {}): Uint8Array {
  const parts: Uint8Array[] = [MAGIC]
  let at = MAGIC.length
  const chunks = columns.map(({ pages, path, values, codec = 0 }) => {
    const from = at
    let dataAt = at
    for (const { kind, count, bytes, encoding = PLAIN, inflated = bytes.length } of pages) {
      const head = struct({ 1: i32(count), 2: i32(encoding), 3: i32(RLE), 4: i32(RLE) })
      const written = thrift(
        struct({ 1: i32(kind), 2: i32(inflated), 3: i32(bytes.length), ...(kind === 2 ? { 7: head } : { 5: head }) }),
      )
      if (kind === 2) dataAt = at + written.length + bytes.length
      parts.push(written, bytes)
      at += written.length + bytes.length
    }
    const metadata = struct({
      1: i32(6),
      3: list(path.map(text)),
      4: i32(codec),
      5: i64(values),
      6: i64(at - from),
      7: i64(at - from),
      9: i64(dataAt),
      11: dataAt > from ? i64(from) : undefined,
    })
    return struct({ 2: i64(from), 3: metadata })
  })
  const schema = [struct({ 4: text('schema'), 5: i32(columns.length) }), ...columns.flatMap((column) => column.schema)]
  const group = struct({ 1: list(chunks), 2: i64(at), 3: i64(rows) })
  const pairs = Object.entries(keys).map(([key, value]) => struct({ 1: text(key), 2: text(value) }))
  const footer = thrift(struct({ 1: i32(1), 2: list(schema), 3: i64(rows), 4: list([group]), 5: list(pairs) }))
  return Buffer.concat([...parts, footer, Buffer.from(Uint32Array.of(footer.length).buffer), MAGIC])
}

function write(bytes: Uint8Array): string {
  const path = join(scratch(), 't.parquet')
  writeFileSync(path, bytes)
  return path
}

const read = (bytes: Uint8Array) => readEvents(write(bytes))

/** A column `stack` whose only row has a number of frames, all of them the same one. */
const stack = (frames: number): Column => ({
  schema: [
    struct({ 3: i32(0), 4: text('stack'), 5: i32(1), 6: i32(3) }),
    struct({ 3: i32(2), 4: text('list'), 5: i32(1) }),
    struct({ 1: i32(6), 3: i32(0), 4: text('element'), 6: i32(0) }),
  ],
  path: ['stack', 'list', 'element'],
  values: frames,
  pages: [
    { kind: 2, count: 1, bytes: plain('main') },
    {
      kind: 0,
      count: frames,
      encoding: INDEXED,
      bytes: Buffer.concat([
        levels(Buffer.concat([run(1, 0), run(frames - 1, 1)])),
        levels(run(frames, 1)),
        Uint8Array.of(1),
        run(frames),
      ]),
    },
  ],
})

describe('counts that the bytes do not have', () => {
  test.each<[string, Column]>([
    [
      'a page has more values than its column',
      kinds(5, { pages: [KINDS_PAGE, { kind: 0, count: 2 ** 31 - 1, encoding: INDEXED, bytes: run(5) }] }),
    ],
    ['values in a row group of 5 rows', kinds(5, { values: 2 ** 40 })],
    ['a dictionary has fewer values than it says', kinds(5, { pages: [{ ...KINDS_PAGE, count: 2 ** 24 }] })],
    ['a page of more than', kinds(5, { pages: [{ ...KINDS_PAGE, count: 2 ** 31 - 1 }] })],
    ['a page has no number of values', kinds(5, { pages: [{ ...KINDS_PAGE, count: -1 }] })],
    ['it has fewer values than it says', kinds(5, { pages: [KINDS_PAGE] })],
    ['a dictionary is missing', kinds(5, { pages: kinds(5).pages.slice(1) })],
    ['pages of more than', kinds(5, { codec: GZIP, pages: [{ ...KINDS_PAGE, inflated: MAX_HELD + 1 }] })],
    [
      'corrupt',
      kinds(5, { codec: GZIP, pages: [{ ...KINDS_PAGE, bytes: gzipSync(new Uint8Array(1e6)), inflated: 999_999 }] }),
    ],
    ['corrupt', kinds(5, { codec: LZ4, pages: [{ ...KINDS_PAGE, inflated: MAX_HELD }] })],
  ])('%s', async (message, column) => {
    const { error, events } = await read(fileOf(5, [column]))
    expect(error?.message).toContain(message)
    expect([error?.event, events.length]).toEqual([1, 0])
  })

  test('a schema that has more or fewer columns than it says', async () => {
    const column = kinds(5)
    const missing = { ...column, schema: [struct({ 3: i32(0), 4: text('kind'), 5: i32(2 ** 31 - 1) })] }
    expect((await read(fileOf(5, [missing]))).error?.message).toContain('the schema has fewer columns than it says')
    const more = { ...column, schema: [...column.schema, ...column.schema] }
    expect((await read(fileOf(5, [more]))).error?.message).toContain('the schema has more columns than it says')
  })

  test('events before a fault within a page are given out, with its number', async () => {
    const bytes = plain('free', 'alloc', 'allox', 'free')
    const column = kinds(4, { pages: [{ kind: 0, count: 4, bytes }] })
    const { error, events } = await read(fileOf(4, [column]))
    expect(events.map(({ kind }) => kind)).toEqual(['free', 'alloc'])
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 3 })
    expect(error?.message).toContain('column kind: unknown kind of event "allox"')
  })
})

describe('a run of a number that has more bits than the others', () => {
  /** A column `size` whose only row has a definition level, and that number of values. */
  const size = (level: number): Column => {
    const values = Buffer.from(new BigUint64Array(level).fill(7n).buffer)
    return {
      schema: [struct({ 1: i32(2), 3: i32(1), 4: text('size') })],
      path: ['size'],
      values: 1,
      pages: [{ kind: 0, count: 1, bytes: Buffer.concat([levels(run(1, level)), values]) }],
    }
  }

  test('as a level, it gives an event no field', async () => {
    expect((await read(fileOf(1, [kinds(1), size(1)]))).events).toEqual([{ kind: 'free', size: 7n }])
    for (const level of [2, 5, 255]) {
      const { error, events } = await read(fileOf(1, [kinds(1), size(level)]))
      expect(error?.message).toContain('column size: a page has a number of more than 1 bit')
      expect([error?.event, events.length]).toEqual([1, 0])
    }
  })
})

describe('limits', () => {
  test('of the list of traces', async () => {
    const list = (length: number) => {
      const [before, after] = ['[[0,{"format":"', '"}]]']
      return before + 'x'.repeat(length - before.length - after.length) + after
    }
    const file = (length: number) => fileOf(1, [kinds(1)], { 'heapflow:traces': list(length) })
    for (const length of [MAX_TRACES - 1, MAX_TRACES]) expect((await read(file(length))).events).toHaveLength(1)
    expect((await read(file(MAX_TRACES + 1))).error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 1 })
  })

  test('of the columns of a schema', { tags: ['slow'] }, async () => {
    const other = struct({ 1: i32(1), 3: i32(0), 4: text('x'), 5: i32(0) })
    // The root and the column of kinds are elements too.
    const file = (columns: number) => {
      const others = Array.from({ length: columns - 2 }, (): Column => {
        return { schema: [other], path: ['x'], pages: [], values: 1 }
      })
      return fileOf(1, [kinds(1), ...others])
    }
    for (const columns of [MAX_COLUMNS - 1, MAX_COLUMNS]) expect((await read(file(columns))).events).toHaveLength(1)
    expect((await read(file(MAX_COLUMNS + 1))).error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 1 })
  })

  test('of the frames of a stack', { tags: ['slow'] }, async () => {
    for (const frames of [MAX_FRAMES - 1, MAX_FRAMES])
      expect((await read(fileOf(1, [kinds(1), stack(frames)]))).events[0]?.stack).toHaveLength(frames)
    const { error } = await read(fileOf(1, [kinds(1), stack(MAX_FRAMES + 1)]))
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 1 })
  })

  test('of a string', async () => {
    const column = (length: number): Column => ({
      schema: [struct({ 1: i32(6), 3: i32(0), 4: text('function'), 6: i32(0) })],
      path: ['function'],
      values: 1,
      pages: [{ kind: 0, count: 1, bytes: plain('f'.repeat(length)) }],
    })
    const file = (length: number) => fileOf(1, [kinds(1), column(length)])
    for (const length of [4_194_303, 4_194_304])
      expect((await read(file(length))).events[0]?.function).toHaveLength(length)
    expect((await read(file(4_194_305))).error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 1 })
  })
})

test(
  'events that share a long stack are written in row groups that are not much in memory',
  { tags: ['slow'] },
  async () => {
    const [count, depth] = [60, 200_000]
    const batch = new EventBatch(count, FieldBit.stack, { format: 'x' })
    const frame = batch.strings.internText('main')
    const list = batch.strings.addList(new Uint32Array(depth).fill(frame))
    batch.mask.fill(FieldBit.stack)
    batch.stack.fill(list)
    batch.count = count
    const bytes = encodeAll(new ParquetEncoder({ codec: 'none' }), [batch])
    const index = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 8, true)
    const groups = [...readIndex(bytes.subarray(bytes.length - 8 - index, bytes.length - 8)).groups()]
    for (const { chunks } of groups) for (const { values } of chunks) expect(values).toBeLessThan(4_000_000)
    let read = 0
    for await (const { count: rows, strings, stack: lists } of readParquet(write(bytes), () => {})) {
      for (let i = 0; i < rows; i++) expect(strings.listView(lists[i]).length).toBe(depth)
      read += rows
    }
    expect(read).toBe(count)
  },
)

test('what is written is read, up to the limit of the strings of an event', { tags: ['large'] }, async () => {
  const ascii = (i: number, length: number) => String(i).padEnd(length, 'x')
  const names = (bytes: number) => {
    const whole = Array.from({ length: Math.floor(bytes / MAX_TEXT) }, (_, i) => ascii(i, MAX_TEXT))
    return bytes % MAX_TEXT === 0 ? whole : [...whole, ascii(whole.length, bytes % MAX_TEXT)]
  }
  const events = (bytes: number): TraceEvent[] => [
    { kind: 'free', address: 1n },
    { kind: 'alloc', stack: names(bytes) },
  ]
  for (const bytes of [MAX_TEXTS - 1, MAX_TEXTS])
    expect(await rowsBack(batchesOf(events(bytes), { format: 'x' }))).toEqual({ rows: 2 })
  expect(await rowsBack(batchesOf(events(MAX_TEXTS + 1), { format: 'x' }))).toMatchObject({
    rows: 1,
    error: { code: 'ERR_TRACE_LIMIT', format: 'parquet', event: 2 },
    readError: { code: 'ERR_TRACE_TRUNCATED' },
  })
  // Together they are more than a reader takes.
  const many = Array.from({ length: 70 }, (_, i): TraceEvent => ({ kind: 'comment', text: ascii(i, MAX_TEXT) }))
  expect(await rowsBack(batchesOf(many, { format: 'x' }))).toEqual({ rows: 70 })
})

/** What the encoder gives for batches, and what is read of it, without the events. */
async function rowsBack(batches: Iterable<EventBatch>) {
  const encoder = new ParquetEncoder({ codec: 'none' })
  const { out, error } = drive(encoder, batches)
  const path = write(Buffer.concat(out))
  let rows = 0
  try {
    for await (const { count } of readParquet(path, () => {})) rows += count
    return { rows, error }
  } catch (readError) {
    return { rows, error, readError }
  }
}

test('more traces than a reader takes are refused when they are written', () => {
  const header = { format: 'x'.repeat(1000) }
  const encoder = new ParquetEncoder()
  const few = Array.from({ length: 4000 }, () => new EventBatch(0, 0, { ...header }))
  expect(drive(encoder, few).error).toBeUndefined()
  const { error } = drive(new ParquetEncoder(), [...few, ...few])
  expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', format: 'parquet', event: 1 })
})

test('the list of traces may be as long as readers take', { tags: ['slow'] }, async () => {
  const listOf = (length: number) => {
    const traces = [{ format: 'x' }, { format: 'y'.repeat(length - '[[0,{"format":"x"}],[1,{"format":""}]]'.length) }]
    return traces.flatMap((header) => batchesOf([{ kind: 'free', address: 1n }], header))
  }
  for (const length of [MAX_TRACES - 1, MAX_TRACES]) expect(await rowsBack(listOf(length))).toEqual({ rows: 2 })
  expect(await rowsBack(listOf(MAX_TRACES + 1))).toMatchObject({
    rows: 1,
    error: { code: 'ERR_TRACE_LIMIT', event: 2 },
    readError: { code: 'ERR_TRACE_TRUNCATED' },
  })
})

test('an index has a limit, and is not read beyond it', { tags: ['slow'] }, async () => {
  for (const length of [MAX_INDEX, MAX_INDEX + 1]) {
    const path = write(Buffer.from(MAGIC))
    // The rest takes no room on the disk.
    const size = MAX_INDEX + 100
    truncateSync(path, size)
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.concat([Buffer.from(Uint32Array.of(length).buffer), MAGIC]), 0, 8, size - 8)
    closeSync(file)
    const before = process.memoryUsage().arrayBuffers
    const { error } = await readEvents(path)
    const code = length > MAX_INDEX ? 'ERR_TRACE_LIMIT' : 'ERR_TRACE_MALFORMED'
    expect(error).toMatchObject({ code, format: 'parquet', offset: size - 8 - length, event: 1 })
    if (length > MAX_INDEX) expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000)
  }
})

test('very many rows of few bytes take no memory', { tags: ['slow'] }, async () => {
  const rows = 20_000_000
  const path = write(fileOf(rows, [kinds(rows)]))
  let count = 0
  const before = process.memoryUsage.rss()
  let most = before
  for await (const batch of readParquet(path, () => {})) {
    expect(batch.count === 0 || batch.kind[0] === KINDS.indexOf('free')).toBe(true)
    count += batch.count
    if (count % 1_048_576 === 0) most = Math.max(most, process.memoryUsage.rss())
    batch.recycle()
  }
  expect(count).toBe(rows)
  expect(most - before).toBeLessThan(100_000_000)
})

test.runIf(process.platform === 'linux')('the file is closed, however reading ends', async () => {
  const path = write(fileOf(20_000, [kinds(20_000)]))
  const bad = write(fileOf(5, [kinds(5, { values: 6 })]))
  const open = () => readdirSync('/proc/self/fd').length
  const before = open()
  for (let i = 0; i < 20; i++) {
    for await (const batch of readParquet(path, () => {})) if (batch.count > 0) break
    expect((await readEvents(bad)).error).toBeDefined()
    await readEvents(path)
  }
  expect(open()).toBe(before)
})
