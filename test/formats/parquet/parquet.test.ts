// @module-tag slow
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { parquetMetadata, snappyUncompress } from 'hyparquet'
import { describe, expect, test } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { TraceError } from '../../../lib/event/error.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { NdjsonDecoder } from '../../../lib/formats/ndjson/decode.js'
import { ParquetEncoder, type ParquetEncodeOptions } from '../../../lib/formats/parquet/encode.js'
import { parquet } from '../../../lib/formats/parquet/index.js'
import { GROUP_ROWS, MAGIC, MAX_TEXT } from '../../../lib/formats/parquet/layout.js'
import { hybrid } from '../../../lib/formats/parquet/levels.js'
import { readPageHead } from '../../../lib/formats/parquet/page-head.js'
import { snappy } from '../../../lib/formats/parquet/snappy.js'
import { i32, i64, list, struct, text, thrift, varint } from '../../../lib/formats/parquet/thrift.js'
import { scratch, shell } from '../../support/commands.js'
import { decodeAll, drive, encodeAll } from '../../support/drive.js'
import { anyEvent } from '../../support/random-event.js'
import { runs, someOf } from '../../support/runs.js'
import { readEvents, type Found } from './support.js'

const golden = readFileSync(new URL('../arrow/foreign/events.ndjson', import.meta.url))
const { events, headers } = decodeAll(new NdjsonDecoder(), new Uint8Array(golden))
const HEADER = headers[0] as TraceHeader

const encode = (batches: Iterable<EventBatch>, options?: ParquetEncodeOptions) =>
  encodeAll(new ParquetEncoder(options), batches)

/** What a file holds. */
async function read(bytes: Uint8Array, path = join(scratch(), 't.parquet')): Promise<Found> {
  writeFileSync(path, bytes)
  return readEvents(path)
}

describe('files', () => {
  test('do not depend on what the consumer does with the bytes of another file', () => {
    const batches = [...batchesOf(events, HEADER)]
    const file = encode(batches)
    const { out } = drive(new ParquetEncoder(), batches)
    for (const chunk of out) chunk.fill(0)
    expect(encode(batches)).toEqual(file)
  })

  test.each(['snappy', 'none'] as const)('come back with all traces, compressed with %s', async (codec) => {
    const other = { format: 'replay', timeUnit: 'us' } as const
    const last = { format: 'hatf', filtered: true } as const
    const batches = [...batchesOf(events, HEADER), ...batchesOf([], other), ...batchesOf(events.slice(0, 2), last)]
    const found = await read(encode(batches, { codec }))
    expect(found).toEqual({ events: [...events, ...events.slice(0, 2)], headers: [HEADER, other, last], warnings: [] })
  })

  test('have the longest string that is read, and end before a longer one', async () => {
    const comment = (text: string): TraceEvent => ({ kind: 'comment', text })
    const longest = [comment('a'), comment('x'.repeat(MAX_TEXT))]
    expect((await read(encode(batchesOf(longest, HEADER)))).events).toEqual(longest)
    const { out, error } = drive(
      new ParquetEncoder(),
      batchesOf([...longest, comment('y'.repeat(MAX_TEXT + 1))], HEADER),
    )
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', format: 'parquet', event: 3 })
    const found = await read(new Uint8Array(Buffer.concat(out)))
    expect(found.events).toEqual(longest)
    expect(found.error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
  })

  test('with any events come back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(anyEvent, { maxLength: 40 }), { maxLength: 4 }), async (lists) => {
        const batches = lists.flatMap((list) => batchesOf(list, HEADER))
        const found = await read(encode(batches))
        expect(found.error).toBeUndefined()
        expect(found.events).toEqual(lists.flat())
      }),
      { numRuns: 30 },
    )
  })

  test('have several row groups, in which columns appear and names repeat', async () => {
    const many = Array.from({ length: 2 * GROUP_ROWS + 7 }, (_, i): TraceEvent => ({
      kind: i % 3 === 0 ? 'free' : 'alloc',
      address: BigInt(i % 1000) << 40n,
      ...(i % 5 === 0 && { function: `f${i % 11}`, line: i }),
      ...(i > GROUP_ROWS && { cpu: (i % 4) - 3 }),
      ...(i === 2 * GROUP_ROWS && { stack: ['a', 'b'] }),
    }))
    const found = await read(encode(batchesOf(many, HEADER)))
    expect(found.error).toBeUndefined()
    expect(found.events.length).toBe(many.length)
    for (const i of [0, 5, GROUP_ROWS - 1, GROUP_ROWS, GROUP_ROWS + 1, 2 * GROUP_ROWS, 2 * GROUP_ROWS + 6])
      expect(found.events[i]).toEqual(many[i])
    expect(found.events.filter(({ kind }) => kind === 'free')).toEqual(many.filter(({ kind }) => kind === 'free'))
  })

  test('of other writers may give 0 as the place of a dictionary that there is not', async () => {
    const file = Buffer.from(encode(batchesOf(events, HEADER)))
    const end = file.length - 8
    const footer = file.subarray(end - file.readUInt32LE(end), end)
    // In the metadata of a column, the number of the first data page (field 9) and the statistics (12), without 11.
    const { row_groups: groups } = parquetMetadata(file.buffer.slice(file.byteOffset, file.byteOffset + file.length))
    const plain = groups[0]?.columns.filter(({ meta_data: column }) => column?.dictionary_page_offset === undefined)
    expect(plain?.length).toBeGreaterThan(1)
    let patched = footer
    for (const { meta_data: column } of plain ?? []) {
      const field = Buffer.concat([Uint8Array.of(0x26), varint(2 * Number(column?.data_page_offset))])
      const at = patched.indexOf(Buffer.concat([field, Uint8Array.of(0x3c)]))
      expect(at).toBeGreaterThan(0)
      const after = at + field.length
      // Field 11 with the value 0, and the statistics as the next field.
      patched = Buffer.concat([patched.subarray(0, after), Uint8Array.of(0x26, 0, 0x1c), patched.subarray(after + 1)])
    }
    const tail = Buffer.from(file.subarray(end))
    tail.writeUInt32LE(patched.length)
    const found = await read(Buffer.concat([file.subarray(0, end - footer.length), patched, tail]))
    expect(found).toEqual({ events, headers: [HEADER], warnings: [] })
  })

  test('without events or without a header', async () => {
    expect(await read(encode([]))).toEqual({ events: [], headers: [], warnings: [] })
    expect(await read(encode(batchesOf([], HEADER)))).toEqual({ events: [], headers: [HEADER], warnings: [] })
  })

  test('do not depend on how the events are divided into batches', () => {
    const whole = encode(batchesOf(events, HEADER))
    const single = encode(events.flatMap((event) => batchesOf([event], HEADER)))
    expect(Buffer.compare(single, whole)).toBe(0)
  })
})

describe('faults', () => {
  const bytes = encode(batchesOf(events, HEADER))

  test('a file that is cut is truncated', async () => {
    const path = join(scratch(), 't.parquet')
    for (let length = 8; length < bytes.length; length += 97) {
      const { error } = await read(bytes.slice(0, length), path)
      expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', format: 'parquet', event: 1 })
    }
  })

  test('any bit flipped: an error, or other events', async () => {
    const path = join(scratch(), 't.parquet')
    for (const bit of someOf(bytes.length * 8)) {
      if (bit % 7 !== 0) continue
      const flipped = bytes.slice()
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
      const { error, events: found } = await read(flipped, path)
      if (error !== undefined) expect(error).toBeInstanceOf(TraceError)
      if ((error as TraceError | undefined)?.code === 'ERR_TRACE_MALFORMED')
        expect((error as TraceError).offset).toBeLessThan(bytes.length)
      for (const event of found) expect(typeof event.kind).toBe('string')
    }
  })

  test('a schema with a negative number of columns', async () => {
    const bytes = Buffer.from(encode(batchesOf(events, HEADER)))
    // The name of the list of stacks, the head of the next field, and 1, the number of its columns.
    const at = bytes.lastIndexOf(Buffer.from('\x05stack\x15\x02', 'latin1'))
    expect(at).toBeGreaterThan(0)
    bytes[at + 7] = 1
    const { error } = await read(bytes)
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'parquet' })
  })

  test('in the index are reported with its offset', async () => {
    const index = bytes.length - 8 - Buffer.from(bytes).readUInt32LE(bytes.length - 8)
    const place = `parquet: byte ${index}, event 1: malformed: `
    // The type of the first field.
    const damaged = bytes.slice()
    damaged[index] = 0xff
    expect((await read(damaged)).error).toHaveProperty('message', expect.stringContaining(place))
    const long = bytes.slice()
    long.fill(0x7f, -8, -4)
    expect((await read(long)).error).toHaveProperty(
      'message',
      `parquet: byte ${bytes.length - 8}, event 1: malformed: the index is longer than the file`,
    )
  })

  test('a row group without columns', async () => {
    const schema = [
      struct({ 4: text('schema'), 5: i32(1) }),
      struct({ 1: i32(6), 3: i32(0), 4: text('kind'), 6: i32(0) }),
    ]
    const group = struct({ 1: list([]), 2: i64(0), 3: i64(2) })
    const footer = thrift(struct({ 1: i32(1), 2: list(schema), 3: i64(2), 4: list([group]) }))
    const tail = Buffer.alloc(4)
    tail.writeUInt32LE(footer.length)
    const { error } = await read(Buffer.concat([MAGIC, footer, tail, MAGIC]))
    expect(error).toHaveProperty(
      'message',
      'parquet: byte 4, event 1: malformed: row group 1 must have one column kind',
    )
  })

  test('a bit flipped in the data of a page: an error, or no column that is read', async () => {
    const path = join(scratch(), 't.parquet')
    const footer = bytes.length - 8 - new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 8, true)
    let faults = 0
    for (let at = MAGIC.length; at < footer;) {
      const page = readPageHead(bytes, at)
      expect(page.crc).toBe(crc32(bytes.subarray(page.at, page.at + page.length)) | 0)
      for (const bit of someOf(page.length * 8)) {
        const flipped = bytes.slice()
        const i = page.at + (bit >> 3)
        flipped[i] = (flipped[i] as number) ^ (1 << (bit & 7))
        const { error, events: found } = await read(flipped, path)
        if (error === undefined) expect(found).toEqual(events)
        else {
          expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: at, event: 1 })
          expect((error as Error).message).toMatch(/column \w+: a page does not have its checksum/)
          faults++
        }
      }
      at = page.at + page.length
    }
    expect(faults).toBeGreaterThan(100)
  })

  test('the head of a page: any value of other fields is passed over, and any bytes are an error or a head', () => {
    const crc = -2
    // Fields 1 (kind), 2 and 3 (lengths), 4 (CRC), 5 with the count, the encodings, and a struct that has a binary, a
    // list of booleans, a map and a double, and 20.
    const head = [0x15, 0, 0x15, 8, 0x15, 6, 0x15, 3, 0x1c, 0x15, 10, 0x15, 16, 0x15, 6, 0x15, 6]
    head.push(0x1c, 0x18, 2, 7, 7, 0x19, 0x21, 1, 2, 0x1b, 1, 0x58, 4, 1, 9, 0x17)
    head.push(...Array.from({ length: 8 }, () => 1), 0, 0, 0x01, 40, 0, 8, 8, 8)
    const lengths = { at: head.length - 3, length: 3, inflated: 4 }
    const found = readPageHead(Uint8Array.from(head), 0)
    expect(found).toMatchObject({ kind: 0, ...lengths, crc, values: 5, encoding: 8, levels: [3, 3] })
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (random) => {
        try {
          const { at, length } = readPageHead(random, 0)
          expect(at).toBeLessThanOrEqual(random.length)
          expect(length).toBeGreaterThanOrEqual(0)
        } catch (error) {
          expect((error as Error).message).toMatch(/page/)
        }
      }),
      { numRuns: runs(2000) },
    )
  })

  test('are told with the number of the event also where batches are used again', async () => {
    const path = join(scratch(), 't.parquet')
    const trace = new URL('../../fixtures/mtrc/git.mtrc.gz', import.meta.url).pathname
    await shell(`hf-convert ${trace} ${path}`)
    const file = readFileSync(path)
    const middle = file.length >> 1
    file[middle] = (file[middle] as number) ^ 1
    writeFileSync(path, file)
    const { events, error } = JSON.parse((await shell(`hf-verify --json ${path}`)).stdout.toString()) as {
      events: number
      error: string
    }
    expect(events).toBeGreaterThan(60_000)
    expect(error).toContain(`event ${events + 1}: malformed: `)
  })

  test('a pipe is told to be a file', async () => {
    const { error } = drive(parquet.decoder(), [bytes])
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNKNOWN_FORMAT' })
    const { code, stderr } = await shell('hf-stats', bytes)
    expect(code).toBe(1)
    expect(stderr).toContain('Parquet is read from a file by its name, and not from a pipe')
  })

  test('of the trace that was written are reported after all of its events', async () => {
    const encoder = new ParquetEncoder()
    for (const batch of batchesOf(events, HEADER)) encoder.feed(batch)
    encoder.endTruncated()
    const pieces: Uint8Array[] = []
    for (let piece = encoder.next(); piece !== null; piece = encoder.next()) pieces.push(piece)
    const found = await read(Buffer.concat(pieces))
    expect(found).toMatchObject({ events, headers: [HEADER] })
    expect(found.error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', event: events.length + 1 })
  })
})

describe('commands', () => {
  test('a trace goes to Parquet and back, byte for byte', async () => {
    const folder = scratch()
    const trace = new URL('../../fixtures/mtrc/fork-parent64.mtrc', import.meta.url).pathname
    const line = `hf-convert ${trace} ${folder}/t.parquet && hf-convert ${folder}/t.parquet ${folder}/back.mtrc`
    expect((await shell(line)).code).toBe(0)
    expect(readFileSync(`${folder}/back.mtrc`).equals(readFileSync(trace))).toBe(true)
    const [direct, packed] = await Promise.all([shell(`hf-stats ${trace}`), shell(`hf-stats ${folder}/t.parquet`)])
    expect(packed.stdout.equals(direct.stdout)).toBe(true)
    const compressed = await shell(`gzip ${folder}/t.parquet && hf-stats ${folder}/t.parquet.gz`)
    expect(compressed.stderr).toContain('not from a pipe or a compressed file')
  })
})

test('snappy comes back', () => {
  const repetitive = fc
    .array(fc.tuple(fc.uint8Array({ maxLength: 40 }), fc.nat(50)), { maxLength: 60 })
    .map((parts) => Buffer.concat(parts.flatMap(([part, n]) => Array.from({ length: n }, () => part))))
  fc.assert(
    fc.property(fc.oneof(repetitive, fc.uint8Array({ maxLength: 100_000, size: 'max' })), (given) => {
      const bytes = new Uint8Array(given)
      const packed = snappy(bytes)
      const out = new Uint8Array(bytes.length)
      if (bytes.length > 0) snappyUncompress(packed, out)
      expect(Buffer.compare(out, bytes)).toBe(0)
    }),
    { numRuns: 100 },
  )
  expect(snappy(new Uint8Array(200_000)).length).toBeLessThan(12_000)
})

test('levels and indices are packed from the lowest bit on', () => {
  expect(hybrid(Uint8Array.of(1, 1, 1, 1), 1)).toEqual(Uint8Array.of(8, 1))
  expect(hybrid(Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7), 3)).toEqual(Uint8Array.of(3, 0x88, 0xc6, 0xfa))
  expect(hybrid(Uint32Array.of(0x1_2345, 1), 20)[0]).toBe(3)
  expect(hybrid(new Uint32Array(0), 4)).toHaveLength(0)
})

const PYTHON = process.env['HEAPFLOW_PYTHON']
describe.skipIf(PYTHON === undefined)('with HEAPFLOW_PYTHON', { tags: ['slow'], timeout: 120_000 }, () => {
  const python = (code: string) =>
    execFileSync(PYTHON as string, ['-c', code], { encoding: 'utf8', maxBuffer: 1 << 26 })

  test("DuckDB's counts and sums are those of hf-stats", async () => {
    const folder = scratch()
    const trace = new URL('../../fixtures/mtrc/git.mtrc.gz', import.meta.url).pathname
    expect((await shell(`hf-convert ${trace} ${folder}/t.parquet`)).code).toBe(0)
    const { kinds, allocated } = JSON.parse((await shell(`hf-stats --json ${trace}`)).stdout.toString()) as {
      kinds: Record<string, number>
      allocated: { blocks: number; bytes: number }
    }
    const query = `select kind, count(*), sum(size)::bigint from '${folder}/t.parquet' group by 1`
    const rows = JSON.parse(python(`import duckdb, json; print(json.dumps(duckdb.sql("${query}").fetchall()))`)) as [
      kind: string,
      count: number,
      bytes: number,
    ][]
    expect(Object.fromEntries(rows.map(([kind, count]) => [kind, count]))).toEqual(kinds)
    const bytesOf = (kind: string) => rows.find(([name]) => name === kind)?.[2] ?? 0
    expect(bytesOf('alloc') + bytesOf('realloc')).toBe(allocated.bytes)
  })

  test('pyarrow checks our checksums, and its own are checked', async () => {
    const folder = scratch()
    writeFileSync(`${folder}/t.parquet`, encode(batchesOf(events, HEADER)))
    const rows = python(
      `import pyarrow.parquet as pq; t = pq.read_table('${folder}/t.parquet', page_checksum_verification=True); ` +
        `[pq.write_table(t, f'${folder}/{v}.parquet', write_page_checksum=True, data_page_version=v) for v in ('1.0', '2.0')]; print(len(t))`,
    )
    expect(Number(rows)).toBe(events.length)
    for (const version of ['1.0', '2.0']) {
      const whole = readFileSync(`${folder}/${version}.parquet`)
      const { error, events: found } = await read(whole)
      expect([error, found.length]).toEqual([undefined, events.length])
      const page = readPageHead(whole, MAGIC.length)
      whole[page.at + 2] = (whole[page.at + 2] as number) ^ 4
      expect((await read(whole)).error).toMatchObject({ message: expect.stringContaining('checksum') as string })
    }
  })

  test('pyarrow, polars and DuckDB read equal values, also 2^64-1', () => {
    const path = join(scratch(), 't.parquet')
    writeFileSync(path, encode(batchesOf(events, HEADER)))
    const expected = JSON.parse(
      python(
        `import pyarrow.parquet as pq, json; t = pq.read_table('${path}'); t.validate(full=True); print(json.dumps([[str(r['address']), str(r['thread']), r['function'], r['stack'], r['fields']] for r in t.to_pylist()]))`,
      ),
    ) as unknown[][]
    expect(expected.map(([address]) => address)).toEqual(
      events.map(({ address }) => (address === undefined ? 'None' : String(address))),
    )
    expect(expected.map((row) => row[2])).toEqual(events.map((event) => event.function ?? null))
    expect(expected.map((row) => row[3])).toEqual(events.map(({ stack }) => stack ?? null))
    const columns = 'address, thread, function, stack, fields'
    const others = [
      `import duckdb; rows = duckdb.sql("select ${columns} from '${path}'").fetchall()`,
      `import polars; rows = polars.read_parquet('${path}').select(*'${columns}'.split(', ')).rows()`,
    ]
    for (const code of others) {
      const rows: unknown = JSON.parse(
        python(`${code}; import json; print(json.dumps([[str(r[0]), str(r[1]), *r[2:]] for r in rows]))`),
      )
      expect(rows).toEqual(expected)
    }
  })
})
