import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchesOf, EventBatch, isEventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { eventToJson } from '../../lib/event/event-json.js'
import { NO_HEADER } from '../../lib/event/header.js'
import { parseRecord } from '../../lib/formats/ndjson/general.js'
import { NdjsonEncoder } from '../../lib/formats/ndjson/encode.js'
import { encodeEvents } from '../support/drive.js'
import { anyEvent } from '../support/random-event.js'

const fromBatch = (event: TraceEvent) => batchesOf([event])[0].event(0)

describe('an event as JSON', () => {
  test('is the line that the NDJSON encoder writes', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const written = Buffer.from(encodeEvents(new NdjsonEncoder(), [event], NO_HEADER))
          .toString()
          .split('\n')[1]
        expect(eventToJson(event)).toBe(written)
      }),
    )
  })

  test('of a batch is what JSON.stringify writes, and is read back', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const line = JSON.stringify(fromBatch(event))
        const record = parseRecord(line)
        // Large integers within `fields` are strings there: nothing says that they are numbers.
        if (event.fields === undefined) expect(record).toEqual({ kind: 'event', event, unknown: [] })
      }),
    )
    expect(JSON.stringify({ first: fromBatch({ kind: 'alloc', address: 255n, size: 2n ** 63n, thread: 3n }) })).toBe(
      '{"first":{"kind":"alloc","thread":3,"address":"0xff","size":"9223372036854775808"}}',
    )
  })

  test('leaves the event a plain object for comparisons and loops', () => {
    const event = fromBatch({ kind: 'free', address: 1n })
    expect(event).toStrictEqual({ kind: 'free', address: 1n })
    expect(inspect(event)).toBe("{ kind: 'free', address: 1n }")
    expect(Object.keys(event)).toEqual(['kind', 'address'])
  })
})

test.each<[string, unknown]>([
  ['not an event: undefined', undefined],
  ['unknown kind of event: "aloc" (did you mean "alloc"?)', { kind: 'aloc' }],
  ['size must be a whole number below 2^53, or a bigint, not 1.5', { kind: 'alloc', size: 1.5 }],
  ['address must be a bigint, not "x"', { kind: 'alloc', address: 'x' }],
])('eventToJson: %s', (message, event) => expect(() => eventToJson(event as TraceEvent)).toThrow(message))

test('eventToJson takes integers as events read from JSON have them', () => {
  const event = { kind: 'alloc', address: '0x10', size: '5', thread: 2 } as object as TraceEvent
  expect(eventToJson(event)).toBe('{"kind":"alloc","thread":2,"address":"0x10","size":5}')
})

describe('push', () => {
  const push = (event: object) => () => new EventBatch(1, 0, NO_HEADER).push(event as TraceEvent)

  test.each<[string, object]>([
    ['unknown field "addr" (did you mean "address"?)', { kind: 'alloc', addr: 3n }],
    ['unknown field "sise" (did you mean "size"?)', { kind: 'alloc', sise: 3n }],
    ['unknown field "colour"', { kind: 'alloc', colour: 3n }],
    ['unknown field "batch"', { kind: 'alloc', batch: undefined }],
    ['unknown kind of event: "aloc" (did you mean "alloc"?)', { kind: 'aloc' }],
    ['unknown api: "maloc" (did you mean "malloc"?)', { kind: 'alloc', api: 'maloc' }],
    ['size must be a whole number below 2^53, or a bigint, not 1.5', { kind: 'alloc', size: 1.5 }],
    [`size must be a whole number below 2^53, or a bigint, not ${2 ** 60}`, { kind: 'alloc', size: 2 ** 60 }],
    ['line is not a 32-bit integer: -1', { kind: 'alloc', line: -1 }],
    ['cpu is not a 32-bit integer: 2147483648', { kind: 'alloc', cpu: 2 ** 31 }],
  ])('%s', (message, event) => expect(push(event)).toThrow(new RangeError(message)))

  test.each<[string, object]>([
    ['not an event: an object of type Object without a kind', { size: 1n }],
    ['not an event: null', null as unknown as object],
    ['size must be a bigint, not null', { kind: 'alloc', size: null }],
    ['address must be a bigint, not "x"', { kind: 'alloc', address: 'x' }],
    ['line must be a number, not "1"', { kind: 'alloc', line: '1' }],
    ['function must be a string, not 3', { kind: 'alloc', function: 3 }],
    ['stack must be an array of strings, not "main"', { kind: 'alloc', stack: 'main' }],
    ['stack must be an array of strings, not an array', { kind: 'alloc', stack: [1] }],
    ['stack must be an array of strings, not an array', { kind: 'alloc', stack: Object.assign(['f'], { 2: 'g' }) }],
    ['attributes must be a Uint8Array, not "x"', { kind: 'alloc', attributes: 'x' }],
    ['fields must be an object, not an array', { kind: 'alloc', fields: [] }],
  ])('%s', (message, event) =>
    expect(push(event)).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE', message }) as Error,
    ),
  )

  test('takes 64-bit values as JSON has them', () => {
    const batch = new EventBatch(1, 0, NO_HEADER)
    batch.push({ kind: 'alloc', address: '0xff', size: 5, thread: '18446744073709551615' } as object as TraceEvent)
    expect([...batch]).toEqual([{ kind: 'alloc', thread: 2n ** 64n - 1n, address: 255n, size: 5n }])
  })

  test('that fails leaves the batch as it was', () => {
    const batch = new EventBatch(2, 0, NO_HEADER)
    batch.push({ kind: 'alloc', size: 1n })
    expect(() => batch.push({ kind: 'free', size: 2n, addr: 3n } as object as TraceEvent)).toThrow(RangeError)
    batch.push({ kind: 'free' })
    expect([...batch]).toEqual([{ kind: 'alloc', size: 1n }, { kind: 'free' }])
  })
})

describe('a batch', () => {
  test('is known by its brand, of whatever copy of the package', () => {
    const batch = new EventBatch(0, 0, NO_HEADER)
    expect(isEventBatch(batch)).toBe(true)
    expect(
      isEventBatch({
        get [Symbol.for('heapflow.EventBatch/1')]() {
          return true
        },
      }),
    ).toBe(true)
    for (const other of [{ count: 0, kind: new Uint8Array(0) }, null, undefined, 'x', Buffer.from('x'), []])
      expect(isEventBatch(other)).toBe(false)
  })

  test('without a header has the header of events from nowhere', () => {
    expect(batchesOf([{ kind: 'free' }])[0]?.header).toBe(NO_HEADER)
  })

  test('is shown as a summary', () => {
    const events = Array.from({ length: 4000 }, (_, i): TraceEvent => ({ kind: 'alloc', size: BigInt(i) }))
    const [batch] = batchesOf(events, { format: 'mtrc' })
    const shown = inspect(batch)
    expect(shown).toMatch(/^EventBatch\(4000\) \{\s+format: 'mtrc',\s+fields: 'size',\s+first: \[/)
    expect(shown.length).toBeLessThan(300)
  })
})
