import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { Cursor, type Reading } from '../../lib/codec/cursor.js'
import { CursorDecoder } from '../../lib/codec/cursor-decoder.js'
import { encodeText } from '../../lib/event/strings.js'
import { decodeAll } from '../support/drive.js'

const FORMAT = 'lines'

/** Lines with a size each; a line `# NAME` begins another trace. */
function* readLines(cursor: Cursor): Reading {
  yield* cursor.begin({ format: FORMAT })
  for (let line; (line = yield* cursor.line(20)) !== undefined;) {
    if (line.startsWith('# ')) yield* cursor.begin({ format: FORMAT, layout: { name: line.slice(2) } })
    else if (line === '?') cursor.warn('a question')
    else if (line === '!') cursor.emit({ kind: 'alloc', sizes: 1n } as unknown as TraceEvent)
    else if (!/^\d+$/.test(line)) throw cursor.malformed('expected a size')
    else cursor.emit({ kind: 'alloc', size: BigInt(line) })
  }
}

/** Records of a length and that many bytes. */
function* readRecords(cursor: Cursor): Reading {
  yield* cursor.begin({ format: FORMAT })
  for (let head; (head = yield* cursor.take(1)) !== undefined;) {
    const [first] = head
    const length = first === 255 ? 1 << 25 : (first ?? 0)
    const body = yield* cursor.take(length)
    if (body === undefined) throw cursor.malformed('no body')
    cursor.emit({ kind: 'alloc', size: BigInt(body.length), address: BigInt(body[0] ?? 0) })
  }
}

const lines = (text: string, size: number, takesLastLine = false) => {
  const decoder = new CursorDecoder(new Cursor(FORMAT, takesLastLine), readLines)
  return { ...decodeAll(decoder, encodeText(text), size), warnings: decoder.warnings }
}
const sizes = ({ events }: { events: readonly TraceEvent[] }) => events.map((event) => event.size)

describe.each([1, 2, 3, 7, 1000])('in chunks of %i, a decoder that is a generator', (size) => {
  test('reads lines, with either end and a byte order mark', () => {
    expect(sizes(lines('\ufeff1\r\n22\n333\r\n', size))).toEqual([1n, 22n, 333n])
  })

  test('delivers headers, also of traces without events', () => {
    const { batches } = lines('1\n# a\n# b\n2\n', size)
    const headers = batches.map(({ header }) => header)
    expect([...new Set(headers)].map(({ layout }) => layout?.['name'])).toEqual([undefined, 'a', 'b'])
    expect(lines('', size).batches.map(({ count }) => count)).toEqual([0])
  })

  test('delivers what comes before a fault, and says where it is', () => {
    const { error, ...read } = lines('1\n2\nthree\n4\n', size)
    expect(sizes(read)).toEqual([1n, 2n])
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: 4, line: 3, event: 3 })
    expect(error?.message).toMatch(/expected a size/)
  })

  test('takes any number of events from one line, and numbers a fault after them', () => {
    const read = function* (cursor: Cursor): Reading {
      yield* cursor.begin({ format: FORMAT })
      for (let line; (line = yield* cursor.line()) !== undefined;) {
        if (line === '!') throw cursor.malformed('no number')
        for (let i = 0; i < Number(line); i++) cursor.emit({ kind: 'alloc', size: BigInt(i) })
      }
    }
    const { error, ...whole } = decodeAll(
      new CursorDecoder(new Cursor(FORMAT), read),
      encodeText('2\n9000\n1\n!\n'),
      size,
    )
    expect(sizes(whole)).toEqual([2, 9000, 1].flatMap((n) => Array.from({ length: n }, (_, i) => BigInt(i))))
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', line: 4, event: 9004 })
    const last = decodeAll(new CursorDecoder(new Cursor(FORMAT), read), encodeText('9000\n'), size)
    expect(last.events).toHaveLength(9000)
  })

  test('refuses events that the model does not have', () => {
    expect(lines('1\n!\n', size).error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: 2, line: 2, event: 2 })
  })

  test('takes a last line without a line feed only if it is told to', () => {
    expect(lines('1\n23', size).error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: 2, line: 2, event: 2 })
    expect(sizes(lines('1\n23', size, true))).toEqual([1n, 23n])
  })

  test('says where the input ends, with and without a line feed that it lacks', () => {
    const read = function* (cursor: Cursor): Reading {
      while ((yield* cursor.line()) !== undefined);
      yield* cursor.more('the end is missing')
    }
    for (const text of ['1\n23', '1\n23\n']) {
      const { error } = decodeAll(new CursorDecoder(new Cursor(FORMAT, true), read), encodeText(text), size)
      expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: text.length, line: 3, event: 1 })
    }
  })

  test('refuses long lines, with and without an end', () => {
    for (const text of [`1\n${'9'.repeat(21)}\n`, `1\n${'9'.repeat(2000)}`])
      expect(lines(text, size).error).toMatchObject({ code: 'ERR_TRACE_LIMIT', offset: 2, line: 2, event: 2 })
    expect(sizes(lines(`${'0'.repeat(19)}1\n`, size))).toEqual([1n])
  })

  test('has a bounded number of warnings', () => {
    const { warnings } = lines('?\n'.repeat(1000), size)
    expect(warnings).toHaveLength(100)
    expect(warnings[0]).toBe('lines: line 1, byte 0, event 1: a question')
    expect(warnings.at(-1)).toMatch(/later ones are not reported$/)
  })

  test('reads records of bytes', () => {
    const read = (...bytes: number[]) =>
      decodeAll(new CursorDecoder(new Cursor(FORMAT), readRecords), Uint8Array.from(bytes), size)
    expect(read(1, 7, 0, 3, 9, 9, 9).events.map(({ size: n, address }) => [n, address])).toEqual([
      [1n, 7n],
      [0n, 0n],
      [3n, 9n],
    ])
    expect(read(1, 7, 3, 9).error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', event: 2 })
    expect(read(1, 7, 3).error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 2 })
    expect(read(1, 7, 255).error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 2 })
  })
})

test('many events come in batches, in order', () => {
  const count = 20_000
  const text = Array.from({ length: count }, (_, i) => `${i}\n`).join('')
  const { batches, events } = lines(text, 65_536)
  expect(events.map((event) => Number(event.size))).toEqual(Array.from({ length: count }, (_, i) => i))
  expect(Math.max(...batches.map((batch) => batch.count))).toBeLessThanOrEqual(4096)
})

test.each([-1, 1.5, NaN, undefined, 2n])('a record of %s bytes is malformed', (length) => {
  const decoder = new CursorDecoder(new Cursor(FORMAT), function* (cursor) {
    yield* cursor.take(2)
    yield* cursor.take(length as number)
  })
  const { error } = decodeAll(decoder, encodeText('abcdef'))
  expect(error?.message).toMatch(/^lines: byte 2, event 1: malformed: a record cannot have .* bytes$/)
})
