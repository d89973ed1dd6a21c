import { describe, expect, it } from 'vitest'
import { batchesOf, EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import type { EventFields } from '../../../lib/event/trace-event.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { KmemtraceEncoder, type KmemtraceEncodeOptions } from '../../../lib/formats/kmemtrace/index.js'
import { drive, encodeAll, encodeEvents } from '../../support/drive.js'
import { lossesBut } from '../../support/losses.js'
import { BIG, LITTLE, feature, join, pack, type Fields } from './bytes.js'

const REPLAY: TraceHeader = { format: 'replay', timeUnit: 'ns' }
const OWN: TraceHeader = { format: 'kmemtrace', layout: { byteOrder: 'little', layout: 'relay' } }

/** What most events here lack. */
const LACKING = ['api', 'address', 'callSite', 'usable', 'gfpFlags', 'node', 'cpu', 'time']

/** What is written for events, and what is counted as lost besides. */
function encode(events: TraceEvent[], header = REPLAY, options: KmemtraceEncodeOptions = {}) {
  const encoder = new KmemtraceEncoder(options)
  const bytes = encodeEvents(encoder, events, header)
  return { bytes, losses: lossesBut(LACKING, encoder.losses.counts) }
}

const event = (kind: TraceEvent['kind'], fields: EventFields = {}): TraceEvent => ({ kind, ...fields }) as TraceEvent
const alloc = (fields: EventFields = {}) => event('alloc', { address: 0x1000n, size: 100n, ...fields })
const free = (fields: EventFields = {}) => event('free', { address: 0x1000n, ...fields })
/** As events from elsewhere are written that say no more than address and size. */
const plainAlloc = (seq: number, ptr = 0x1000n, bytesReq = 100n): Fields => ({
  event: 0,
  type: 0,
  seq,
  ptr,
  bytesReq,
  bytesAlloc: bytesReq,
  node: -1,
})
const plainFree = (seq: number, ptr = 0x1000n): Fields => ({ event: 1, type: 0, seq, ptr })

describe('events from other formats', () => {
  it('get sequence numbers from 1, and what the format says for not known', () => {
    const { bytes, losses } = encode([
      alloc({ api: 'kmalloc' }),
      alloc({ api: 'pages' }),
      free(),
      free({ api: 'kmem_cache_free' }),
    ])
    expect(bytes).toEqual(
      pack(LITTLE, plainAlloc(1), { ...plainAlloc(2), type: 2 }, plainFree(3), { ...plainFree(4), type: 1 }),
    )
    expect(losses).toEqual({})
  })

  it('go on from the last sequence number that was given, and wrap', () => {
    const { bytes } = encode([free({ sequence: 2_147_483_646 }), free(), free(), free({ sequence: 5 }), free()])
    expect(bytes).toEqual(
      pack(LITTLE, ...[2_147_483_646, 2_147_483_647, -2_147_483_648, 5, 6].map((seq) => plainFree(seq))),
    )
  })

  it('lose what the format cannot represent', () => {
    const { bytes, losses } = encode([
      alloc({ thread: 1n, time: 5n, cpu: 2 }),
      free({ size: 100n, node: 1 }),
      event('comment', { text: 'x' }),
    ])
    expect(bytes).toEqual(pack(LITTLE, plainAlloc(1), plainFree(2)))
    expect(losses).toEqual({ thread: 1, time: 1, cpu: 1, 'size of free': 1, 'node of free': 1, 'comment events': 1 })
  })

  it('are written as kmalloc and kfree where another function is named', () => {
    const events = [
      alloc({ api: 'malloc' }),
      alloc({ api: 'new' }),
      alloc({ api: 'kfree' }),
      free({ api: 'free' }),
      free({ api: 'kmalloc' }),
    ]
    const { bytes, losses } = encode(events)
    expect(bytes).toEqual(pack(LITTLE, plainAlloc(1), plainAlloc(2), plainAlloc(3), plainFree(4), plainFree(5)))
    expect(losses).toEqual({
      'api malloc, written as kmalloc': 1,
      'api new, written as kmalloc': 1,
      'api kfree, written as kmalloc': 1,
      'api free, written as kfree': 1,
      'api kmalloc, written as kfree': 1,
    })
  })

  it('are left out without an address, and have size 0 without a size', () => {
    const events = [
      event('alloc', { size: 1n }),
      event('free', { index: 3n }),
      event('alloc', { address: 0n }),
      event('existing', { size: 1n }),
    ]
    const { bytes, losses } = encode(events)
    expect(bytes).toEqual(pack(LITTLE, plainAlloc(1, 0n, 0n)))
    expect(losses).toEqual({
      index: 1,
      'allocs without an address': 2,
      'frees without an address': 1,
      'no size, written as 0': 1,
    })
  })

  it('that tell of old blocks are allocations', () => {
    const { bytes, losses } = encode([event('existing', { address: 0x1000n, size: 100n, usable: 128n })])
    expect(bytes).toEqual(pack(LITTLE, { ...plainAlloc(1), bytesAlloc: 128n }))
    expect(losses).toEqual({ 'existing blocks, written as allocs': 1 })
  })

  it('keep the reallocs as frees and allocations', () => {
    const realloc = (fields: EventFields) => event('realloc', { size: 100n, ...fields })
    const { bytes, losses } = encode([
      realloc({ oldAddress: 0x1000n, address: 0x2000n, usable: 112n, sequence: 9 }),
      realloc({ oldAddress: 0x1000n, address: 0x1000n }),
      realloc({ address: 0x1000n, outcome: 'none' }),
      realloc({ oldAddress: 0x1000n, outcome: 'none' }),
      realloc({ oldAddress: 0n, address: 0x3000n }),
      realloc({ oldAddress: 0x1000n, address: 0x3000n, outcome: 'allocated' }),
      realloc({ address: 0x3000n }),
      realloc({ oldAddress: 0x3000n, address: 0n, size: 0n }),
      realloc({ oldAddress: 0x3000n, outcome: 'freed' }),
      realloc({ oldAddress: 0x3000n, address: 0n }),
      realloc({ oldAddress: 0n, address: 0n }),
      realloc({ oldAddress: 0x1000n }),
    ])
    expect(bytes).toEqual(
      pack(
        LITTLE,
        plainFree(1),
        { ...plainAlloc(2, 0x2000n), bytesAlloc: 112n },
        plainFree(3),
        plainAlloc(4),
        plainFree(5),
        plainAlloc(6),
        plainFree(7),
        plainAlloc(8),
        plainAlloc(9, 0x3000n),
        plainAlloc(10, 0x3000n),
        plainAlloc(11, 0x3000n),
        plainFree(12, 0x3000n),
        plainFree(13, 0x3000n),
      ),
    )
    expect(losses).toEqual({
      'sequence of realloc': 1,
      'reallocs, written as free and alloc': 4,
      'reallocs of null, written as allocs': 2,
      'reallocs of unknown blocks, written as allocs': 1,
      'reallocs to nothing, written as frees': 2,
      'failed reallocs': 1,
      'reallocs of null to null': 1,
      'reallocs without an address': 1,
    })
  })

  it('have attributes only if these are features, and no codes', () => {
    const features = feature(LITTLE, 1, 'ab')
    const events = [
      alloc({ attributes: features }),
      free({ attributes: Uint8Array.of(1, 2) }),
      free({ code: 0x301 }),
      event('other', { code: 2 }),
    ]
    const { bytes, losses } = encode(events, { format: 'hatf' })
    expect(bytes).toEqual(pack(LITTLE, { ...plainAlloc(1), tail: features }, plainFree(2), plainFree(3)))
    expect(losses).toEqual({
      'attributes that are not features of kmemtrace': 1,
      'codes that are not those of kmemtrace': 1,
      'other events without a code of kmemtrace': 1,
    })
  })

  it.each([0, 1])('come in one stream: the beginning of another trace is counted, after %i empty batches', (empty) => {
    const encoder = new KmemtraceEncoder()
    const header: TraceHeader = { format: 'kmemtrace', layout: { byteOrder: 'big' } }
    const bytes = encodeAll(encoder, [
      ...batchesOf([alloc()], REPLAY),
      ...Array.from({ length: empty }, () => new EventBatch(0, 0, header)),
      ...batchesOf([free()], header),
    ])
    expect(bytes).toEqual(pack(LITTLE, plainAlloc(1), plainFree(2)))
    expect(lossesBut(LACKING, encoder.losses.counts)).toEqual({ 'beginning of another trace': 1 })
  })
})

describe('codes', () => {
  it('that stand for an api come back as that, which is counted', () => {
    const { losses } = encode([free({ code: (1 << 8) | 1 }), free({ code: (3 << 8) | 1 })], OWN)
    expect(losses).toEqual({ 'codes that stand for an api': 1 })
  })

  it('that contradict the event, or are beside an api, are counted', () => {
    const events = [
      alloc({ code: 0x301 }),
      free({ code: 0x1_0301 }),
      alloc({ code: 0x500, api: 'pages' }),
      event('other', { code: 0x301 }),
      event('other'),
    ]
    const { bytes, losses } = encode(events, OWN)
    expect(bytes).toEqual(pack(LITTLE, plainAlloc(1), plainFree(2), { ...plainAlloc(3), type: 5 }))
    expect(losses).toEqual({
      'codes that are not those of kmemtrace': 2,
      'api of events with a code': 1,
      'other events without a code of kmemtrace': 2,
    })
  })
})

describe('attributes', () => {
  it('may fill a record up to its greatest size, and no further', () => {
    const fits = new Uint8Array(65_535 - 48).fill(1)
    const { bytes, losses } = encode(
      [alloc({ attributes: fits }), alloc({ attributes: new Uint8Array(65_536 - 48) })],
      OWN,
    )
    expect(Buffer.compare(bytes, pack(LITTLE, { ...plainAlloc(1), tail: fits }, plainAlloc(2)))).toBe(0)
    expect(losses).toEqual({ 'attributes that make a record longer than 65535 bytes': 1 })
  })
})

describe('layouts', () => {
  it('are those of the header, unless others are asked for', () => {
    const header: TraceHeader = {
      format: 'kmemtrace',
      timeUnit: 'ns',
      layout: { byteOrder: 'big', layout: 'ftrace', wordSize: 4 },
    }
    const fields = { ...plainAlloc(1), cpu: 2, time: 7n }
    const events = [alloc({ cpu: 2, time: 7n })]
    expect(encode(events, header)).toEqual({ bytes: pack({ little: false, word: 4 }, fields), losses: {} })
    expect(encode(events, header, { wordSize: 8 })).toEqual({
      bytes: pack({ little: false, word: 8 }, fields),
      losses: {},
    })
    expect(encode(events, header, { byteOrder: 'little' })).toEqual({
      bytes: pack({ little: true, word: 4 }, fields),
      losses: {},
    })
    expect(encode(events, header, { layout: 'relay' })).toEqual({
      bytes: pack(BIG, fields),
      losses: { cpu: 1, time: 1 },
    })
    expect(encode(events, { ...OWN, timeUnit: 'ns' }, { layout: 'ftrace' })).toEqual({
      bytes: pack({ little: true, word: 8 }, fields),
      losses: {},
    })
  })

  it('that do not exist are an error', () => {
    const header: TraceHeader = { format: 'kmemtrace', layout: { byteOrder: 'middle' } }
    expect(() => encode([], header)).toThrow(expect.objectContaining({ code: 'ERR_TRACE_UNENCODABLE', event: 1 }))
  })

  it('with times have them in nanoseconds, and no sequence numbers', () => {
    const events = [free({ time: 5_000_000_000_000n, sequence: 3 }), free({ time: 2n ** 64n - 1n }), free()]
    const { bytes, losses } = encode(events, { format: 'heapmon', timeUnit: 'us' }, { layout: 'ftrace' })
    const times = [5_000_000_000_000_000n, 2n ** 64n - 1n, 0n]
    expect(bytes).toEqual(pack({ little: true, word: 8 }, ...times.map((time) => ({ ...plainFree(0), time }))))
    expect(losses).toEqual({ sequence: 1, 'time of more than 2^64 ns, written as 2^64 - 1': 1 })
  })

  it('of 32 bits cannot represent more', () => {
    const wide = 2n ** 32n
    const events = [
      alloc({ address: wide }),
      alloc({ size: wide }),
      alloc({ usable: wide }),
      free({ callSite: wide }),
      free({ size: wide }),
      free(),
    ]
    const { bytes, losses } = encode(events, REPLAY, { layout: 'ftrace', wordSize: 4 })
    expect(bytes).toEqual(pack({ little: true, word: 4 }, plainFree(0), plainFree(0)))
    expect(losses).toEqual({ 'size of free': 1, 'events with values of more than 32 bits': 4 })
  })
})

describe('a stream of one CPU', () => {
  it('carries the cpu by its name', () => {
    const events = [alloc({ cpu: 2 }), free({ cpu: 3 }), free(), event('lost', { count: 1n, cpu: 2 })]
    const { bytes, losses } = encode(events, REPLAY, { cpu: 2 })
    expect(bytes).toEqual(join(pack(LITTLE, plainAlloc(1), plainFree(2), plainFree(3)), new Uint8Array(24)))
    expect(losses).toEqual({ 'cpu other than 2': 1 })
  })

  it('in the layout that has one gives it to events without', () => {
    const { bytes } = encode([free(), free({ cpu: 1 })], REPLAY, { cpu: 5, layout: 'ftrace' })
    expect(bytes).toEqual(pack({ little: true, word: 8 }, { ...plainFree(0), cpu: 5 }, { ...plainFree(0), cpu: 1 }))
  })
})

describe('lost events', () => {
  it('are as many all-zero records as they count', () => {
    expect(encode([event('lost', { count: 3n }), free()])).toEqual({
      bytes: join(new Uint8Array(72), pack(LITTLE, plainFree(1))),
      losses: {},
    })
    expect(encode([event('lost', { count: 2n })], REPLAY, { layout: 'ftrace' }).bytes).toEqual(new Uint8Array(64))
  })

  it('are left out without a count: bytes that were lost have no place', () => {
    const { bytes, losses } = encode([
      event('lost', { size: 4096n }),
      event('lost', { count: 0n }),
      event('lost', { count: 2n ** 32n }),
    ])
    expect(bytes).toHaveLength(0)
    expect(losses).toEqual({
      'size of lost': 1,
      'lost events without a count': 2,
      'lost events with a count above 4194304': 1,
    })
  })

  it('are written piece by piece', () => {
    const encoder = new KmemtraceEncoder()
    encoder.feed(batchesOf([event('lost', { count: 1_000_000n }), free()], REPLAY)[0]!)
    let length = 0
    for (let piece = encoder.next(); piece !== null; piece = encoder.next()) {
      expect(piece.length).toBeLessThan(200_000)
      length += piece.length
    }
    expect(length).toBe(24_000_000 + 24)
  })
})

describe('strict', () => {
  const free = (fields: Partial<TraceEvent> = {}) =>
    event('free', { api: 'kfree', address: 0x1000n, callSite: 0n, ...fields })
  const missing = alloc({ api: 'kmalloc', callSite: 1n, gfpFlags: 0, node: 0 })

  it.each([
    ['a field', free({ thread: 1n }), /cannot represent thread of free/],
    ['a kind', event('comment', { text: '' }), /cannot represent comment events/],
    ['an api', free({ api: 'free' }), /api free/],
    ['a realloc', event('realloc', { address: 2n, oldAddress: 1n, size: 1n }), /reallocs/],
    ['attributes', free({ attributes: Uint8Array.of(1) }), /not features/],
    ['a function that is missing', event('free', { address: 1n, callSite: 1n }), /no api, written as kfree/],
    ['a size that is missing', missing, /no usable, written as the size/],
    ['no attributes', free({ attributes: Uint8Array.of() }), /empty attributes/],
    ['lost bytes', event('lost', { size: 1n }), /cannot represent size of lost/],
  ])('%s without a place is an error behind what was before it', (_, bad, message) => {
    const encoder = new KmemtraceEncoder({ strict: true })
    const { out, error } = drive(encoder, batchesOf([free(), free(), bad, free()], REPLAY))
    expect(new Uint8Array(Buffer.concat(out))).toEqual(pack(LITTLE, plainFree(1), plainFree(2)))
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', format: 'kmemtrace', event: 3 })
    expect(error?.message).toMatch(message)
  })
})
