import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { APIS, FIELDS, KINDS, OUTCOMES } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { NdjsonDecoder } from '../../../lib/formats/ndjson/decode.js'
import { NdjsonEncoder } from '../../../lib/formats/ndjson/encode.js'
import { NdjsonDecoder as OracleDecoder } from '../../oracle/ndjson/decode.js'
import { NdjsonEncoder as OracleEncoder } from '../../oracle/ndjson/encode.js'
import { encodeEvents } from '../../support/drive.js'
import { decodesLikeOracle, encodesLikeOracle } from '../../support/oracle.js'
import { anyEvent } from '../../support/random-event.js'
import { runs } from '../../support/runs.js'

const HEADER: TraceHeader = { format: 'mtrc', timeUnit: 'ns', layout: { version: 10501 } }

const digits = fc.oneof(
  fc.bigInt({ min: 0n, max: 1n << 66n }).map(String),
  fc.nat({ max: 99_999_999 }).map(String),
  fc.integer({ min: 0, max: 22 }).map((n) => '1234567890123456789012'.slice(0, n)),
  fc.constantFrom(
    '0',
    '00',
    '01',
    '-0',
    '-1',
    '-2147483648',
    '-2147483649',
    '2147483648',
    '4294967295',
    '4294967296',
    '18446744073709551615',
    '18446744073709551616',
    '1.5',
    '1e3',
    'null',
  ),
)
const hex = fc.oneof(
  fc.bigInt({ min: 0n, max: 1n << 66n }).map((value) => `0x${value.toString(16)}`),
  fc.stringMatching(/^(0x|0X|)[0-9a-fA-FgG]{0,20}$/),
)
const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.constantFrom(
    'main',
    'a'.repeat(15),
    'b'.repeat(16),
    'c'.repeat(17),
    'd'.repeat(31),
    'e'.repeat(32),
    'f'.repeat(33),
    'g'.repeat(64),
    'tab\t"quoted"\\',
  ),
)
/** JSON text of a string, with escapes that need not be there, some of them wrong. */
const quoted = fc.oneof(
  text.map((value) => JSON.stringify(value)),
  fc
    .array(
      fc.oneof(
        fc.string({ maxLength: 3 }).map((value) => JSON.stringify(value).slice(1, -1)),
        fc.stringMatching(/^\\[bfnrt"\\/u]$/),
        fc.stringMatching(/^\\u[0-9a-fA-F]{4}$/),
        fc.stringMatching(/^\\ud[89a-f][0-9a-f]{2}$/),
        fc.constantFrom('é', '\\', '\\u12', '\u0001', '\u007f'),
      ),
      { maxLength: 6 },
    )
    .map((parts) => `"${parts.join('')}"`),
)
const base64 = fc.oneof(
  fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.stringMatching(/^[A-Za-z0-9+/=!]{0,9}$/),
)
const value: fc.Arbitrary<string> = fc.oneof(
  digits,
  digits.map((value) => `"${value}"`),
  hex.map((value) => `"${value}"`),
  quoted,
  base64.map((value) => `"${value}"`),
  fc.array(quoted, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
  fc.constantFrom(...APIS, ...OUTCOMES, 'mallocs', 'kmem_cache_allocs', 'ne', '').map((name) => `"${name}"`),
  fc.constantFrom('{}', '{"a":[1,"b"]}', '[', 'true'),
)
const blank = fc.constantFrom('', '', '', '', ' ', '\t', '  ', '\n')
/** Values of the right sort for most fields. */
const OF_TYPE: Readonly<Record<string, fc.Arbitrary<string>>> = {
  u64: digits,
  u32: digits,
  i32: digits,
  address: hex.map((text) => `"${text}"`),
  string: quoted,
  bytes: base64.map((text) => `"${text}"`),
  api: fc.constantFrom(...APIS).map((name) => `"${name}"`),
  outcome: fc.constantFrom(...OUTCOMES).map((name) => `"${name}"`),
  list: fc.array(quoted, { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
  json: fc.constantFrom(
    '{"x":1}',
    '{"x":1.0}',
    '{"x":-0}',
    '{"10":1,"2":["a",{}]}',
    '{"a":1,"a":2}',
    '{"a":null}',
    '{"a":1e3}',
    '{"a":12345678901234567}',
    '{ "a":1}',
    '{"fields":1}',
    '{"__proto__":{"toJSON":1}}',
    '{"a":"é\\u00e9\\ud800"}',
    '[1]',
    '[]',
    '{}',
    `${'{"a":'.repeat(130)}1${'}'.repeat(130)}`,
    `${'{"a":'.repeat(30)}1${'}'.repeat(30)}`,
  ),
}
const field = fc.oneof(
  fc
    .constantFrom(...FIELDS)
    .chain(({ name, type }) =>
      fc.tuple(
        fc.constant(name as string),
        fc.oneof({ weight: 8, arbitrary: OF_TYPE[type] as fc.Arbitrary<string> }, value),
      ),
    ),
  fc.tuple(fc.constantFrom('note', 'kind', 'adress', 'size2', '__proto__', 'th'), value),
)
const line = fc
  .tuple(
    blank,
    blank,
    blank,
    blank,
    fc.constantFrom(...KINDS, 'header', 'end', 'allocs', 'othermalloc', 'malloc', ''),
    fc.array(fc.tuple(blank, blank, blank, field, blank), { maxLength: 6 }),
    blank,
    fc.constantFrom('}\n', '}\n', '}\n', '}\r\n', ' } \n', '\n', '}}\n', '}', '} x\n'),
    fc.boolean(),
  )
  .map(([a, b, c, d, kind, fields, e, end, kindFirst]) => {
    const rest = fields.map(
      ([before, behind, middle, [name, of], after]) => `${before},${behind}"${name}"${middle}:${after}${of}`,
    )
    const first = `${b}"kind"${c}:${d}"${kind}"`
    return `${a}{${kindFirst ? first + rest.join('') : `"note":1${rest.join('')},${first}`}${e}${end}`
  })

describe('the kernel', () => {
  it('reads any lines like the oracle', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), fc.integer({ min: 1, max: 400 }), (lines, size) => {
        const text = `{"kind":"alloc","size":1}\n\n{"kind":"free","address":"0x1"}\n${lines.join('')}`
        decodesLikeOracle(new NdjsonDecoder(), new OracleDecoder(), new Uint8Array(Buffer.from(text)), size)
      }),
      { numRuns: runs(6000) },
    )
  })

  it('reads damaged traces like the oracle', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 10 }),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 2 }),
        fc.nat(),
        fc.integer({ min: 1, max: 500 }),
        (events, damage, cut, size) => {
          const bytes = encodeEvents(new OracleEncoder(), events, HEADER)
          for (const [place, byte] of damage) bytes[place % bytes.length] = byte
          decodesLikeOracle(
            new NdjsonDecoder(),
            new OracleDecoder(),
            cut % 3 === 0 ? bytes.subarray(0, cut % bytes.length) : bytes,
            size,
          )
        },
      ),
      { numRuns: runs(2000) },
    )
  })

  it('reads traces with spaces like the oracle, in part, damaged or whole', { tags: ['slow'] }, () => {
    const space = fc.constantFrom(' ', ' ', ' ', '', '  ', '\t')
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 10 }),
        fc.infiniteStream(space),
        fc.boolean(),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 1 }),
        fc.integer({ min: 1, max: 500 }),
        (events, spaces, isRegular, damage, size) => {
          const canonical = Buffer.from(encodeEvents(new OracleEncoder(), events, HEADER)).toString('latin1')
          const spaced = canonical.replaceAll(/"(?:[^"\\]|\\.)*"|[,:]/g, (token) =>
            token.length > 1 ? token : token + (isRegular ? ' ' : (spaces.next().value as string)),
          )
          const bytes = new Uint8Array(Buffer.from(spaced, 'latin1'))
          for (const [place, byte] of damage) bytes[place % bytes.length] = byte
          decodesLikeOracle(new NdjsonDecoder(), new OracleDecoder(), bytes, size)
        },
      ),
      { numRuns: runs(2000) },
    )
  })

  it('reads names that follow each other again and again, or nearly so', () => {
    const names = fc.constantFrom(
      '',
      'a',
      'ab',
      'a"',
      'a"b',
      'a\\',
      'é',
      'é"',
      '\udcff',
      'x'.repeat(15),
      'x'.repeat(16),
      'x'.repeat(33),
      'x'.repeat(1024),
      'x'.repeat(1025),
      'a","file":"ab',
    )
    const event: fc.Arbitrary<TraceEvent> = fc.record(
      { kind: fc.constant('alloc' as const), function: names, file: names, stack: fc.array(names, { maxLength: 4 }) },
      { requiredKeys: ['kind'] },
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: 50, max: 5000 }), (events, size) => {
        decodesLikeOracle(
          new NdjsonDecoder(),
          new OracleDecoder(),
          encodeEvents(new OracleEncoder(), events, HEADER),
          size,
        )
      }),
      { numRuns: runs(500) },
    )
  })

  it('writes any events like the oracle', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), fc.array(anyEvent, { maxLength: 3 }), (events, more) => {
        encodesLikeOracle(new NdjsonEncoder(), new OracleEncoder(), [
          ...batchesOf(events, HEADER),
          ...batchesOf(more, { format: 'replay' }),
        ])
      }),
      { numRuns: runs(2000) },
    )
  })

  it('reads and writes strings of all sizes, and more of them than it has room for', { tags: ['slow'] }, () => {
    const sizes = [2047, 2048, 2049, 4096, 30_000, 65_535, 65_536, 65_537, 300_000, 500_000]
    const events = sizes.flatMap((size, i): TraceEvent[] => [
      { kind: 'alloc', size: BigInt(size), function: 'x'.repeat(size), stack: ['main', 'y'.repeat(size + 1), 'main'] },
      { kind: 'comment', text: '"'.repeat(size), attributes: new Uint8Array(size).fill(i), file: 'file.c' },
      {
        kind: 'other',
        code: 1,
        text: 'é\u{1f600}\udcff'.repeat(Math.min(size >> 2, 3000)),
        fields: { text: 'z'.repeat(size) },
      },
    ])
    encodesLikeOracle(new NdjsonEncoder(), new OracleEncoder(), batchesOf(events, HEADER))
    for (const size of [65_536, 1 << 24])
      decodesLikeOracle(
        new NdjsonDecoder(),
        new OracleDecoder(),
        encodeEvents(new OracleEncoder(), events, HEADER),
        size,
      )
  })

  it('reads and writes very many strings and lists', { tags: ['slow'] }, () => {
    const frames = (i: number) => Array.from({ length: 20 }, (_, k) => `f${(i * 31 + k) % 30_000}`)
    const events = Array.from({ length: 6000 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      address: BigInt(i) << 20n,
      function: `g${i}`,
      stack: frames(i),
    }))
    events.push(
      { kind: 'alloc', stack: Array.from({ length: 70_000 }, (_, k) => `frame ${k}`) },
      { kind: 'free', stack: Array.from({ length: 70_000 }, () => 'same') },
    )
    encodesLikeOracle(new NdjsonEncoder(), new OracleEncoder(), batchesOf(events, HEADER))
    const bytes = encodeEvents(new OracleEncoder(), events, HEADER)
    for (const size of [65_536, 1 << 24]) decodesLikeOracle(new NdjsonDecoder(), new OracleDecoder(), bytes, size)
  })

  it('reads a line that is longer than its room behind as many events as it has room for', () => {
    const short = '{"kind":"free","address":"0x10"}\n'.repeat(4096)
    const long = `{"kind":"alloc",${' '.repeat(300_000)}"address":"0x20","size":77}\n`
    const text = `{"kind":"header","format":"x"}\n${short}${long}{"kind":"end","events":4097}\n`
    for (const size of [65_536, 1 << 24])
      decodesLikeOracle(new NdjsonDecoder(), new OracleDecoder(), Buffer.from(text), size)
  })

  it('keeps each distinct string and list of a batch once', () => {
    const events = Array.from({ length: 3000 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      function: `g${i % 50}`,
      file: `g${i % 70}`,
      stack: [`g${i % 3}`, 'main'],
    }))
    const decoder = new NdjsonDecoder()
    decoder.feed(encodeEvents(new NdjsonEncoder(), events, HEADER))
    const batch = decoder.next()
    expect({ events: batch?.count, strings: batch?.strings.size, lists: batch?.strings.listCount }).toEqual({
      events: 3000,
      strings: 71,
      lists: 3,
    })
  })
})
