import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { asciiDecoder } from '../../../lib/metatf/ascii/decoder.js'
import { asciiEncoder } from '../../../lib/metatf/ascii/encoder.js'
import { DtdError, parseDtd, type Dtd } from '../../../lib/metatf/index.js'
import { decodeAll, encodeEvents } from '../../support/drive.js'
import { name, u64 } from '../../support/random-event.js'
import { EVERYTHING } from './dtds.js'

const HEADER = { format: 'metatf-ascii', layout: { head: '## A: b\n\n' } }

function decode(text: string, dtd: Dtd = EVERYTHING, size?: number, lastLine = false) {
  const decoder = asciiDecoder(dtd, { lastLine })
  const decoded = decodeAll(decoder, new Uint8Array(Buffer.from(text, 'latin1')), size)
  return { ...decoded, warnings: decoder.warnings }
}

function encode(events: TraceEvent[], dtd: Dtd = EVERYTHING, header: object = HEADER) {
  const encoder = asciiEncoder(dtd)
  const bytes = encodeEvents(encoder, events, header as typeof HEADER)
  return { text: Buffer.from(bytes).toString('latin1'), losses: Object.fromEntries(encoder.losses.counts) }
}

/** The lines of one trace, for differences go on from line to line, and the event that each is. */
const LINES: [string, TraceEvent][] = [
  [
    '300 24 16 0x10 "a.c" -90 3',
    { kind: 'alloc', time: 1024n, size: 16n, address: 16n, file: 'a.c', cpu: 3, fields: { weight: 10n } },
  ],
  [
    '300 -1025 0 0x0 "" 18446744073709551515 4294967296', // The weight as an unsigned number is read, but not written.
    {
      kind: 'alloc',
      time: 2n ** 64n - 1n,
      size: 0n,
      address: 0n,
      file: '',
      fields: { weight: 2n ** 64n - 1n, cpu: 4294967296n },
    },
  ],
  [
    '300 1 0 0x0 "\\x00\\n\\t\\r\\"\\\\\\x7f\xff" -101 18446744073709551615',
    {
      kind: 'alloc',
      time: 0n,
      size: 0n,
      address: 0n,
      file: '\0\n\t\r"\\\x7f\udcff',
      cpu: -1,
      fields: { weight: 2n ** 64n - 1n },
    },
  ],
  ['7 "huge" 4096', { kind: 'other', type: 'page', code: 7, fields: {} }],
  ['0 0xff', { kind: 'free', address: 255n, size: 16n, fields: { step: 0n } }],
  ['0 0xff', { kind: 'free', address: 255n, size: 16n, fields: { step: 4n } }],
  [
    '2 8 0x10 0x20 "b.c" 12',
    { kind: 'realloc', size: 8n, oldAddress: 16n, address: 32n, file: 'b.c', line: 12, fields: { reason: 'none' } },
  ],
  [
    '3 8 0x10 0x20 "b.c" 4294967296',
    {
      kind: 'realloc',
      size: 8n,
      oldAddress: 16n,
      address: 32n,
      file: 'b.c',
      code: 3,
      fields: { place: { line: 4294967296n }, reason: 'none' },
    },
  ],
  [
    '4294967295 2 1 -4 2 0 77 5 9 1 2 1 7 "x" 0 "y"',
    {
      kind: 'other',
      type: 'shape',
      code: 0xffff_ffff,
      fields: {
        point: [
          { x: 1n, y: 6n },
          { x: 2n, y: 6n },
        ],
        tagged: { mark: 5n },
        centre: { x: 9n, y: 11n },
        rows: [
          { size: [7n], file: 'x' },
          { size: [], file: 'y' },
        ],
      },
    },
  ],
  [
    '4294967295 1 3 4 77 5 9 1 0',
    {
      kind: 'other',
      type: 'shape',
      code: 0xffff_ffff,
      fields: { point: [{ x: 3n, y: 10n }], tagged: { mark: 5n }, centre: { x: 9n, y: 12n }, rows: [] },
    },
  ],
  ['5 2 3 4 "p" "q"', { kind: 'other', type: 'twice', code: 5, fields: { size: [3n, 4n], file: ['p', 'q'] } }],
  ['6', { kind: 'other', type: 'empty', code: 6, fields: {} }],
  ['8 5 2 1 9 0', { kind: 'other', type: 'note', code: 8, fields: { offset: 5n, k: [{ size: [9n] }, { size: [] }] } }],
  ['9 "h\xc3\xa4"', { kind: 'comment', text: 'hä' }],
  ['10 "name"', { kind: 'other', type: 'name', code: 10, fields: { string2: 'name' } }],
]

describe('records of any DTD', () => {
  const text = `## A: b\n\n${LINES.map(([line]) => `${line}\n`).join('')}`
  const canonical = text.replace('18446744073709551515', '-101')

  it.each([1, 7, 1000])('are read in chunks of %i and written again', (size) => {
    const { events, error, headers } = decode(text, EVERYTHING, size)
    expect(error).toBeUndefined()
    expect(headers).toEqual([HEADER])
    expect(events).toEqual(LINES.map(([, event]) => event))
    expect(encode(events)).toEqual({ text: canonical, losses: {} })
  })

  it('come back whatever they hold', () => {
    const file = name
    const size = u64
    const event: fc.Arbitrary<TraceEvent> = fc.oneof(
      fc.record({
        kind: fc.constant('alloc' as const),
        time: u64,
        size,
        address: u64,
        file,
        cpu: fc.integer(),
        fields: fc.record({ weight: u64 }),
      }),
      fc.record({
        kind: fc.constant('realloc' as const),
        size,
        address: u64,
        oldAddress: u64,
        file,
        line: fc.nat(),
        fields: fc.constant({ reason: 'none' }),
      }),
      fc.record({ kind: fc.constant('comment' as const), text: name }),
      fc.record({
        kind: fc.constant('other' as const),
        type: fc.constant('shape'),
        code: fc.constant(0xffff_ffff),
        fields: fc.record({
          point: fc.array(fc.record({ x: u64, y: u64 }), { maxLength: 3 }),
          tagged: fc.record({ mark: u64 }),
          centre: fc.record({ x: u64, y: u64 }),
          rows: fc.array(fc.record({ size: fc.array(u64, { maxLength: 3 }), file }), { maxLength: 3 }),
        }),
      }),
      fc.record({
        kind: fc.constant('other' as const),
        type: fc.constant('page'),
        code: fc.constant(7),
        fields: fc.constant({}),
      }),
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (events) => {
        const { text, losses } = encode(events)
        expect(losses).toEqual({})
        const back = decode(text)
        expect(back.error).toBeUndefined()
        expect(back.events).toEqual(events)
      }),
    )
  })

  it('may have any spaces, CR LF, empty lines and numbers of either base', () => {
    const { events } = decode('## A: b\n\n2 8 0x10 0x20 "b  c" 12\n')
    for (const line of [
      '\t 2 8 16 32\t"b  c" 12 ',
      '2 0x8 0X10 0x0020 "b  c" 012\r',
      '\n\r\n2  8 0x10 0x20 "b  c" 0xc\n',
    ]) {
      const { events: same, error } = decode(`## A: b\n\n${line}\n`)
      expect(error).toBeUndefined()
      expect(same).toEqual(events)
    }
  })

  it.each<[TraceEvent, string, Record<string, number>]>([
    [{ kind: 'free', address: 1n, size: 17n }, '0 0x1', { 'size other than what the DTD makes it': 1 }],
    [{ kind: 'free', address: 1n, size: 16n, thread: 1n }, '0 0x1', { thread: 1 }],
    [
      { kind: 'free', fields: { step: 4n } },
      '0 0x0',
      {
        'no address, written as 0 or empty': 1,
        'no size, written as 0 or empty': 1,
        'step other than what the DTD makes it': 1,
      },
    ],
    [{ kind: 'comment' }, '9 ""', { 'no text, written as 0 or empty': 1 }],
    [{ kind: 'comment', text: 'x', fields: { more: 1n } }, '9 "x"', { 'fields of comment': 1 }],
    [
      { kind: 'alloc', time: 1000n, size: 1n, address: 1n, file: '', fields: { weight: 100n } },
      '300 0 1 0x1 "" 0 0',
      { 'no cpu, written as 0 or empty': 1 },
    ],
    [
      { kind: 'existing', time: 1000n, size: 1n, address: 1n, file: '', cpu: 0, fields: { weight: 100n } },
      '300 0 1 0x1 "" 0 0',
      { 'existing blocks, written as allocations': 1 },
    ],
    [
      { kind: 'alloc', time: 1000n, size: 1n, address: 1n, file: '', cpu: 0, fields: { weight: 100n, more: 1n } },
      '300 0 1 0x1 "" 0 0',
      { 'fields that alloc does not have': 1 },
    ],
    [
      { kind: 'other', type: 'page', fields: { kind: 'small', size: 4096n } },
      '7 "huge" 4096',
      { 'kind of page that is not what it always is there': 1 },
    ],
    [{ kind: 'other', type: 'page', code: 8 }, '', { 'other events that no record is for': 1 }],
    [{ kind: 'other', fields: {} }, '', { 'other events that no record is for': 1 }],
    [{ kind: 'other', code: 6 }, '6', {}],
    [
      { kind: 'other', type: 'twice', fields: { size: [1n], file: [] } },
      '',
      { 'twice with lists of other lengths than field n says: left out': 1 },
    ],
    [
      { kind: 'other', type: 'twice', fields: { size: [1n], file: [2n] } },
      '',
      { 'twice with a value where a string should be: left out': 1 },
    ],
    [
      { kind: 'other', type: 'twice', fields: { size: 'x' } },
      '',
      { 'twice with a value where a list should be: left out': 1 },
    ],
    [
      { kind: 'other', type: 'twice', fields: { size: [2n ** 64n], file: ['x'] } },
      '',
      { 'twice with the integer 18446744073709551616, which has more than 64 bits: left out': 1 },
    ],
    [
      { kind: 'other', type: 'shape', fields: { tagged: [] } },
      '',
      { 'shape with a value where an object should be: left out': 1 },
    ],
    [
      { kind: 'realloc', code: 9, size: 1n, address: 1n, oldAddress: 1n, file: '', line: 1 },
      '2 1 0x1 0x1 "" 1',
      { 'code of realloc': 1 },
    ],
    [{ kind: 'reserve', size: 1n }, '', { 'reserve events': 1 }],
  ])('%o is written with what it loses counted', (event, line, losses) => {
    const encoded = encode([event])
    expect(encoded.text).toBe(`## A: b\n\n${line}${line === '' ? '' : '\n'}`)
    expect(encoded.losses).toEqual(losses)
  })

  it('an event that cannot be written changes nothing for the next', () => {
    const shape = (point: unknown, x: bigint): TraceEvent => ({
      kind: 'other',
      type: 'shape',
      fields: { point, tagged: { mark: 0n }, centre: { x, y: 20n }, rows: [] } as never,
    })
    expect(encode([shape([{ x: 1n, y: 15n }, 1n], 0n), shape([], 0n)]).text).toBe(
      '## A: b\n\n4294967295 0 77 0 0 10 0\n',
    )
  })

  it('tells sections that have the same names and tags apart only where lines can', () => {
    const refused = (text: string) => {
      try {
        asciiDecoder(parseDtd(text, 'x.dtd'))
      } catch (error) {
        if (error instanceof DtdError) return error.message
      }
      return 'no error'
    }
    expect(refused('a.width = 1; tag.width = 1;')).toBe(
      'x.dtd:1:1: only a DTD of Meta-TF 1.2 says what is in a trace in ASCII; this is one of 1.0',
    )
    expect(refused('section a 1 { x : {tag} { tag = 1; } }\nsection b 2 { y : {tag} { tag = 1; } }')).toBe(
      "x.dtd:2:15: 'y' and 'x' have the same tag, 1: lines in ASCII do not say in which section they are ('x' is defined at x.dtd:1:15)",
    )
    expect(
      refused(
        'int v = none;\nsection a 1 { x : {tag, v} { tag = 1; } }\nsection b 2 { y : {tag, z} { tag = 2; int z = sectionStride 1 1; } }',
      ),
    ).toMatch(/^x.dtd:3:\d+: 'z' has the interpretation sectionStride/)
  })
})

describe('heads', () => {
  it('hold the unit of times', () => {
    const event: TraceEvent = {
      kind: 'alloc',
      time: 1000n,
      size: 1n,
      address: 1n,
      file: '',
      cpu: 0,
      fields: { weight: 100n },
    }
    const { text } = encode([event], EVERYTHING, { format: 'replay', timeUnit: 'ns' })
    expect(text).toBe('## DTDURL: everything.dtd\n## TimeUnit: ns\n\n300 0 1 0x1 "" 0 0\n')
    expect(decode(text).headers).toEqual([
      { format: 'metatf-ascii', timeUnit: 'ns', layout: { head: '## DTDURL: everything.dtd\n## TimeUnit: ns\n\n' } },
    ])
  })

  it.each(['', '## A: b\n', '## A: b\n\n', '\n', '##A:b\r\n\r\n', '## A: b\n\n## C: d\n\n', '6\n## A: \xff:\n6\n'])(
    '%j comes back, with records and without',
    (head) => {
      for (const text of [head, `${head}6\n`]) {
        for (const size of [1, 1000]) {
          const { batches, error, headers } = decode(text, EVERYTHING, size)
          expect(error).toBeUndefined()
          expect(headers.length).toBeGreaterThan(0)
          const encoder = asciiEncoder(EVERYTHING)
          const parts = batches.map((batch) => {
            encoder.feed(batch)
            return Buffer.from(encoder.next() ?? []).toString('latin1')
          })
          expect(parts.join('')).toBe(text)
        }
      }
    },
  )

  it('of other formats, and heads that are none, are not taken over', () => {
    for (const head of ['x', '## A: b', '6\n', 7, '## A: b\n6\n', `## A: ${'b'.repeat(70_000)}\n`]) {
      expect(encode([], EVERYTHING, { format: 'metatf-ascii', layout: { head } }).text).toBe(
        '## DTDURL: everything.dtd\n\n',
      )
    }
    expect(encode([], EVERYTHING, { format: 'other', layout: { head: '## A: b\n' } }).text).toBe(
      '## DTDURL: everything.dtd\n\n',
    )
  })
})

describe('faults', () => {
  const before = '## A: b\n\n6\r\n\n'

  it.each([
    ['x', 1, 'a tag'],
    ['-1', 1, 'a tag'],
    ['#', 1, 'a line "## Key: value"'],
    ['##', 1, 'a line "## Key: value"'],
    ['## :x', 1, 'a line "## Key: value"'],
    ['11', 1, 'a tag that the DTD has'],
    ['18446744073709551616', 1, 'a tag'],
    ['4294967296', 1, 'a tag that the DTD has'],
    ['78 5', 1, 'a tag that the DTD has'],
    ['6 1', 3, 'the end of the line'],
    ['6x', 2, 'the end of the line'],
    ['6 \r1', 4, 'the end of the line'],
    ['0', 2, "'address', a number"],
    ['0 ', 3, "'address', a number"],
    ['0 0x', 5, "'address', a number"],
    ['0 -1', 3, "'address', a number"],
    ['0 0x1 16', 7, 'the end of the line'],
    ['9 x', 3, "'message', a string in quotes"],
    ['9 "x', 5, "'message', a string in quotes"],
    ['9 "\\q"', 5, "'message', a string in quotes"],
    ['9 "\\x1g"', 7, "'message', a string in quotes"],
    ['9 "x" "y"', 7, 'the end of the line'],
    ['9 "x"y', 6, 'the end of the line'],
    ['7 "tiny" 4096', 3, `'kind', "huge"`],
    ['7 "huge" 4097', 10, "'size', 4096"],
    ['5 2 3', 6, "'size', a number"],
    ['5 1 3', 6, "'file', a string in quotes"],
    ['300 -9223372036854775809 1 1 "" 0 0', 6, "'time', a number"],
    ['300 18446744073709551616 1 1 "" 0 0', 5, "'time', a number"],
    ['4294967295 0 78', 14, "'tag', 77"],
  ])('%j', (line, column, expected) => {
    const whole = `${before}${line}\n6\n`
    for (const size of [whole.length, 1, 7]) {
      const { events, error } = decode(whole, EVERYTHING, size)
      expect(error).toMatchObject({
        code: 'ERR_TRACE_MALFORMED',
        format: 'metatf-ascii',
        line: 5,
        column,
        offset: before.length + column - 1,
        event: 2,
      })
      expect(error?.message).toContain(`expected ${expected}`)
      expect(events).toHaveLength(1)
    }
  })

  it('bounds numbers of values, lines and heads', { tags: ['slow'] }, () => {
    for (const line of [
      '5 4294967295 1',
      '5 18446744073709551615 1',
      `5 600000 ${'1 '.repeat(500_000)}`,
      `9 "${'x'.repeat(1 << 20)}"`,
      ' '.repeat(1 << 21),
    ]) {
      for (const text of [`6\n${line}\n`, `6\n${line}`]) {
        for (const size of [text.length, 65_536]) {
          const { events, error } = decode(text, EVERYTHING, size, true)
          expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', line: 2, column: 1, offset: 2, event: 2 })
          expect(events).toHaveLength(1)
        }
      }
    }
    const nothing = parseDtd('int x = default 1; int a = none; int b = none; r : {tag, a, a*{b, b*x}} { tag = 1; }')
    expect(decode('1 2 500000 500000\n', nothing).error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 1 })
    expect(decode('## A: b\n'.repeat(10_000)).error).toMatchObject({ code: 'ERR_TRACE_LIMIT', line: 8193, event: 1 })
  })

  it('tells a cut line from a broken one', () => {
    expect(decode('6\n0 0x', EVERYTHING, 1, true).error).toMatchObject({
      code: 'ERR_TRACE_TRUNCATED',
      line: 2,
      column: 5,
      offset: 6,
      event: 2,
    })
    expect(decode('6\n0 0x5', EVERYTHING, 1, true)).toMatchObject({ warnings: [] })
    expect(decode('6\n0 0x5').events).toHaveLength(1)
    expect(decode('6\n0 0x5').error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', line: 2, offset: 2, event: 2 })
    expect(decode('## A').error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', line: 1, offset: 0, event: 1 })
  })
})
