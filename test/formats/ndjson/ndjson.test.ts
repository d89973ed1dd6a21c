import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { TraceError } from '../../../lib/event/error.js'
import { NO_HEADER, type TraceHeader } from '../../../lib/event/header.js'
import { NdjsonDecoder } from '../../../lib/formats/ndjson/decode.js'
import { NdjsonEncoder } from '../../../lib/formats/ndjson/encode.js'
import { MAX_LINE_BYTES } from '../../../lib/formats/ndjson/layout.js'
import { decodeAll, drive, encodeAll, encodeEvents } from '../../support/drive.js'
import { anyEvent } from '../../support/random-event.js'
import { stopwatch } from '../../support/stopwatch.js'

const HEADER: TraceHeader = { format: 'mtrc', timeUnit: 'ns', layout: { version: 10501, byteOrder: 'little' } }
const bytes = (text: string) => new TextEncoder().encode(text)
const lines = (...records: string[]) => bytes(records.map((record) => `${record}\n`).join(''))
const decode = (...records: string[]) => decodeAll(new NdjsonDecoder(), lines(...records))

describe('the canonical form', () => {
  test('one line per event between a header and an end record', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', api: 'calloc', thread: 140_294_642_181_952n, address: 0x7f00_1234_5678n, size: 48n, count: 3n },
      { kind: 'free', address: 0n, function: 'main', line: 0 },
      {
        kind: 'realloc',
        sequence: -2_147_483_648,
        outcome: 'moved',
        stack: ['a', 'b|c'],
        attributes: Uint8Array.of(1, 2, 255),
      },
    ]
    expect(Buffer.from(encodeEvents(new NdjsonEncoder(), events, HEADER)).toString()).toBe(
      [
        '{"kind":"header","format":"mtrc","timeUnit":"ns","layout":{"version":10501,"byteOrder":"little"}}',
        '{"kind":"alloc","api":"calloc","thread":140294642181952,"address":"0x7f0012345678","size":48,"count":3}',
        '{"kind":"free","address":"0x0","function":"main","line":0}',
        '{"kind":"realloc","sequence":-2147483648,"outcome":"moved","stack":["a","b|c"],"attributes":"AQL/"}',
        '{"kind":"end","events":3}',
        '',
      ].join('\n'),
    )
  })

  test('any events come back the same, in pieces of any size', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 20 }), fc.constantFrom(1, 7, 64, 1 << 20), (events, size) => {
        const {
          events: back,
          headers,
          error,
        } = decodeAll(new NdjsonDecoder(), encodeEvents(new NdjsonEncoder(), events, HEADER), size)
        expect(error).toBeUndefined()
        expect(back).toEqual(events)
        expect(headers).toEqual([HEADER])
      }),
    )
  })

  test('lines that JSON.stringify made, or with spaces and escapes, give the same events', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 10 }), (events) => {
        const canonical = Buffer.from(encodeEvents(new NdjsonEncoder(), events, HEADER)).toString()
        // Spaces around the colon and comma after a key or value: outside strings, for no string here holds such text.
        const spaced = canonical.replace(/^\{"kind":"([a-z-]+)"/gm, ' { "kind" :\t"$1" ').replace(/\}$/gm, ' } ')
        expect(decodeAll(new NdjsonDecoder(), bytes(spaced)).events).toEqual(events)
      }),
    )
  })

  test('more events than a batch holds, and a second header', () => {
    const events = Array.from({ length: 10_000 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      size: BigInt(i),
      address: BigInt(i) << 33n,
    }))
    const encoder = new NdjsonEncoder()
    const parts: Uint8Array[] = []
    for (const batch of [...batchesOf(events, HEADER), ...batchesOf(events.slice(0, 3), { format: 'replay' })]) {
      encoder.feed(batch)
      for (let out = encoder.next(); out !== null; out = encoder.next()) parts.push(out)
    }
    encoder.end()
    for (let out = encoder.next(); out !== null; out = encoder.next()) parts.push(out)
    const back = decodeAll(new NdjsonDecoder(), Buffer.concat(parts), 65_536)
    expect(back.error).toBeUndefined()
    expect(back.headers).toEqual([HEADER, { format: 'replay' }])
    expect(back.events).toEqual([...events, ...events.slice(0, 3)])
  })

  test('a trace without events between two others arrives', () => {
    const header = (format: string) => `{"kind":"header","format":"${format}"}`
    const { headers, events, error } = decode(
      header('a'),
      '{"kind":"end","events":0}',
      header('b'),
      '{"kind":"alloc"}',
      '{"kind":"end","events":1}',
    )
    expect({ headers: headers.map(({ format }) => format), events: events.length, error }).toEqual({
      headers: ['a', 'b'],
      events: 1,
      error: undefined,
    })
  })

  test('a header without events arrives', () => {
    const { headers, events, error } = decodeAll(new NdjsonDecoder(), encodeEvents(new NdjsonEncoder(), [], HEADER))
    expect({ headers, events, error }).toEqual({ headers: [HEADER], events: [], error: undefined })
  })
})

describe('lines that others rewrote', () => {
  test('integers of any length keep all their digits, as numbers or strings', () => {
    const { events } = decode(
      '{ "thread": 18446744073709551615, "kind": "alloc", "size": "9007199254740993", "address": "0xFFFFFFFFFFFFFFFF" }',
      '{"size":9007199254740993,"kind":"alloc"}',
    )
    expect(events).toEqual([
      { kind: 'alloc', thread: 2n ** 64n - 1n, size: 2n ** 53n + 1n, address: 2n ** 64n - 1n },
      { kind: 'alloc', size: 2n ** 53n + 1n },
    ])
  })

  test('fractions of any length in fields that are not ours do no harm', () => {
    expect(decode('{"kind":"alloc","size":8,"ratio":0.12345678901234567}').events).toEqual([
      { kind: 'alloc', size: 8n },
    ])
  })

  test('no header and no end record are needed where there was no header', () => {
    const { events, error, headers } = decode('{"kind":"alloc","size":1}', '{"kind":"free","address":"0x10"}')
    expect(error).toBeUndefined()
    expect(events).toHaveLength(2)
    expect(headers).toEqual([NO_HEADER])
  })

  test('null means absent, blank lines and CR LF do not matter, nor does a missing last newline', () => {
    const text = '{"kind":"alloc","size":null}\r\n\r\n\n{"kind":"free","time":7}'
    expect(decodeAll(new NdjsonDecoder(), bytes(text)).events).toEqual([{ kind: 'alloc' }, { kind: 'free', time: 7n }])
  })

  test.each([
    ['', []],
    ['AQ', [1]],
    ['AQ==', [1]],
    ['AQI', [1, 2]],
    ['AQI=', [1, 2]],
    ['AQID', [1, 2, 3]],
  ])('base64 may have no padding: %j', (text, values) => {
    for (const line of [`{"kind":"alloc","attributes":"${text}"}`, `{ "attributes" : "${text}", "kind": "alloc" }`]) {
      const [event] = decode(line).events
      expect([...((event as { attributes?: Uint8Array } | undefined)?.attributes ?? [])]).toEqual(values)
    }
  })

  test.each(['A', 'AQIDB', 'AQ=', 'AQID=', 'AQID==', 'A===', 'A=Q='])('%j is not base64', (text) => {
    expect(decode(`{"kind":"alloc","attributes":"${text}"}`).error?.message).toMatch('attributes is not base64')
  })

  test('null means absent in the header and the end record, too', () => {
    const line = '{"kind":"header","format":"mtrc","timeUnit":null,"layout":null,"filtered":null,"part":null}'
    const { headers, events, error } = decode(line, '{"kind":"alloc"}', '{"kind":"end","events":null}')
    expect([headers, events.length, error]).toEqual([[{ format: 'mtrc' }], 1, undefined])
    const part = '"part":{"of":"x","trace":1,"whole":null,"first":null}'
    expect(decode(`{"kind":"header","format":"mtrc",${part}}`, '{"kind":"end","events":0}').headers).toEqual([
      { format: 'mtrc', part: { of: 'x', trace: 1 } },
    ])
    expect(decode('{"kind":"header","format":null}').error?.message).toMatch('must name a format')
  })

  test.each(['', '\n'])(
    'a missing end record is reported at the end of the input, after a last line with %j',
    (end) => {
      const text = bytes(`{"kind":"header","format":"x"}${end}`)
      const { error } = decodeAll(new NdjsonDecoder(), text)
      expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: text.length, line: 2, event: 1 })
    },
  )

  test('a last line without a newline is truncated only where its object is', () => {
    const error = (text: string) => decodeAll(new NdjsonDecoder(), bytes(text)).error
    expect(error('{"kind":"alloc","size":1}')).toBeUndefined()
    for (const line of ['{"kind":"alloc","size":-1}', '{"kind":"allocation"}', '{"kind":"header"}'])
      expect(error(line)).toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
    expect(error('{"kind":"alloc","fields":{"a":1}')).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
  })

  test('a byte order mark at the start does not matter, before a header or an event', () => {
    for (const text of [
      '{"kind":"alloc","size":1}\n',
      '{"kind":"header","format":"x"}\n{"kind":"alloc","size":1}\n{"kind":"end","events":1}\n',
    ])
      for (const size of [1, 2, 1000]) {
        const marked = bytes(`\ufeff${text}`)
        const { events, error } = decodeAll(new NdjsonDecoder(), marked, size)
        expect({ events, error }).toEqual({ events: [{ kind: 'alloc', size: 1n }], error: undefined })
      }
  })

  test('empty lines are counted, and take no time', () => {
    const time = stopwatch()
    const text = Buffer.concat([
      bytes('{"kind":"alloc"}\n'),
      Buffer.alloc(16_000_000, '\n'),
      bytes('{"kind":"free"}\nx\n'),
    ])
    const { events, error } = decodeAll(new NdjsonDecoder(), text, 65_536)
    expect(events).toEqual([{ kind: 'alloc' }, { kind: 'free' }])
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', line: 16_000_003, offset: 16_000_033, event: 3 })
    expect(time()).toBeLessThan(1500)
  })

  test('unknown keys are left out, and said', () => {
    const decoder = new NdjsonDecoder()
    const { events } = decodeAll(decoder, lines('{"kind":"alloc","size":1,"note":"x"}', '{"kind":"alloc","note":"y"}'))
    expect(events).toEqual([{ kind: 'alloc', size: 1n }, { kind: 'alloc' }])
    expect(decoder.warnings).toEqual(['ndjson: "note" is not a field of events: left out of 2 events'])
  })

  test('unknown keys of a header are left out, and said', () => {
    const decoder = new NdjsonDecoder()
    const keys = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`key${i}`, i]))
    const header = JSON.stringify({ kind: 'header', format: 'mtrc', timeUnit: null, ...keys })
    const { headers } = decodeAll(
      decoder,
      lines('{"kind":"header","format":"mtrc","note":"x"}', '{"kind":"end"}', header),
    )
    expect(headers).toEqual([{ format: 'mtrc' }, { format: 'mtrc' }])
    expect(decoder.warnings).toHaveLength(100)
    expect(decoder.warnings[0]).toBe('ndjson: line 1: "note" is not a key of headers: left out')
    expect(decoder.warnings[1]).toBe('ndjson: line 3: "key0" is not a key of headers: left out')
  })

  test('endlessly many unknown keys are told as others', () => {
    const decoder = new NdjsonDecoder()
    decodeAll(decoder, lines(...Array.from({ length: 1000 }, (_, i) => `{"kind":"alloc","key${i}":1}`)))
    expect(decoder.warnings).toHaveLength(101)
    expect(decoder.warnings.at(-1)).toContain('"others" is not a field of events: left out of 900 events')
  })

  test('an end record that counts other events is said', () => {
    const decoder = new NdjsonDecoder()
    decodeAll(decoder, lines('{"kind":"header","format":"mtrc"}', '{"kind":"alloc"}', '{"kind":"end","events":5}'))
    expect(decoder.warnings).toEqual([expect.stringContaining('says 5 events, but 1 arrived')])
  })
})

describe('faults', () => {
  const code = (...records: string[]) => {
    const { error, events } = decode(...records)
    expect(error).toBeInstanceOf(TraceError)
    const { code, line, offset, event, message } = error as TraceError
    return { code, line, offset, event, message, events: events.length }
  }

  test('a missing end record', () => {
    expect(code('{"kind":"header","format":"mtrc"}', '{"kind":"alloc"}')).toMatchObject({
      code: 'ERR_TRACE_TRUNCATED',
      line: 3,
      offset: 51,
      event: 2,
      events: 1,
    })
  })

  test.each([
    ['not JSON', '{"kind":"alloc"', /not JSON/],
    ['no object', '[1]', /must be a JSON object/],
    ['no kind', '{"size":1}', /must have a kind/],
    ['unknown kind', '{"kind":"malloc"}', /unknown kind of event: "malloc"/],
    ['unknown api', '{"kind":"alloc","api":"mmap"}', /unknown api: "mmap"/],
    ['too large', '{"kind":"alloc","size":18446744073709551616}', /size is out of range/],
    ['negative', '{"kind":"alloc","size":-1}', /size is out of range: -1/],
    ['fraction', '{"kind":"alloc","size":1.5}', /size must be an integer, not 1.5/],
    [
      'rounded',
      '{"kind":"alloc","size":1.8446744073709552e+19}',
      /size must have all its digits, not 18446744073709552000/,
    ],
    ['a 33-bit line', '{"kind":"alloc","line":4294967296}', /line is out of range/],
    ['a number as name', '{"kind":"alloc","function":1}', /function must be a string/],
    ['no list', '{"kind":"alloc","stack":"a"}', /stack must be an array/],
    ['no base64', '{"kind":"alloc","attributes":"!!!not base64"}', /attributes is not base64/],
    ['bad header', '{"kind":"header"}', /must name a format/],
    ['no count of events', '{"kind":"end","events":"many"}', /events must be an integer, not "many"/],
    ['event after the end', '{"kind":"end","events":1}\n{"kind":"alloc"}', /after the end record/],
  ])('%s', (_, bad, message) => {
    const result = code('{"kind":"free","address":"0x1"}', bad, '{"kind":"alloc"}')
    expect(result).toMatchObject({ event: 2, events: 1 })
    expect(result.message).toMatch(message)
    expect(result.message).toMatch(/^ndjson: line [23], byte \d+, event 2: /)
  })

  test.each([
    ['size', `{"kind":"alloc","size":${'9'.repeat(4_000_000)}}`],
    ['size', `{"kind":"alloc","size":"${'9'.repeat(4_000_000)}"}`],
    ['size', `{"kind":"alloc","size":{"a":"${'9'.repeat(4_000_000)}"}}`],
    ['size', `{"kind":"alloc","fields":{},"size":${'9'.repeat(10_000)}}`],
    ['kind', `{"kind":"${'x'.repeat(4_000_000)}"}`],
    ['api', `{"kind":"alloc","api":"${'x'.repeat(4_000_000)}"}`],
    ['function', `{"kind":"alloc","function":${'9'.repeat(4_000_000)}e1}`],
    ['attributes', `{"kind":"alloc","attributes":"${'='.repeat(4_000_000)}"}`],
    ['unit of time', `{"kind":"header","format":"x","timeUnit":"${'x'.repeat(4_000_000)}"}`],
    ['not JSON', `${'x'.repeat(4_000_000)}`],
    ['not JSON', `{"kind":"alloc",\u001b[31m}`],
    ['10000 digits', `{"kind":"alloc","fields":{"a":${'9'.repeat(3_000_000)}}}`],
    ['10000 digits', `{"kind":"header","format":"x","layout":{"fields":${'9'.repeat(3_000_000)}}}`],
  ])('messages stay short, and take no time: %s (%#)', (what, bad) => {
    const time = stopwatch()
    const { message } = code(bad)
    expect(message).toContain(what)
    expect(message.length).toBeLessThan(200)
    expect(message).not.toContain('\u001b')
    // Reading an integer of three million digits takes seconds.
    expect(time()).toBeLessThan(1500)
  })

  test('fields that are too long are an error with its place, after the events before it', () => {
    // The kernel has no room for the text.
    for (const more of ['', `"text":"${'x'.repeat(100_000)}",`]) {
      const bad = `{"kind":"other",${more}"fields":{"a":"${'x'.repeat(3_000_001)}"}}`
      const { events, error } = decodeAll(new NdjsonDecoder(), lines('{"kind":"free","address":"0x1"}', bad))
      expect(events).toHaveLength(1)
      expect(error).toMatchObject({ name: 'TraceError', code: 'ERR_TRACE_LIMIT', line: 2, offset: 32, event: 2 })
    }
  })

  test('names of unknown fields are shown as far as they are short', () => {
    const decoder = new NdjsonDecoder()
    decodeAll(decoder, lines(`{"kind":"alloc","${'x'.repeat(1_000_000)}":1,"a\\u001b":1}`))
    expect(decoder.warnings).toEqual([
      `ndjson: "${'x'.repeat(80)}..." is not a field of events: left out of 1 event`,
      String.raw`ndjson: "a\u001b" is not a field of events: left out of 1 event`,
    ])
  })

  test('every prefix gives the whole lines before it, then an error', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', size: 10n },
      { kind: 'free', address: 16n },
      { kind: 'comment', text: 'über' },
    ]
    const whole = encodeEvents(new NdjsonEncoder(), events, HEADER)
    const ends = [...whole].flatMap((byte, i) => (byte === 10 ? [i + 1] : []))
    for (let length = 0; length < whole.length - 1; length++) {
      const { events: got, error } = decodeAll(new NdjsonDecoder(), whole.slice(0, length))
      expect(error, `prefix of ${length}`).toBeInstanceOf(TraceError)
      const complete = ends.filter((end) => end <= length + 1).length - 1
      expect(got).toEqual(events.slice(0, Math.max(0, Math.min(3, complete))))
    }
  })

  test('any flipped bit gives an error or other events, never anything else', () => {
    const whole = encodeEvents(
      new NdjsonEncoder(),
      [{ kind: 'alloc', api: 'new', size: 10n, address: 255n, stack: ['f'] }],
      HEADER,
    )
    for (let i = 0; i < whole.length * 8; i++) {
      const flipped = whole.slice()
      flipped[i >> 3] = flipped[i >> 3] ^ (1 << (i & 7))
      const { error } = decodeAll(new NdjsonDecoder(), flipped)
      if (error !== undefined) expect(error).toBeInstanceOf(TraceError)
    }
  })

  test('a line without end is given up', () => {
    const endless = Buffer.alloc(MAX_LINE_BYTES + 200_000, 'x')
    const { error } = decodeAll(new NdjsonDecoder(), endless, 65_536)
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', line: 1, event: 1 })
  })

  test('of the longest line is read, and a longer one is not written', { tags: ['slow'] }, () => {
    const head = '{"kind":"comment","text":"'
    const texts = (length: number) => [
      'x'.repeat(length - head.length - 2),
      `${'\0'.repeat(1000)}${'x'.repeat(length - head.length - 2 - 6000)}`,
    ]
    const comment = (text: string): TraceEvent => ({ kind: 'comment', text })
    for (const length of [MAX_LINE_BYTES - 1, MAX_LINE_BYTES])
      for (const text of texts(length)) {
        const events = [comment(text), comment('next')]
        const { events: back, error } = decodeAll(
          new NdjsonDecoder(),
          encodeEvents(new NdjsonEncoder(), events, HEADER),
        )
        expect(error).toBeUndefined()
        expect(back.map((event) => event.text?.length)).toEqual([text.length, 4])
      }
    for (const text of texts(MAX_LINE_BYTES + 1)) {
      const { out, error } = drive(new NdjsonEncoder(), [
        ...batchesOf([comment('a')], HEADER),
        ...batchesOf([comment('b'), comment(text), comment('c')], HEADER),
      ])
      expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', format: 'ndjson', event: 3 })
      const { events: back } = decodeAll(new NdjsonDecoder(), new Uint8Array(Buffer.concat(out)))
      expect(back).toEqual([comment('a'), comment('b')])
    }
  })

  test(
    'of the longest header is read, and a longer one is not written, after the trace before',
    { tags: ['slow'] },
    () => {
      const event: TraceEvent = { kind: 'comment', text: 'a' }
      const head = '{"kind":"header","format":"'
      const traces = (length: number) => [
        ...batchesOf([event], HEADER),
        ...batchesOf([event], { format: 'x'.repeat(length - head.length - 2) }),
      ]
      for (const length of [MAX_LINE_BYTES - 1, MAX_LINE_BYTES]) {
        const { headers, events, error } = decodeAll(
          new NdjsonDecoder(),
          encodeAll(new NdjsonEncoder(), traces(length)),
        )
        expect(error).toBeUndefined()
        expect([headers.length, events.length]).toEqual([2, 2])
      }
      const { out, error } = drive(new NdjsonEncoder(), traces(MAX_LINE_BYTES + 1))
      expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', format: 'ndjson', event: 2 })
      const { events: back, error: end } = decodeAll(new NdjsonDecoder(), new Uint8Array(Buffer.concat(out)))
      expect(back).toEqual([event])
      expect(end).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
    },
  )

  test(
    'of a stack is written if it is short, however many frames of however many bytes others have',
    { tags: ['slow'] },
    () => {
      const long = ['y'.repeat(300_000), ...Array.from({ length: 40 }, () => 'f'.repeat(100))]
      const endless = Array.from({ length: 60_000 }, () => 'g'.repeat(100))
      const event = (stack: string[]): TraceEvent => ({ kind: 'alloc', address: 16n, stack })
      const events = [event(long), event(['main']), event(endless.slice(0, 40_000))]
      const { out, error } = drive(new NdjsonEncoder(), batchesOf([...events, event(endless)], HEADER))
      expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 4 })
      expect(decodeAll(new NdjsonDecoder(), new Uint8Array(Buffer.concat(out))).events).toEqual(events)
    },
  )
})
