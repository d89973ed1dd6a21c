import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchesOf, reviseBatch, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { FieldBit } from '../../../lib/event/fields.js'
import { recycle } from '../../../lib/event/recycle.js'
import { ArrowDecoder } from '../../../lib/formats/arrow/decode.js'
import { ArrowEncoder } from '../../../lib/formats/arrow/encode.js'
import { END_MARK, PREFIX_BYTES } from '../../../lib/formats/arrow/layout.js'
import { encodeAll } from '../../support/drive.js'
import { anyEvent } from '../../support/random-event.js'
import { decode, encode, encodeBatches } from './support.js'

const HEADER = { format: 'mtrc', timeUnit: 'ns', layout: { version: 10_501, byteOrder: 'little' } } as const
const named = (names: readonly string[]): TraceEvent[] => names.map((name) => ({ kind: 'alloc', function: name }))
const contains = (bytes: Uint8Array, text: string) => Buffer.from(bytes).includes(text)

/** The lengths of the chunks that an encoder gives for each batch. */
function chunksOf(batches: readonly EventBatch[]): number[][] {
  const encoder = new ArrowEncoder()
  return batches.map((batch) => {
    encoder.feed(batch)
    const lengths = []
    for (let chunk = encoder.next(); chunk !== null; chunk = encoder.next()) lengths.push(chunk.length)
    return lengths
  })
}

describe('batches', () => {
  test('come back as they are, with the header of each trace', () => {
    const one = batchesOf(named(['a', 'b']), HEADER)
    const rest = batchesOf(named(['c']), HEADER)
    const other = batchesOf([], { format: 'replay', timeUnit: 'us', filtered: true })
    const last = batchesOf(named(['d', 'a']), { format: 'hatf', part: { of: 'x', trace: 1 } })
    const { batches, headers, error } = decode(encodeBatches([...one, ...rest, ...other, ...last]))
    expect(error).toBeUndefined()
    expect(headers).toEqual([HEADER, other[0]!.header, last[0]!.header])
    expect(batches.map(({ count }) => count)).toEqual([0, 2, 1, 0, 2])
  })

  test('flow at once, in one chunk each unless there are new names', () => {
    const batches = [['a', 'b'], ['b', 'a', 'a'], ['c'], ['a', 'c']].flatMap((names) => batchesOf(named(names), HEADER))
    expect(chunksOf(batches).map(({ length }) => length)).toEqual([3, 1, 2, 1])
    expect(decode(encodeBatches(batches)).events).toEqual(named(['a', 'b', 'b', 'a', 'a', 'c', 'a', 'c']))
  })

  test('without events or a header make a stream too', () => {
    for (const bytes of [encodeBatches([]), encode([])]) {
      expect(decode(bytes)).toMatchObject({ events: [], warnings: [] })
      expect(decode(bytes).error).toBeUndefined()
    }
    expect(decode(encode([], HEADER)).headers).toEqual([HEADER])
  })

  test('with any events come back when memory is used again', () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyEvent, { maxLength: 100 }), { maxLength: 4 }), (lists) => {
        const batches = lists.flatMap((events) => batchesOf(events, HEADER))
        const decoder = new ArrowDecoder()
        decoder.feed(encodeBatches(batches))
        const found: TraceEvent[] = []
        for (let batch = decoder.next(); batch !== null; batch = decoder.next()) {
          found.push(...batch)
          recycle(batch)
        }
        expect(found).toEqual(lists.flat())
      }),
    )
  })

  test('arrive in buffers that are reused, as those of pipes are', () => {
    const events = Array.from({ length: 5000 }, (_, i): TraceEvent => ({
      kind: i % 2 === 0 ? 'alloc' : 'free',
      address: BigInt(i),
      function: `f${i % 9}`,
    }))
    const bytes = encode(events, HEADER)
    const decoder = new ArrowDecoder()
    const found: TraceEvent[] = []
    let before: Buffer | undefined
    for (let at = 0; at < bytes.length; at += 999) {
      const chunk = Buffer.from(bytes.subarray(at, at + 999))
      decoder.feed(chunk)
      // Only what was fed last may still be read.
      before?.fill(0xa5)
      before = chunk
      for (let batch = decoder.next(); batch !== null; batch = decoder.next()) found.push(...batch)
    }
    expect(found).toEqual(events)
  })
})

describe('what is written', () => {
  test('has nothing of values that events do not have, nor of names that none has', () => {
    const [batch] = batchesOf(
      [
        { kind: 'alloc', size: 0x1122_3344_5566_7788n, function: 'secret', line: 1 },
        { kind: 'free', size: 5n },
      ],
      HEADER,
    )
    const hidden = reviseBatch(batch as EventBatch, 0)
    for (const i of [0, 1]) hidden.mask[i] = i === 0 ? FieldBit.line : FieldBit.size
    const bytes = encodeBatches([hidden])
    expect(decode(bytes).events).toEqual([
      { kind: 'alloc', line: 1 },
      { kind: 'free', size: 5n },
    ])
    expect(contains(bytes, 'secret')).toBe(false)
    expect(Buffer.from(bytes).includes(Buffer.from('8877665544332211', 'hex'))).toBe(false)
    expect(encodeBatches(decode(bytes).batches)).toEqual(bytes)
  })

  test('is names as text; those that are not UTF-8 come back all the same', () => {
    const names = ['caf\u00e9', '\udcff\udc80x', '\u{10fe80}', 'a\u{10feff}b', '\u{10fe7f}', '\udcc3', '\udca9', '']
    const bytes = encode(named(names))
    expect(contains(bytes, 'caf\u00e9')).toBe(true)
    expect(contains(bytes, '\u{10feff}\u{10fe80}x')).toBe(true)
    expect(decode(bytes).events).toEqual(named(names))
  })

  test('is a dictionary that does not grow with the names in a trace', () => {
    const batches = Array.from({ length: 60 }, (_, i) =>
      batchesOf(named(Array.from({ length: 500 }, (__, j) => `a name of some length ${i} ${j}`)), HEADER),
    ).flat()
    const longest = chunksOf(batches).map((lengths) => Math.max(...lengths))
    expect(Math.max(...longest.slice(-20))).toBeLessThan(250_000)
    expect(Math.max(...longest.slice(-20))).toBeLessThanOrEqual(Math.max(...longest.slice(0, 20)))
  })

  test('is several record batches if all events have the same long stack', { tags: ['slow'] }, () => {
    const stack = Array.from({ length: 20_000 }, (_, i) => `f${i % 100}`)
    const [batch] = batchesOf([{ kind: 'alloc', stack }])
    const many = reviseBatch(batch as EventBatch, 0)
    const events = 120
    const wide = Object.assign(reviseBatch(many, 0), {
      mask: new Uint32Array(events).fill(FieldBit.stack),
      kind: new Uint8Array(events),
      stack: new Uint32Array(events),
      count: events,
    })
    const chunks = chunksOf([wide])[0]
    expect(Math.max(...chunks)).toBeLessThan(5_000_000)
    const { error, batches } = decode(encodeBatches([wide]))
    expect(error).toBeUndefined()
    expect(batches.reduce((sum, { count }) => sum + count, 0)).toBe(events)
    expect(batches.at(-1)?.event(0).stack).toEqual(stack)
  })

  test('takes a few bytes for each event where most fields are absent', () => {
    const events = Array.from({ length: 4096 }, (_, i): TraceEvent => ({ kind: 'alloc', address: BigInt(i), size: 1n }))
    expect(encode(events).length / events.length).toBeLessThan(1 + 8 + 8 + 8 + 3)
  })
})

describe('several streams', () => {
  test('one after the other are several traces', () => {
    const bytes = Buffer.concat([encode(named(['a']), HEADER), encode(named(['b', 'c'])), encode(named(['d']))])
    for (const size of [1, 64, bytes.length]) {
      const { events, headers, error } = decode(bytes, size)
      expect(error).toBeUndefined()
      expect(events).toEqual(named(['a', 'b', 'c', 'd']))
      expect(headers).toEqual([HEADER, { format: 'unknown' }, { format: 'unknown' }])
    }
  })

  test('other bytes after the end are an error', () => {
    const bytes = encode(named(['a']))
    const { events, error } = decode(Buffer.concat([bytes, Buffer.from('some more bytes')]))
    expect(events).toEqual(named(['a']))
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: bytes.length, event: 2 })
    const short = decode(Buffer.concat([bytes, Buffer.from('x')]))
    expect(short.error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', event: 2 })
  })
})

describe('faults', () => {
  const bytes = encode(named(['a', 'b']), HEADER)

  test('no end mark', () => {
    const { events, error } = decode(bytes.slice(0, -END_MARK.length))
    expect(events).toEqual(named(['a', 'b']))
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: bytes.length - END_MARK.length, event: 3 })
    expect(error?.message).toContain('no end mark: the command that wrote this failed')
  })

  test('an encoder that is cut writes no end mark', () => {
    const encoder = new ArrowEncoder()
    const cut = encodeAll(
      Object.assign(encoder, { end: () => encoder.endTruncated() }),
      batchesOf(named(['a', 'b']), HEADER),
    )
    expect(cut).toEqual(bytes.slice(0, -END_MARK.length))
  })

  test('no input, and a stream without a schema', () => {
    expect(decode(new Uint8Array(0)).error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: 0, event: 1 })
    expect(decode(END_MARK).error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: 0, event: 1 })
  })

  test('metadata or a body that would be too long', () => {
    const long = bytes.slice()
    new DataView(long.buffer).setInt32(4, 0x7fff_ffff, true)
    expect(decode(long).error).toMatchObject({ code: 'ERR_TRACE_LIMIT', offset: 0, event: 1 })
    new DataView(long.buffer).setInt32(4, -1, true)
    expect(decode(long).error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: 0, event: 1 })
  })

  test('a body that is said to be long takes no memory before it comes', () => {
    const before = process.memoryUsage().arrayBuffers
    const decoders = Array.from({ length: 50 }, () => {
      const decoder = new ArrowDecoder()
      decoder.feed(withBodyLength(bytes, 200_000_000))
      decoder.next()
      decoder.next()
      return decoder
    })
    expect(decoders).toHaveLength(50)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150_000_000)
  })
})

/** A stream whose first message after the schema claims a body of this length. */
function withBodyLength(bytes: Uint8Array, length: number): Uint8Array {
  const changed = bytes.slice()
  const view = new DataView(changed.buffer)
  const at = PREFIX_BYTES + view.getInt32(4, true) + PREFIX_BYTES
  const table = at + view.getUint32(at, true)
  const vtable = table - view.getInt32(table, true)
  view.setBigInt64(table + view.getUint16(vtable + 4 + 2 * 3, true), BigInt(length), true)
  return changed
}
