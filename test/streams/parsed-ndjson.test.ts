import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gunzipSync } from 'node:zlib'
import split2 from 'split2'
import { describe, expect, test } from 'vitest'
import * as ndjson from '../../lib/entry/ndjson.js'
import * as mtrc from '../../lib/entry/mtrc.js'
import * as compact from '../../lib/entry/compact.js'
import { compose, events, filter, map, sort, stats } from '../../lib/entry/index.js'

const LINES = `${[
  { kind: 'header', format: 'x', timeUnit: 'ns', layout: { version: 3 } },
  {
    kind: 'alloc',
    api: 'malloc',
    thread: 7,
    time: 12,
    address: '0xffff000011112222',
    size: 24,
    stack: ['a', 'b at c:1'],
  },
  { kind: 'other', code: 9, fields: { a: 1, b: ['x', 2] } },
  { kind: 'alloc', address: '0x10', size: '18446744073709551615', attributes: 'AAEC' },
  { kind: 'free', time: 4503599627370497, address: '0xffff000011112222' },
  { kind: 'end', events: 4 },
  { kind: 'header', format: 'empty' },
  { kind: 'end', events: 0 },
]
  .map((record) => JSON.stringify(record))
  .join('\n')}\n`

async function gathered(source: readonly unknown[], ...stages: NodeJS.ReadWriteStream[]): Promise<string> {
  const out: Uint8Array[] = []
  await pipeline([
    Readable.from(source),
    ...stages,
    async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) out.push(chunk)
    },
  ] as never)
  return Buffer.concat(out).toString('latin1')
}

const parse = (line: string) => JSON.parse(line) as unknown
const FILE = gunzipSync(readFileSync(new URL('../fixtures/mtrc/small64.mtrc.gz', import.meta.url)))

describe('lines of NDJSON as JSON.parse gives them are events', () => {
  const stages: [string, () => NodeJS.ReadWriteStream[]][] = [
    ['ndjson.encode()', () => [ndjson.encode()]],
    ['compact.encode()', () => [compact.encode()]],
    ['filter()', () => [filter({}), ndjson.encode()]],
    ['map()', () => [map({ set: { cpu: 3 } }), ndjson.encode()]],
    ['sort()', () => [sort({ by: 'address' }), ndjson.encode()]],
    ['compose()', () => [compose(filter({ kind: 'alloc' }), ndjson.encode())]],
  ]
  test.each(stages)('%s', async (_, make) => {
    const expected = await gathered([Buffer.from(LINES)], ndjson.decode(), ...make())
    expect(await gathered([Buffer.from(LINES)], split2(parse), ...make())).toBe(expected)
    expect(expected.length).toBeGreaterThan(60)
  })

  test('a real trace comes back as it was', async () => {
    const wire = await gathered([FILE], mtrc.decode(), ndjson.encode())
    expect(await gathered([Buffer.from(wire)], split2(parse), mtrc.encode())).toBe(FILE.toString('latin1'))
    const [sink, direct] = [stats(), stats()]
    await pipeline(Readable.from([Buffer.from(wire)]), split2(parse), sink)
    await pipeline(Readable.from([FILE]), mtrc.decode(), direct)
    expect((await sink.result).allocated).toEqual((await direct.result).allocated)
  })
})

describe('faults', () => {
  const run = (records: readonly object[]) => gathered(records, ndjson.encode())
  const header = { kind: 'header', format: 'x' }
  const event = { kind: 'free', address: '0x10' }

  test.each<[string, readonly object[], RegExp, string?]>([
    ['a missing end record', [header, event], /event 2: truncated: no end record/, 'ERR_TRACE_TRUNCATED'],
    ['a second header', [header, event, header], /truncated: a header record where/, 'ERR_TRACE_TRUNCATED'],
    [
      'an event after the end record',
      [header, event, { kind: 'end', events: 1 }, event],
      /event 2: malformed: an event after the end record/,
      'ERR_TRACE_MALFORMED',
    ],
    ['an event after an end record alone', [event, { kind: 'end' }, event], /event 2: malformed: an event after/],
    ['a header without a format', [{ kind: 'header' }], /ndjson\.encode\(\): event 1: the header must name a format/],
    ['no address', [header, { kind: 'free', address: 'x' }], /event 1: address must be an integer, not "x"/],
    ['a rounded number', [header, { kind: 'free', time: 2 ** 60 }], /event 1: time must have all its digits/],
    ['an unknown field', [header, { ...event, extra: 1 }], /event 1: unknown field "extra"/],
    ['an unknown kind', [header, { kind: 'x' }], /event 1: unknown kind of event: "x"/],
  ])('%s', async (_, records, message, code) => {
    await expect(run(records)).rejects.toThrow(message)
    if (code !== undefined) await expect(run(records)).rejects.toMatchObject({ code })
  })

  const odd = [header, event, { kind: 'end', events: 2 }]
  const ODD = /: the end record says 2 events, but 1 arrived: what is in between added or removed some$/

  test('an end record with another number of events is a warning', async () => {
    for (const make of [() => ndjson.encode(), () => filter({}), () => sort({ by: 'address' })]) {
      const warnings: string[] = []
      const stage = make().on('warning', (text: string) => warnings.push(text))
      await pipeline(Readable.from(odd), stage, async (chunks: AsyncIterable<unknown>) => {
        for await (const _ of chunks);
      })
      expect(warnings).toEqual([expect.stringMatching(ODD)])
    }
    const warnings: string[] = []
    const sink = stats().on('warning', (text: string) => warnings.push(text))
    await pipeline(Readable.from(odd), sink)
    const found: unknown[] = []
    for await (const one of events(odd as never, { onWarning: (text) => warnings.push(text) })) found.push(one)
    expect(warnings).toEqual([expect.stringMatching(ODD), expect.stringMatching(ODD)])
    expect(found).toHaveLength(1)
  })

  test('traces may follow one another, and a number may be missing', async () => {
    const end = { kind: 'end', events: 1 }
    const warnings: string[] = []
    const sink = stats().on('warning', (text: string) => warnings.push(text))
    await pipeline(Readable.from([header, event, end, header, event, { kind: 'end' }]), sink)
    expect(warnings).toEqual([])
    expect((await sink.result).events).toBe(2)
  })

  test('sinks report a missing end record, too', async () => {
    const sink = stats()
    await expect(pipeline(Readable.from([header, event]), sink)).rejects.toThrow(/no end record/)
  })
})
