import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { batchesOf } from '../../../lib/event/batch.js'
import { binaryDecoder, binaryEncoder } from '../../../lib/entry/metatf.js'
import { parseDtd } from '../../../lib/metatf/index.js'
import { mappingOf } from '../../../lib/metatf/mapping.js'
import { decodeAll, drive, encodeAll } from '../../support/drive.js'
import { HATF10, decode, encode } from './support.js'

const joined = (...parts: string[]) => parts.join('').replaceAll(' ', '')

/** Events through the writer and the reader. */
function back(dtd: Parameters<typeof encode>[0], events: readonly TraceEvent[]) {
  const { bytes, losses } = encode(dtd, events)
  const { events: read, error } = decode(dtd, bytes)
  expect(error).toBeUndefined()
  return { read, losses }
}

describe('HATF10.dtd', () => {
  test('as it is laid out', () => {
    const { hex, losses } = encode(HATF10, [
      { kind: 'comment', text: 'hi' },
      { kind: 'alloc', size: 16n, address: 0x1000n, attributes: new Uint8Array([7]) },
      { kind: 'realloc', oldAddress: 0x1000n, address: 0x2000n },
      { kind: 'free', address: 0x2000n },
      { kind: 'comment', text: '' },
    ])
    expect(hex).toBe(
      joined('01 02 6869', '02 01', '04 00000010 00001000 01 07', '05 00001000 00002000 00', '06 00002000 00', '01 00'),
    )
    expect(losses).toEqual({})
  })

  test('fields are widened, and defaults given up, by metadata', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', size: 1n, address: 1n, thread: 3n },
      { kind: 'alloc', size: 1n, address: 1n, thread: 3n },
      { kind: 'alloc', size: 2n ** 32n, address: 1n, thread: 4n },
      { kind: 'alloc', size: 1n, address: 1n, thread: 300n },
      { kind: 'free', address: 1n },
    ]
    const { hex } = encode(HATF10, events)
    expect(hex).toBe(
      joined(
        '02 01',
        '03 04 04 04 00000003',
        '04 00000001 00000001 00',
        '04 00000001 00000001 00',
        '03 04 01 00 00000008',
        '03 04 04 01',
        '03 04 04 00 00000001',
        '04 0000000100000000 00000001 04 00',
        '03 04 04 00 00000002',
        '04 0000000000000001 00000001 012c 00',
        '06 00000001 00',
      ),
    )
    expect(decode(HATF10, hex).events).toEqual(events)
  })

  test('long attributes and comments get longer lengths', () => {
    const long = new Uint8Array(300).fill(7)
    const events: TraceEvent[] = [
      { kind: 'free', address: 1n, attributes: long },
      { kind: 'comment', text: 'x'.repeat(65_536) },
      { kind: 'free', address: 1n },
    ]
    expect(back(HATF10, events)).toEqual({ read: events, losses: {} })
  })

  test('what has no place is counted', () => {
    const { read, losses } = back(HATF10, [
      { kind: 'realloc', size: 1n, oldAddress: 1n, address: 2n, outcome: 'moved' },
      { kind: 'lost' },
      { kind: 'existing', address: 1n, size: 1n },
      { kind: 'free', address: 1n, attributes: new Uint8Array(65_537), thread: 1n },
      { kind: 'free', address: 1n, attributes: new Uint8Array(0) },
      { kind: 'alloc', address: 1n },
      { kind: 'comment', text: 'x'.repeat(65_537) },
      { kind: 'comment' },
    ])
    expect(losses).toEqual({
      'size of realloc': 1,
      outcome: 1,
      'lost events': 1,
      'existing blocks, written as allocations': 1,
      'attributes of more than 65536 bytes': 1,
      'no thread, written as 0': 1,
      'empty attributes': 1,
      'no size, written as 0 or empty': 1,
      'text of more than 65536 bytes': 1,
      'no text, written as 0 or empty': 1,
    })
    expect(read.map(({ kind }) => kind)).toEqual(['realloc', 'alloc', 'free', 'free', 'alloc', 'comment', 'comment'])
  })

  test('an event without the api that its record has is counted', () => {
    const dtd = parseDtd(
      `tag.width = 1; address.width = 8; address.interpretation = none;
       malloc : (tag, address) { tag.value = 4; } kfree : (tag, address) { tag.value = 5; }`,
    )
    const losses = { 'no api, written as malloc': 1, 'no api, written as kfree': 1, 'api new, written as malloc': 1 }
    const { read, losses: counted } = back(dtd, [
      { kind: 'alloc', address: 1n },
      { kind: 'alloc', api: 'malloc', address: 2n },
      { kind: 'alloc', api: 'new', address: 3n },
      { kind: 'free', address: 1n },
    ])
    expect(read.map(({ api }) => api)).toEqual(['malloc', 'malloc', 'malloc', 'kfree'])
    expect(counted).toEqual(losses)
  })

  test('strict: the first loss is an error, behind what came before it', () => {
    const events: TraceEvent[] = [
      { kind: 'free', address: 1n },
      { kind: 'free', address: 1n, index: 7n },
    ]
    const { out, error } = drive(
      binaryEncoder(HATF10, { strict: true, header: false }),
      batchesOf(events, { format: 'x' }),
    )
    expect(Buffer.concat(out).toString('hex')).toBe(joined('02 01', '06 00000001 00'))
    expect(error?.message).toBe('metatf: event 2: cannot represent index of free events')
  })

  test('a trace is written again as it was read', () => {
    for (const [options, reading] of [
      [{}, {}],
      [
        { header: false, byteOrder: 'little' },
        { header: false, byteOrder: 'little' },
      ],
      [{ name: 'http://x.org/hatf.dtd', byteOrder: 'little', addressSize: 32 }, {}],
    ] as const) {
      const { bytes } = encode(HATF10, [{ kind: 'alloc', size: 1n, address: 2n, thread: 2n ** 40n }], options)
      const decoded = decodeAll(binaryDecoder(HATF10, reading), bytes)
      expect(encodeAll(binaryEncoder(HATF10), decoded.batches)).toEqual(bytes)
      // In another format's header the same names mean something else.
      const other = decoded.batches.flatMap((batch) => batchesOf(batch, { ...batch.header, format: 'other' }))
      expect(
        Buffer.from(encodeAll(binaryEncoder(HATF10), other))
          .subarray(0, 6)
          .toString('hex'),
      ).toBe('7f4d54460202')
    }
    const { bytes } = encode(HATF10, [], {})
    expect(decodeAll(binaryDecoder(HATF10), bytes)).toMatchObject({
      events: [],
      headers: [
        {
          format: 'metatf',
          layout: { header: true, dtd: 'hatf10.dtd', byteOrder: 'big', addressSize: 64, contiguous: false },
        },
      ],
    })
  })

  test('what it carries', () => {
    expect(Object.keys(mappingOf(HATF10).carried)).toEqual(
      expect.arrayContaining(['alloc', 'free', 'realloc', 'comment', 'existing']),
    )
    expect(() => binaryDecoder(parseDtd('## MetaTF: 1.2 x\n'))).toThrow('has no binary traces')
    expect(() => binaryEncoder(HATF10, { name: 'x'.repeat(256) })).toThrow(
      "the DTD's name has 256 bytes, more than 255",
    )
  })
})

describe('values that are not stored', () => {
  const dtd = `tag.width = 1;
    r : (tag, s, d, b, l, o) {
      tag.value = 4; s.interpretation = stride 0 4; d.interpretation = default 7; b.width = 1; b.interpretation = baseOffset 1000;
      l.width = 1; l.interpretation = delta 0; o.width = 1; o.interpretation = sectionOffset 1; }
    section s 1 { }`
  const event = (s: bigint, d: bigint, b: bigint, l: bigint, o: bigint): TraceEvent => ({
    kind: 'other',
    type: 'r',
    code: 4,
    fields: { s, d, b, l, o },
  })

  test('cost nothing while they are what they would be, and metadata when not', () => {
    const events = [
      event(4n, 7n, 1001n, 5n, 1n),
      event(8n, 7n, 999n, 4n, 2n),
      event(12n, 8n, 1200n, 2n ** 63n, 256n),
      event(16n, 8n, 1n, 0n, 2n ** 64n - 1n),
    ]
    const { hex } = encode(dtd, events.slice(0, 2))
    expect(hex).toBe(joined('04 01 05 01', '04 ff ff 02'))
    expect(encode(dtd, events.slice(0, 3)).hex).toBe(
      joined(
        hex,
        '03 04 02 04 00000008',
        '03 04 03 00 00000002',
        '03 04 04 00 00000008',
        '03 04 05 00 00000002',
        '04 00c8 7ffffffffffffffc 0100',
      ),
    )
    expect(back(dtd, events)).toEqual({ read: events, losses: {} })
  })

  test('truncated strides', () => {
    const events = [event(4n, 7n, 1n, 1n, 1n), event(9n, 7n, 1n, 1n, 1n), event(13n, 7n, 1n, 1n, 1n)]
    expect(back(dtd, events)).toEqual({ read: events, losses: {} })
  })
})

describe('fields', () => {
  const dtd = `tag.width = 1;
    n.width = 1; n.interpretation = none; x.width = 1; x.interpretation = none; k.width = 2; k.interpretation = none;
    r : (tag, k, n*(x, vfield)) { tag.value = 4; k.value = 258; }`
  const other = (fields: TraceEvent['fields']): TraceEvent => ({
    kind: 'other',
    type: 'r',
    code: 4,
    ...(fields && { fields }),
  })

  test('are lists, objects, numbers and bytes', () => {
    const events = [
      other({
        n: [
          { x: 1n, vfield: { data: 'YWI=' } },
          { x: 2n, vfield: { data: '' } },
        ],
      }),
      other({ n: [] }),
    ]
    expect(back(dtd, events)).toEqual({ read: events, losses: {} })
    expect(encode(dtd, events).hex).toBe(joined('04 0102 02 01 02 6162 02 00', '04 0102 00'))
  })

  test.each([
    ['a number for a list', { n: 1n }, 'r with a value where a list should be: left out'],
    ['a number for an object', { n: [1n] }, 'r with a value where an object should be: left out'],
    ['a string for a number', { n: [{ x: 'a' }] }, 'r with a value where an integer should be: left out'],
    ['a number for bytes', { n: [{ vfield: { data: 1n } }] }, 'r with bytes that are not in base64: left out'],
    ['a negative number', { n: [{ x: -1n }] }, 'r with the integer -1, which has more than 64 bits: left out'],
    ['too long a list', { n: Array.from({ length: 70_000 }, () => ({})) }, 'r with more than 65536 values: left out'],
    [
      'too many bytes',
      { n: Array.from({ length: 17 }, () => ({ vfield: { data: 'A'.repeat(87_380) } })) },
      'r with values that there is no room for: left out',
    ],
  ])('with %s', (_, fields, loss) => {
    expect(encode(dtd, [other(fields)])).toMatchObject({ losses: { [loss]: 1 } })
  })

  test('with names that the record does not have, or none at all', () => {
    expect(encode(dtd, [other({ y: 1n }), other({ constructor: 1n } as never), other(undefined)])).toMatchObject({
      hex: joined('04 0102 00').repeat(3),
      losses: { 'fields that r does not have': 2 },
    })
  })

  test('with wrong lengths', () => {
    const many =
      'tag.width = 1; n.width = 1; n.interpretation = none; x.width = 1; x.interpretation = none; r : (tag, n, n*x, n*(n2 : vfield)) { tag.value = 4; }'
    expect(encode(many, [other({ x: [1n, 2n], n2: [{ data: '' }] })]).losses).toEqual({
      'r with lists of other lengths than field n says: left out': 1,
    })
    const repeated =
      'tag.width = 1; n.width = 1; n.interpretation = none; m.width = 1; m.interpretation = none; r : (tag, n, m, m*d) { tag.value = 4; d.width = n.value; d.interpretation = none; }'
    expect(encode(repeated, [other({ d: ['YQ==', 'YWI='] })]).losses).toEqual({
      'no n, written as 0 or empty': 1,
      'r with values that there is no room for: left out': 1,
    })
    expect(back(repeated, [other({ d: ['YQ==', 'YWE='.slice(0, 0) + 'Yg=='] })])).toMatchObject({
      read: [other({ d: ['YQ==', 'Yg=='] })],
      losses: {},
    })
  })
})

test.each([-1, 0.5, NaN, Infinity])('a window of %s records is refused', (window) => {
  expect(() => binaryEncoder(HATF10, { window })).toThrow(RangeError)
})
