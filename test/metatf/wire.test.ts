import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import type { Encoder } from '../../lib/event/stage.js'
import { asciiDecoder } from '../../lib/metatf/ascii/decoder.js'
import { asciiEncoder } from '../../lib/metatf/ascii/encoder.js'
import { binaryDecoder, binaryEncoder, formatFileHeader } from '../../lib/entry/metatf.js'
import { headerLength } from '../../lib/metatf/binary/header.js'
import { parseDtd } from '../../lib/metatf/index.js'
import { ndjson } from '../../lib/formats/ndjson/index.js'
import { decodeAll, drive, encodeAll, encodeEvents } from '../support/drive.js'

/** Bytes to events, to lines, to events, to bytes. */
function throughLines(dtd: string, bytes: Uint8Array): Uint8Array {
  const model = parseDtd(dtd, 'x.dtd')
  const [decoder, encoder] =
    model.version === '1.0' ? [binaryDecoder(model), binaryEncoder(model)] : [asciiDecoder(model), asciiEncoder(model)]
  const { batches, error } = decodeAll(decoder, bytes)
  expect(error).toBeUndefined()
  const read = decodeAll(ndjson.decoder(), encodeAll(ndjson.encoder(), batches))
  expect(read.error).toBeUndefined()
  return encodeAll(encoder, read.batches)
}

describe('what a DTD can say, lines can carry', () => {
  test('the deepest record', () => {
    // 31 brackets and a record type inside of them.
    const counts = Array.from({ length: 32 }, (_, i) => `n${i}`)
    const dtd = `tag.width = 1; x.width = 1; x.interpretation = none;
      ${counts.map((n) => `${n}.width = 1; ${n}.interpretation = none;`).join(' ')}
      e : (x) { }
      r : (tag, ${counts
        .slice(1)
        .map((n) => `${n}*(`)
        .join('')}n0*e${')'.repeat(31)}) { tag.value = 4; }`
    const bytes = Uint8Array.from([4, ...Array<number>(32).fill(1), 7])
    expect(throughLines(dtd, bytes)).toEqual(bytes)
  })

  test('a field of any name, such as __proto__', () => {
    const ascii =
      'int __proto__ = none; int constructor = none;\nr : { tag, __proto__, { constructor }, __proto__ } { tag = 4; }'
    const text = Buffer.from('## A: b\n\n4 5 6 7\n')
    expect(Buffer.from(throughLines(ascii, text)).toString()).toBe(text.toString())
    const binary = `tag.width = 1; n.width = 1; n.interpretation = none; __proto__.width = 1; __proto__.interpretation = none;
      r : (tag, __proto__, n, n*__proto__) { tag.value = 4; }`
    const bytes = Uint8Array.of(4, 5, 2, 6, 7)
    expect(throughLines(binary, bytes)).toEqual(bytes)
  })

  const MANY = `tag.width = 1; n.width = 4; n.interpretation = none; number.interpretation = default 18446744073709551615;
    r : (tag, n, n*(number, number, number)) { tag.value = 4; }`

  test('no more: where values take too much, reading ends', () => {
    const record = (n: number) => [4, n >> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255]
    const { events, error } = decodeAll(
      binaryDecoder(parseDtd(MANY, 'x.dtd'), { header: false }),
      Uint8Array.from([...record(2), ...record(1000)]),
    )
    expect(error).toBeUndefined()
    expect(events).toHaveLength(2)
    const long = `tag.width = 1; n.width = 4; n.interpretation = none; ${'x'.repeat(2000)}.width = 1; ${'x'.repeat(2000)}.interpretation = none;
      r : (tag, n, n*(${'x'.repeat(2000)})) { tag.value = 4; }`
    const bytes = Uint8Array.from([...record(1), 9, ...record(1600), ...Array<number>(1600).fill(9)])
    const result = decodeAll(binaryDecoder(parseDtd(long, 'x.dtd'), { header: false }), bytes)
    expect(result.events).toHaveLength(1)
    expect(result.error?.message).toBe(
      'metatf: byte 6, event 2: over the limit: the values of an event take more than 3000000 characters',
    )
  })

  test('nor in ASCII', () => {
    const name = 'x'.repeat(2000)
    const dtd = parseDtd(
      `int n = none; int ${name} = none;\nr : { tag, n, n*{ ${name}, ${name} } } { tag = 4; }`,
      'x.dtd',
    )
    const text = `4 1 1 2\n4 1600 ${'1 2 '.repeat(1600)}\n`
    const { events, error } = decodeAll(asciiDecoder(dtd), Buffer.from(text))
    expect(events).toHaveLength(1)
    expect(error?.message).toBe(
      'metatf-ascii: line 2, column 1, byte 8, event 2: over the limit: the values of an event take more than 3000000 characters',
    )
  })
})

describe('the unit of times', () => {
  const TIMED = `## TimeUnit: us
    tag.width = 1; time.width = 4; time.interpretation = none; address.width = 4; address.interpretation = none;
    free : (tag, address, time) { tag.value = 4; }`
  const EVENTS: TraceEvent[] = [{ kind: 'free', address: 1n, time: 2n }]

  test('is what the DTD says at its beginning', () => {
    const dtd = parseDtd(TIMED, 'x.dtd')
    const bytes = encodeEvents(binaryEncoder(dtd), EVENTS, { format: 'heapmon', timeUnit: 'us' })
    expect(decodeAll(binaryDecoder(dtd), bytes)).toMatchObject({
      events: EVENTS,
      headers: [{ format: 'metatf', timeUnit: 'us' }],
    })
    const headerless = bytes.subarray(bytes.indexOf(4, 28 + 5))
    expect(decodeAll(binaryDecoder(dtd), headerless)).toMatchObject({
      events: EVENTS,
      headers: [{ timeUnit: 'us', layout: { header: false } }],
    })
    expect(encodeEvents(binaryEncoder(dtd), EVENTS, { format: 'unknown' })).toEqual(bytes)
    const without = parseDtd(TIMED.replace(/##.*\n/, ''), 'x.dtd')
    expect(decodeAll(binaryDecoder(without), bytes).headers[0]).not.toHaveProperty('timeUnit')
  })

  test('is a loss where neither the DTD nor the trace states it, and counted where the DTD gives one', () => {
    const losses = (encoder: Encoder, timeUnit?: 'ns' | 'us') => {
      encodeEvents(encoder, EVENTS, { format: 'any', ...(timeUnit && { timeUnit }) })
      return [...encoder.losses.counts]
    }
    const without = TIMED.replace(/##.*\n/, '')
    const taken = [['times without a unit, taken for microseconds', 1]]
    expect(losses(binaryEncoder(parseDtd(without, 'x.dtd')), 'ns')).toEqual([['the unit of times', 1]])
    expect(losses(binaryEncoder(parseDtd(without, 'x.dtd')))).toEqual([])
    expect(losses(binaryEncoder(parseDtd(TIMED, 'x.dtd')), 'us')).toEqual([])
    expect(losses(binaryEncoder(parseDtd(TIMED, 'x.dtd')))).toEqual(taken)
    const ascii = 'int time = none; int address = none;\nfree : { tag, address, time } { tag = 4; }'
    for (const unit of ['ns', 'us', undefined] as const)
      expect(losses(asciiEncoder(parseDtd(ascii, 'x.dtd')), unit)).toEqual([])
    expect(losses(asciiEncoder(parseDtd(`## TimeUnit: us\n${ascii}`, 'x.dtd')))).toEqual(taken)
    // The lines of a head that was read are kept, so a unit that they do not state is lost.
    const encoder = asciiEncoder(parseDtd(ascii, 'x.dtd'))
    encodeEvents(encoder, EVENTS, { format: 'metatf-ascii', timeUnit: 'ns', layout: { head: '## A: b\n\n' } })
    expect([...encoder.losses.counts]).toEqual([['the unit of times', 1]])
  })

  test('is not taken for another', () => {
    const { out, error } = drive(binaryEncoder(parseDtd(TIMED, 'x.dtd')), encodeBatches(EVENTS, 'ns'))
    expect(error).toMatchObject({
      code: 'ERR_TRACE_UNENCODABLE',
      message: 'metatf: times are in ns, and the DTD says us',
    })
    expect(out).toEqual([])
    expect(
      drive(binaryEncoder(parseDtd(TIMED, 'x.dtd')), encodeBatches([{ kind: 'free', address: 1n }], 'ns')).error,
    ).toBeUndefined()
  })

  test('in ASCII a line of the trace comes first', () => {
    const dtd = parseDtd(
      '## TimeUnit: us\nint time = none; int address = none;\nfree : { tag, address, time } { tag = 4; }',
      'x.dtd',
    )
    const unit = (text: string) => decodeAll(asciiDecoder(dtd), Buffer.from(text)).headers[0]?.timeUnit
    expect(unit('## A: b\n\n4 0x1 2\n')).toBe('us')
    expect(unit('## TimeUnit: ns\n\n4 0x1 2\n')).toBe('ns')
  })

  function encodeBatches(events: readonly TraceEvent[], timeUnit: 'ns' | 'us') {
    return decodeAll(ndjson.decoder(), encodeEvents(ndjson.encoder(), events, { format: 'any', timeUnit })).batches
  }
})

describe('the name of the DTD', () => {
  const rename = (name: string | null) => (name === 'http://x.org/a.dtd' ? name : 'b.dtd')

  test('in a binary header that was read', () => {
    const dtd = parseDtd(
      'tag.width = 1; address.width = 1; address.interpretation = none; free : (tag, address) { tag.value = 4; }',
      'b.dtd',
    )
    const nameOf = (layout: object, options: object) => {
      const bytes = encodeEvents(binaryEncoder(dtd, options), [{ kind: 'free', address: 1n }], {
        format: 'metatf',
        layout: layout as never,
      })
      return decodeAll(binaryDecoder(dtd), bytes).headers[0]?.layout?.['dtd']
    }
    expect(nameOf({ dtd: 'http://x.org/a.dtd' }, { rename })).toBe('http://x.org/a.dtd')
    expect(nameOf({ dtd: 'http://x.org/c.dtd' }, { rename })).toBe('b.dtd')
    expect(nameOf({ dtd: 'http://x.org/c.dtd' }, {})).toBe('http://x.org/c.dtd')
    expect(nameOf({ dtd: '' }, {})).toBe('')
    expect(nameOf({ dtd: 'http://x.org/a.dtd' }, { rename, name: 'c' })).toBe('c')
    expect(nameOf({}, { rename })).toBe('b.dtd')
  })

  test('in a head in ASCII that was read', () => {
    const dtd = parseDtd('int address = none;\nfree : { tag, address } { tag = 4; }', '/some/where/b.dtd')
    const headOf = (head: string | undefined, options: object) => {
      const header = { format: 'metatf-ascii', ...(head !== undefined && { layout: { head } }) }
      return Buffer.from(encodeEvents(asciiEncoder(dtd, options), [{ kind: 'free', address: 1n }], header))
        .toString()
        .replace('4 0x1\n', '')
    }
    expect(headOf(undefined, {})).toBe('## DTDURL: b.dtd\n\n')
    expect(headOf('## A: b\n## DTDURL: http://x.org/a.dtd\n\n', { rename })).toBe(
      '## A: b\n## DTDURL: http://x.org/a.dtd\n\n',
    )
    expect(headOf('## A: b\r\n## DTDURL: c.dtd \r\n## C: d\r\n\r\n', { rename })).toBe(
      '## A: b\r\n## DTDURL: b.dtd\r\n## C: d\r\n\r\n',
    )
    expect(headOf('## A: $1\n\n', { rename })).toBe('## DTDURL: b.dtd\n## A: $1\n\n')
    expect(headOf('## A: b\n\n', {})).toBe('## A: b\n\n')
    expect(headOf('## DTDURL: c\n\n', { rename: () => '$&' })).toBe('## DTDURL: $&\n\n')
  })
})

describe('comments inside a table that is read from elsewhere', () => {
  const DTD = parseDtd(
    `tag.width = 1;
    r : (tag, x) { tag.value = 4; x.interpretation = sectionStride 2 1; }
    section table 2 { element : (tag, v) { tag.value = 9; v.width = 1; v.interpretation = none; } }`,
    'x.dtd',
  )
  const at = headerLength(0, 1)
  const bytes = Uint8Array.from([
    ...formatFileHeader({
      addressSize: 64,
      byteOrder: 'big',
      dtd: '',
      start: at,
      records: 0,
      sections: [{ id: 2, start: at + 2, size: 10 }],
    }),
    4,
    4,
    9,
    1,
    1,
    1,
    65,
    9,
    2,
    1,
    1,
    66,
  ])

  test('are left out, which is told once', () => {
    const decoder = binaryDecoder(DTD, { read: (offset, length) => bytes.slice(offset, offset + Math.min(4, length)) })
    const { events, error } = decodeAll(decoder, bytes)
    expect(error).toBeUndefined()
    expect(events.map(({ kind, fields }) => [kind, fields])).toEqual([
      ['other', { x: 1n }],
      ['other', { x: 2n }],
    ])
    expect(decoder.warnings).toEqual([
      `metatf: byte ${at + 4}: the comments inside section 2, a table that is read apart from the records, are left out`,
    ])
  })
})
