import { readFileSync } from 'node:fs'
import {
  Dictionary,
  Field,
  Int8,
  List,
  makeData,
  Schema,
  Table,
  tableToIPC,
  Utf8,
  Vector,
  vectorFromArray,
  type DataType,
} from 'apache-arrow'
import { describe, expect, test } from 'vitest'
import { MAX_TEXTS } from '../../../lib/codec/event-rows.js'
import { batchesOf, EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { FieldBit } from '../../../lib/event/fields.js'
import { ArrowDecoder } from '../../../lib/formats/arrow/decode.js'
import { ArrowEncoder } from '../../../lib/formats/arrow/encode.js'
import { MAX_BODY, MAX_HEADER, MAX_METADATA, MAX_ROWS } from '../../../lib/formats/arrow/layout.js'
import { MAX_COLUMNS, MAX_DEPTH } from '../../../lib/formats/arrow/schema.js'
import { decodeAll, drive, slices } from '../../support/drive.js'
import { decode, encode } from './support.js'

const BEFORE: TraceEvent[] = [
  { kind: 'comment', text: 'x' },
  { kind: 'alloc', address: 16n, size: 8n, stack: ['f'] },
]
const LIMIT = { code: 'ERR_TRACE_LIMIT', format: 'arrow' }

/** What the encoder gives for batches, and what is read of it, without the events. */
function comeBack(batches: Iterable<EventBatch>) {
  const decoder = new ArrowDecoder()
  const encoder = new ArrowEncoder()
  const { out, error } = drive(encoder, batches)
  let rows = 0
  const read = drive(decoder, out)
  for (const batch of read.out) rows += batch.count
  return { error, rows, readError: read.error }
}

/** A batch whose last event has a list of `frames` names in turn. */
function withFrames(names: readonly string[], frames: number): EventBatch {
  const [batch] = batchesOf([...BEFORE, { kind: 'alloc' }], { format: 'x' }) as [EventBatch]
  const ids = Uint32Array.from(names, (name) => batch.strings.internText(name))
  const list = new Uint32Array(frames)
  for (let i = 0; i < frames; i++) list[i] = ids[i % ids.length]!
  batch.mask[2] |= FieldBit.stack
  batch.stack[2] = batch.strings.addList(list)
  return batch
}

describe('a stream is read', () => {
  /** A stream whose first message, the schema, has metadata of a number of bytes: some follow the flatbuffer. */
  function withMetadata(length: number): Uint8Array {
    const bytes = encode(BEFORE)
    const view = new DataView(bytes.buffer, bytes.byteOffset)
    const metadata = view.getInt32(4, true)
    const out = new Uint8Array(bytes.length + length - metadata)
    out.set(bytes.subarray(0, 8 + metadata))
    out.set(bytes.subarray(8 + metadata), 8 + length)
    new DataView(out.buffer).setInt32(4, length, true)
    return out
  }

  test('with metadata up to the limit', () => {
    for (const length of [MAX_METADATA - 8, MAX_METADATA])
      expect(decode(withMetadata(length), 65_536).events).toEqual(BEFORE)
    const { events, error } = decode(withMetadata(MAX_METADATA + 8), 65_536)
    expect(error).toMatchObject({ ...LIMIT, offset: 0, event: 1 })
    expect(events).toEqual([])
  })

  /** The events of a stream of two record batches, of which the second one has other numbers in its metadata. */
  function changed(from: number, to: number): Uint8Array {
    const first = encode(BEFORE)
    // Without the end mark, and without the schema and the dictionaries.
    const bytes = Buffer.concat([first.subarray(0, -8), first.subarray(lastMessage(first))])
    const at = first.length - 8
    const metadata = bytes.subarray(at + 8, at + 8 + bytes.readInt32LE(at + 4))
    for (let i = 0; i + 8 <= metadata.length; i += 4)
      if (metadata.readBigInt64LE(i) === BigInt(from)) metadata.writeBigInt64LE(BigInt(to), i)
    return new Uint8Array(bytes)
  }

  /** The position of the last message. */
  function lastMessage(bytes: Uint8Array): number {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    let at = view.length - 16
    while (view.readUInt32LE(at) !== 0xffff_ffff || view.readInt32LE(at + 4) <= 0) at -= 8
    return at
  }

  test('with a body up to the limit, which takes no memory before it is there', () => {
    const bytes = encode(BEFORE)
    const at = lastMessage(bytes)
    const body = bytes.length - 8 - at - 8 - new DataView(bytes.buffer, bytes.byteOffset + at).getInt32(4, true)
    const before = process.memoryUsage().arrayBuffers
    const { events, error } = decode(changed(body, MAX_BODY))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000)
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
    expect(events).toEqual(BEFORE)
    const long = decode(changed(body, MAX_BODY + 1))
    expect(long.error).toMatchObject({ ...LIMIT, offset: bytes.length - 8, event: 3 })
    expect(long.events).toEqual(BEFORE)
  })

  test('with a number of rows up to the limit', () => {
    const { events, error } = decode(changed(BEFORE.length, MAX_ROWS))
    // The columns lack them.
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 3 })
    expect(events).toEqual(BEFORE)
    const long = decode(changed(BEFORE.length, MAX_ROWS + 1))
    expect(long.error).toMatchObject({ ...LIMIT, event: 3 })
    expect(long.events).toEqual(BEFORE)
  })

  test('with a schema of columns and a depth up to the limit', { tags: ['slow'] }, () => {
    const list = (depth: number): DataType =>
      depth === 0 ? new Int8() : new List(new Field('item', list(depth - 1), true))
    const of = (columns: number, depth: number) => {
      const fields = Array.from({ length: columns - 2 - depth }, (_, i) => new Field(`c${i}`, new Int8(), true))
      const schema = new Schema([new Field('kind', new Utf8()), new Field('deep', list(depth), true), ...fields])
      return decode(tableToIPC(new Table(schema), 'stream'))
    }
    for (const columns of [MAX_COLUMNS - 1, MAX_COLUMNS]) expect(of(columns, 1).error).toBeUndefined()
    expect(of(MAX_COLUMNS + 1, 1).error).toMatchObject({ ...LIMIT, event: 1 })
    for (const depth of [MAX_DEPTH - 1, MAX_DEPTH]) expect(of(100, depth).error).toBeUndefined()
    expect(of(100, MAX_DEPTH + 1).error).toMatchObject({ ...LIMIT, event: 1 })
  })

  test.each(['lz4', 'zstd'])('with a body that %s inflates up to the limit', (codec) => {
    const bytes = readFileSync(new URL(`foreign/pyarrow-${codec}.arrows`, import.meta.url))
    const magic = codec === 'lz4' ? 0x184d_2204 : 0xfd2f_b528
    // The first buffer of a message.
    let at = 0
    while (bytes.readUInt32LE(at + 8) !== magic) at++
    for (const [length, code] of [
      [MAX_BODY, 'ERR_TRACE_MALFORMED'],
      [MAX_BODY + 1, 'ERR_TRACE_LIMIT'],
    ] as const) {
      bytes.writeBigInt64LE(BigInt(length), at)
      expect(decodeAll(new ArrowDecoder(), bytes).error).toMatchObject({ code })
    }
  })
})

describe('a few bytes that would become very many are refused', () => {
  const kindOf = (rows: number) =>
    new Vector([
      makeData({
        type: new Dictionary(new Utf8(), new Int8()),
        length: rows,
        nullCount: 0,
        data: new Int8Array(rows),
        dictionary: vectorFromArray(['free'], new Utf8()),
      }),
    ])

  test('columns of narrow integers', { tags: ['slow'] }, () => {
    const names = ['address', 'oldAddress', 'size', 'time', 'endTime', 'callSite', 'thread', 'process']
    const stream = (rows: number) => {
      const columns: Record<string, Vector> = { kind: kindOf(rows) }
      for (const name of names)
        columns[name] = new Vector([
          makeData({ type: new Int8(), length: rows, nullCount: 0, data: new Int8Array(rows) }),
        ])
      return tableToIPC(new Table(columns), 'stream')
    }
    const rows = Math.floor(MAX_BODY / (1 + 8 * names.length))
    const { out, error } = drive(new ArrowDecoder(), slices(stream(rows), 65_536))
    expect(error).toBeUndefined()
    expect(out.reduce((sum, { count }) => sum + count, 0)).toBe(rows)
    const more = drive(new ArrowDecoder(), slices(stream(rows + 1), 65_536))
    expect(more.error).toMatchObject({ ...LIMIT, event: 1 })
  })

  test('dictionaries, of which those of other columns are not kept', { tags: ['large'] }, () => {
    const named = () =>
      new Vector([
        makeData({
          type: new Dictionary(new Utf8(), new Int8()),
          length: 1,
          nullCount: 0,
          data: new Int8Array(1),
          dictionary: vectorFromArray(['x'.repeat(90_000_000)], new Utf8()),
        }),
      ])
    const read = (...names: string[]) => {
      const columns: Record<string, Vector> = { kind: kindOf(1) }
      for (const name of names) columns[name] = named()
      const { out, error } = drive(new ArrowDecoder(), slices(tableToIPC(new Table(columns), 'stream'), 65_536))
      return { rows: out.reduce((sum, { count }) => sum + count, 0), error }
    }
    expect(read('function', 'file', 'a', 'b')).toEqual({ rows: 1 })
    expect(read('function', 'file', 'module').error).toMatchObject({ ...LIMIT, event: 1 })
  })
})

describe('what is written is read', () => {
  test('with a header up to the limit', { tags: ['slow'] }, () => {
    const headerOf = (length: number) => ({ format: 'x'.repeat(length - JSON.stringify({ format: '' }).length) })
    for (const length of [MAX_HEADER - 1, MAX_HEADER]) {
      const batches = [...batchesOf(BEFORE, headerOf(length)), ...batchesOf(BEFORE, headerOf(length))]
      expect(comeBack(batches)).toEqual({ rows: 4 })
    }
    const long = batchesOf(BEFORE, headerOf(MAX_HEADER + 1))
    expect(comeBack(long)).toMatchObject({ rows: 0, error: { ...LIMIT, event: 1 } })
    expect(comeBack([...batchesOf(BEFORE, { format: 'y' }), ...long])).toMatchObject({
      rows: 2,
      error: { ...LIMIT, event: 3 },
      readError: { code: 'ERR_TRACE_TRUNCATED' },
    })
  })

  test('with more rows than a record batch may have', { tags: ['slow'] }, () => {
    const batch = new EventBatch(MAX_ROWS + 1, 0, { format: 'x' })
    batch.count = batch.capacity
    expect(comeBack([batch])).toEqual({ rows: MAX_ROWS + 1 })
  })

  test('with a stack up to the limit', { tags: ['large'] }, () => {
    for (const frames of [MAX_ROWS - 1, MAX_ROWS]) expect(comeBack([withFrames(['f'], frames)])).toEqual({ rows: 3 })
    const { error, rows } = comeBack([withFrames(['f'], MAX_ROWS + 1)])
    expect(error).toMatchObject({ ...LIMIT, event: 3 })
    expect(rows).toBe(2)
  })

  test('with texts up to the limit, also if they are escaped', { tags: ['large'] }, () => {
    // "x" and "f" are names of the events before.
    const names = (length: number) => [
      'a'.repeat(length >> 1),
      '\udcff'.repeat(1000),
      'b'.repeat(length - (length >> 1) - 1000),
    ]
    for (const length of [MAX_TEXTS - 1, MAX_TEXTS])
      expect(comeBack([withFrames(names(length), 4)])).toEqual({ rows: 3 })
    const { error, rows } = comeBack([withFrames(names(MAX_TEXTS + 1), 4)])
    expect(error).toMatchObject({ ...LIMIT, event: 3 })
    expect(rows).toBe(2)
  })

  test('with many events whose texts are long together', { tags: ['large'] }, () => {
    const batch = new EventBatch(12, 0, { format: 'x' })
    for (let i = 0; i < 12; i++) batch.push({ kind: 'comment', text: String(i).padEnd(MAX_TEXTS - 100, 'x') })
    expect(comeBack([batch])).toEqual({ rows: 12 })
  })
})
