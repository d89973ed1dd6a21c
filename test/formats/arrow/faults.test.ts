import {
  Dictionary,
  Field,
  Int32,
  Int64,
  List,
  makeData,
  Table,
  tableToIPC,
  Utf8,
  Vector,
  vectorFromArray,
  type DataType,
} from 'apache-arrow'
import { describe, expect, test } from 'vitest'
import { decode } from './support.js'

/** A column with what `wrong` is in one row, and `right` in the others. */
type Column = (rows: number, wrongAt: number) => Vector

const filled =
  (right: unknown, wrong: unknown, type: DataType): Column =>
  (rows, at) =>
    vectorFromArray(
      Array.from({ length: rows }, (_, i) => (i === at ? wrong : right)),
      type,
    ) as Vector

const coded = () => new Dictionary(new Utf8(), new Int32())
const lists = new List(new Field('item', new Utf8(), true))
const codedLists = new List(new Field('item', coded(), true))

/** Indices into a dictionary of one name. */
const indexed: Column = (rows, at) =>
  new Vector([
    makeData({
      type: coded(),
      length: rows,
      nullCount: 0,
      data: Int32Array.from({ length: rows }, (_, i) => (i === at ? 99 : 0)),
      dictionary: vectorFromArray(['malloc'], new Utf8()),
    }),
  ])

/** Stacks of two frames, of which one has an index that the dictionary does not have. */
const indexedStacks: Column = (rows, at) =>
  new Vector([
    makeData({
      type: codedLists,
      length: rows,
      nullCount: 0,
      valueOffsets: Int32Array.from({ length: rows + 1 }, (_, i) => 2 * i),
      child: indexed(2 * rows, at < 0 ? -1 : 2 * at + 1).data[0] as never,
    }),
  ])

const FAULTS: readonly [what: string, column: string, make: Column, message: string][] = [
  ['a kind that is null', 'kind', filled('alloc', null, new Utf8()), 'an event without a kind'],
  ['a kind that is unknown', 'kind', filled('alloc', 'mallloc', new Utf8()), 'unknown name "mallloc"'],
  ['a kind of a dictionary that is unknown', 'kind', filled('alloc', 'x', coded()), 'unknown name "x"'],
  ['an unknown function', 'api', filled('malloc', 'x', new Utf8()), 'unknown name "x"'],
  ['an unknown outcome', 'outcome', filled(null, 'x', coded()), 'unknown name "x"'],
  ['a line that is too large', 'line', filled(1n, 2n ** 33n, new Int64()), 'an integer is out of range'],
  ['a CPU that is too small', 'cpu', filled(1n, -(2n ** 33n), new Int64()), 'an integer is out of range'],
  ['negative flags', 'gfpFlags', filled(1, -1, new Int32()), 'an integer is out of range'],
  ['other named values', 'fields', filled('{"a":1}', '{"a":1.5}', new Utf8()), 'fields must hold integers'],
  ['named values that are no JSON', 'fields', filled(null, '{', new Utf8()), ''],
  ['a frame that is null', 'stack', filled(['main', 'f'], ['main', null], lists), 'a frame that is null'],
  ['an index without a code', 'api', indexed, 'an index that its dictionary does not have'],
  ['an index without a name', 'function', indexed, 'an index that its dictionary does not have'],
  ['an index without a frame', 'stack', indexedStacks, 'an index that its dictionary does not have'],
]

/** A stream of record batches of these numbers of rows, with a fault in one row of the last. */
function stream(name: string, make: Column, sizes: readonly number[], wrongAt: number): Uint8Array {
  const tables = sizes.map((rows, i) => {
    const column = make(rows, i === sizes.length - 1 ? wrongAt : -1)
    const kinds = vectorFromArray(
      Array.from({ length: rows }, () => 'alloc'),
      new Utf8(),
    )
    const numbers = vectorFromArray(
      Array.from({ length: rows }, (_, row) => BigInt(row)),
      new Int64(),
    )
    const columns: Record<string, Vector> = { kind: kinds, size: numbers }
    columns[name] = column
    return new Table(columns)
  })
  const [first, ...others] = tables
  return new Uint8Array(tableToIPC((first as Table).concat(...others), 'stream'))
}

describe.each(FAULTS)('%s', (_, name, make, message) => {
  test.each([
    [[2], 0],
    [[3], 0],
    [[3], 1],
    [[3], 2],
    [[9], 8],
    [[2, 5], 3],
    [[2, 5], 0],
    [[5000], 4500],
  ] as [number[], number][])('in batches of %j rows, in row %i of the last: all events before it', (sizes, wrongAt) => {
    const before = sizes.slice(0, -1).reduce((sum, rows) => sum + rows, 0) + wrongAt
    const { events, error } = decode(stream(name, make, sizes, wrongAt))
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: before + 1 })
    expect(error?.message).toContain(`the column "${name}": ${message}`)
    expect(events).toHaveLength(before)
    const whole = decode(stream(name, make, sizes, -1))
    expect(whole.error).toBeUndefined()
    expect(events).toEqual(whole.events.slice(0, before))
  })
})

test('of two faults the one in the earlier row counts', () => {
  const table = new Table({
    kind: filled('alloc', 'x', new Utf8())(5, 3),
    line: filled(1n, 2n ** 33n, new Int64())(5, 4),
    cpu: filled(1n, 2n ** 33n, new Int64())(5, 2),
  })
  const { events, error } = decode(new Uint8Array(tableToIPC(table, 'stream')))
  expect(events).toEqual([
    { kind: 'alloc', line: 1, cpu: 1 },
    { kind: 'alloc', line: 1, cpu: 1 },
  ])
  expect(error).toMatchObject({ event: 3 })
  expect(error?.message).toContain('the column "cpu"')
})
