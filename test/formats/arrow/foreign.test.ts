import { readdirSync, readFileSync } from 'node:fs'
import {
  tableFromIPC,
  tableToIPC,
  tableFromArrays,
  vectorFromArray,
  Dictionary,
  Int32,
  Table,
  Utf8,
  Float64,
  Int64,
  type Vector,
} from 'apache-arrow'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { NdjsonDecoder } from '../../../lib/formats/ndjson/decode.js'
import { decodeAll } from '../../support/drive.js'
import { sniffFormat } from '../../support/formats.js'
import { decode, encode, rowOf } from './support.js'

const FOLDER = new URL('foreign/', import.meta.url)
const read = (name: string) => new Uint8Array(readFileSync(new URL(name, FOLDER)))
const { events, headers } = decodeAll(new NdjsonDecoder(), read('events.ndjson'))

/** A stream that arrow-js writes of columns. */
const stream = (columns: Record<string, Vector>) => new Uint8Array(tableToIPC(new Table(columns), 'stream'))
const texts = (values: readonly (string | null)[]) => vectorFromArray(values, new Utf8())

describe('streams that pyarrow and polars wrote', () => {
  const files = readdirSync(FOLDER).filter((name) => /\.arrows?$/.test(name))

  test('there are some', () => {
    expect(files.length).toBeGreaterThan(10)
  })

  describe.each(files)('%s', (name) => {
    const bytes = read(name)

    test('is recognised', () => {
      expect(sniffFormat(bytes.slice(0, 64))?.name).toBe('arrow')
    })

    test.each([1, 100, 1 << 20])('has the events, in chunks of %i', (size) => {
      const { error, events: found, headers: heads, warnings } = decode(bytes, size)
      expect(error).toBeUndefined()
      expect(found).toEqual(events)
      // polars does not keep the metadata of a schema.
      expect(heads).toEqual(name.startsWith('polars') ? [{ format: 'unknown' }] : headers)
      expect(warnings).toEqual([])
    })

    test('cut anywhere, it is truncated', { tags: ['slow'] }, () => {
      const end = name.endsWith('.arrow') ? bytes.length - 3500 : bytes.length
      for (let length = 1; length < end; length += 37) {
        const { error, events: found } = decode(bytes.slice(0, length))
        expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', event: found.length + 1 })
        expect(found).toEqual(events.slice(0, found.length))
      }
    })
  })
})

describe('streams of arrow-js', () => {
  test('arrow-js reads what is written, with equal values', () => {
    const table = tableFromIPC(encode(events))
    const rows = table.toArray().map((row: { toJSON(): Record<string, unknown> }) => {
      const present = Object.entries(row.toJSON()).filter(([, value]) => value !== null)
      return rowOf(
        Object.fromEntries(
          present.map(([name, value]) => [name, name === 'stack' ? [...(value as Iterable<string>)] : value]),
        ) as unknown as TraceEvent,
      )
    })
    expect(rows).toEqual(events.map((event) => rowOf(event)))
  })

  test('some columns in any order, and others that are not fields', () => {
    const {
      events: found,
      warnings,
      error,
    } = decode(
      stream({
        comment: texts(['a', 'b']),
        size: vectorFromArray([-1n, 5n], new Int64()),
        kind: texts(['alloc', 'free']),
      }),
    )
    expect(error).toBeUndefined()
    expect(found).toEqual([
      { kind: 'alloc', size: 2n ** 64n - 1n },
      { kind: 'free', size: 5n },
    ])
    expect(warnings).toEqual(['arrow: the column "comment" is not a field of events: left out'])
  })

  test('more rows than a batch of events has', () => {
    const count = 10_000
    const columns = tableFromArrays({ size: BigUint64Array.from({ length: count }, (_, i) => BigInt(i)) })
    const kinds = texts(Array.from({ length: count }, (_, i) => (i % 3 === 0 ? 'free' : 'alloc')))
    const names = texts(Array.from({ length: count }, (_, i) => (i % 7 === 0 ? null : `name${i % 100}`)))
    const { batches, events: found } = decode(
      stream({ kind: kinds, size: columns.getChild('size') as Vector, function: names }),
    )
    expect(Math.max(...batches.map((batch) => batch.count))).toBe(4096)
    expect(found).toHaveLength(count)
    found.forEach((event, i) =>
      expect(event).toEqual({
        kind: i % 3 === 0 ? 'free' : 'alloc',
        size: BigInt(i),
        ...(i % 7 !== 0 && { function: `name${i % 100}` }),
      }),
    )
  })

  test.each<[string, Record<string, Vector>, string]>([
    ['no kinds', { size: vectorFromArray([1n], new Int64()) }, 'there is no column "kind"'],
    ['a null for a kind', { kind: texts([null, 'alloc']) }, 'the column "kind": an event without a kind'],
    ['nulls for kinds', { kind: texts([null]) }, 'events without a kind'],
    ['an unknown kind', { kind: texts(['mallloc', 'alloc']) }, 'the column "kind": unknown name "mallloc"'],
    ['an unknown function', { kind: texts(['alloc']), api: texts(['x']) }, 'the column "api": unknown name "x"'],
    [
      'numbers with a point',
      { kind: texts(['alloc']), size: vectorFromArray([1.5], new Float64()) },
      'the column "size": it must have integers, not FloatingPoint',
    ],
    [
      'a dictionary for numbers',
      { kind: texts(['alloc']), size: vectorFromArray(['1'], new Dictionary(new Utf8(), new Int32())) },
      'the column "size": it must have integers, not a dictionary of Utf8',
    ],
    [
      'integers for names',
      { kind: texts(['alloc']), function: vectorFromArray([1n], new Int64()) },
      'the column "function": it must have strings, not Int',
    ],
    [
      'strings for a stack',
      { kind: texts(['alloc']), stack: texts(['main']) },
      'the column "stack": it must have lists of strings, not Utf8',
    ],
    [
      'a line that is too large',
      { kind: texts(['alloc']), line: vectorFromArray([2n ** 32n], new Int64()) },
      'the column "line": an integer is out of range',
    ],
    [
      'a cpu that is too small',
      { kind: texts(['alloc']), cpu: vectorFromArray([-(2n ** 31n) - 1n], new Int64()) },
      'the column "cpu": an integer is out of range',
    ],
    [
      'other named values',
      { kind: texts(['alloc']), fields: texts(['{"a":1.5}']) },
      'the column "fields": fields must hold integers',
    ],
  ])('%s', (_, columns, message) => {
    const { error, events: found } = decode(stream(columns))
    expect(found).toEqual([])
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'arrow', event: 1 })
    expect(error?.message).toContain(message)
  })

  test('named values with spaces', () => {
    const fields = texts(['{ "a" : [1 , "x"] }', '{ "a" : [1 , "x"] }', null, '{"b":2}'])
    const { events: found } = decode(stream({ kind: texts(['other', 'other', 'other', 'other']), fields }))
    expect(found).toEqual([
      { kind: 'other', fields: { a: [1n, 'x'] } },
      { kind: 'other', fields: { a: [1n, 'x'] } },
      { kind: 'other' },
      { kind: 'other', fields: { b: 2n } },
    ])
    expect(decode(encode(found)).events).toEqual(found)
  })
})
