import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { batchesOf } from '../../../lib/event/batch.js'
import { HatfDecoder, HatfEncoder } from '../../../lib/formats/hatf/index.js'
import { decodeAll, encodeAll, encodeEvents } from '../../support/drive.js'
import { alloc, comment, hex, join, V1 } from './bytes.js'

const keep = (events: TraceEvent[]) =>
  encodeEvents(new HatfEncoder({ attributes: true, strict: true }), events, { format: 'hatf' })
/** Text as bytes. */
const utf8 = (text: string) => new Uint8Array(Buffer.from(text))
const base = { size: 16n, address: 0x1000n }

describe('what is kept', () => {
  it('goes into the attributes of its record as JSON', () => {
    expect(keep([{ kind: 'alloc', ...base, index: 7n, function: 'make' }])).toEqual(
      join(V1, alloc(16, 0x1000, 'hf{"index":7,"function":"make"}')),
    )
    expect(
      keep([
        { kind: 'existing', ...base },
        {
          kind: 'alloc',
          ...base,
          process: 2n ** 64n - 1n,
          sequence: -5,
          callSite: 0xffff_ffff_8123_4567n,
          line: 2 ** 32 - 1,
          stack: ['a"b', 'é', '\udcff'],
          attributes: hex('0001'),
        },
      ]),
    ).toEqual(
      join(
        V1,
        alloc(16, 0x1000, 'hf{"kind":"existing"}'),
        alloc(
          16,
          0x1000,
          'hf{"process":18446744073709551615,"sequence":-5,"callSite":"0xffffffff81234567","line":4294967295,' +
            '"stack":["a\\"b","é","\\udcff"],"attributes":"AAE="}',
        ),
      ),
    )
  })

  it('includes what the event does not have, though the record does', () => {
    expect(keep([{ kind: 'alloc', ...base }])).toEqual(alloc(16, 0x1000))
    expect(keep([{ kind: 'realloc', ...base }])).toEqual(
      join(hex('0b020500 0b010509 02 00000010 00000000 00001000 26'), utf8('hf{"without":["oldAddress","outcome"]}')),
    )
    const bytes = keep([
      { kind: 'free', address: 1n, thread: 1n },
      { kind: 'free', address: 1n },
    ])
    expect(Buffer.from(bytes).toString()).toContain('hf{"without":["thread"]}')
  })

  it('goes into comments where there is no record, and so does the header', () => {
    const header = { format: 'mtrc', layout: { version: 10501 } }
    const events: TraceEvent[] = [
      { kind: 'reserve', ...base, type: 'internal' },
      { kind: 'comment', text: 'x' },
    ]
    const bytes = encodeEvents(new HatfEncoder({ attributes: true }), events, header)
    expect(bytes).toEqual(
      join(
        comment('heapflow:{"kind":"header","format":"mtrc","layout":{"version":10501}}'),
        comment('heapflow:{"kind":"reserve","address":"0x1000","size":16,"type":"internal"}'),
        comment('x'),
      ),
    )
  })

  it('is wrapped where it would be misread, in either mode', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', ...base, attributes: utf8('hf{"index":1}') },
      { kind: 'comment', text: 'heapflow:{"kind":"lost"}' },
    ]
    for (const attributes of [false, true]) {
      const bytes = encodeEvents(new HatfEncoder({ attributes, strict: true }), events, { format: 'hatf' })
      expect(bytes).toEqual(
        join(
          V1,
          alloc(16, 0x1000, 'hf{"attributes":"aGZ7ImluZGV4IjoxfQ=="}'),
          comment('heapflow:{"kind":"comment","text":"heapflow:{\\"kind\\":\\"lost\\"}"}'),
        ),
      )
      expect(decodeAll(new HatfDecoder(), bytes).events).toEqual(events)
    }
  })
})

describe('headers', () => {
  it('come with the events after them; those of empty traces come alone', () => {
    const [a, b, c] = [{ format: 'a' }, { format: 'b', timeUnit: 'us' as const }, { format: 'hatf' }]
    const events: TraceEvent[] = [{ kind: 'alloc', ...base }]
    const batches = [...batchesOf(events, a), ...batchesOf([], b), ...batchesOf(events, c)]
    const bytes = encodeAll(new HatfEncoder({ attributes: true }), batches)
    for (const size of [1, 7, undefined]) {
      const decoded = decodeAll(new HatfDecoder(), bytes, size)
      expect(decoded.headers).toEqual([a, b, c])
      expect(decoded.batches.filter(({ count }) => count > 0).map(({ header }) => header.format)).toEqual(['a', 'hatf'])
    }
  })

  it('of equal traces are told apart', () => {
    const traces = [{ format: 'a' }, { format: 'a' }].flatMap((header) =>
      batchesOf([{ kind: 'alloc', ...base }], header),
    )
    expect(decodeAll(new HatfDecoder(), encodeAll(new HatfEncoder({ attributes: true }), traces)).headers).toHaveLength(
      2,
    )
  })

  it.each([
    '{"kind":"header","format":1}',
    '{"kind":"header","format":"x"',
    '{"kind":"header","format":"x","timeUnit":"s"}',
    '{"kind":"header","format":"x","more":1}',
    '{"kind":"header","format":"x","layout":[]}',
    '{"kind":"header","format":"x","layout":{"a":null}}',
    '{"kind":"header",}',
    '{"kind":"header"}',
  ])('that are none are comments: %s', (json) => {
    const { headers, events } = decodeAll(new HatfDecoder(), comment(`heapflow:${json}`))
    expect(headers).toEqual([{ format: 'hatf' }])
    expect(events).toEqual([{ kind: 'comment', text: `heapflow:${json}` }])
  })
})

describe('what only looks like it', () => {
  it.each([
    'hf{',
    'hf{}',
    'hf{"index":7',
    'hf{"index":7}x',
    'hf{"index":7,}',
    'hf{"index": 7}',
    'hf{"index":-7}',
    'hf{"index":07}',
    'hf{"index":}',
    'hf{"index":"7"}',
    'hf{"index":18446744073709551616}',
    'hf{"index":99999999999999999999}',
    'hf{"index":7,"index":8}',
    'hf{"address":"0x1"}',
    'hf{"unknown":1}',
    'hf{unknown:1}',
    'hf{"line":4294967296}',
    'hf{"line":-1}',
    'hf{"cpu":2147483648}',
    'hf{"cpu":-0}',
    'hf{"function":"\\u0061"}',
    'hf{"function":"\\/"}',
    'hf{"cpu":-2147483649}',
    'hf{"callSite":1}',
    'hf{"callSite":"0x"}',
    'hf{"callSite":"1"}',
    'hf{"callSite":"0x01"}',
    'hf{"callSite":"0x11111111111111111"}',
    'hf{"api":"mmap"}',
    'hf{"fields":{"a":1}}',
    'hf{"fields":"[1]"}',
    'hf{"fields":"{\\"a\\":1"}',
    'hf{"fields":"{\\"a\\": 1}"}',
    'hf{"fields":"{\\n}"}',
    'hf{"fields":"{\\"a\\":1.5}"}',
    'hf{"fields":"{\\"a\\":1,\\"a\\":2}"}',
    'hf{"function":"a}',
    'hf{"function":"\\x"}',
    'hf{"function":"\x01"}',
    'hf{"function":"\\',
    'hf{"stack":["a"}',
    'hf{"stack":[1]}',
    'hf{"attributes":"?"}',
    'hf{"attributes":"AAF="}',
    'hf{"kind":"alloc"}',
    'hf{"kind":"free"}',
    'hf{"without":["attributes"]}',
    'hf{"without":["index"]}',
    'hf{"without":[]}',
    'hf{"without":["no"]}',
    'hf{"without":"size"}',
    'hf {"index":7}',
  ])('stays what it is: %s', (attributes) => {
    const bytes = join(V1, alloc(16, 0x1000, attributes), alloc(16, 0x1000))
    const expected = { kind: 'alloc', ...base, attributes: utf8(attributes) }
    // The second record has no length byte for its attributes: the stream ends inside it.
    expect(decodeAll(new HatfDecoder(), bytes).events).toEqual([expected])
  })

  it('bytes that are not UTF-8 inside a string', () => {
    const attributes = join(utf8('hf{"function":"'), hex('ff'), utf8('"}'))
    const bytes = join(V1, hex('00 00000010 00001000'), Uint8Array.of(attributes.length), attributes)
    expect(decodeAll(new HatfDecoder(), bytes).events).toEqual([{ kind: 'alloc', ...base, attributes }])
  })

  it.each([
    '{"index":1}',
    '{"kind":"mmap"}',
    '{"kind":"lost","without":["size"]}',
    '{"kind":"lost"',
    '{"kind":"lost","kind":"lost"}',
  ])('comments: %s', (json) => {
    const text = `heapflow:${json}`
    expect(decodeAll(new HatfDecoder(), comment(text)).events).toEqual([{ kind: 'comment', text }])
  })

  it('but keys may come in any order', () => {
    const bytes = join(V1, alloc(16, 0x1000, 'hf{"line":3,"without":["size"],"index":7}'))
    expect(decodeAll(new HatfDecoder(), bytes).events).toEqual([
      { kind: 'alloc', address: 0x1000n, line: 3, index: 7n },
    ])
  })
})
